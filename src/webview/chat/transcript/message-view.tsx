import { flushSync, memo } from 'preact/compat';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import type { Message, Part } from '../../../chat/transcript.ts';
import { messageText } from '../../../chat/transcript.ts';
import { Icon, IconButton } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { Chips } from '../chips.tsx';
import { isSubmit } from '../composing.ts';
import type { ConversationState, ShownBranch } from '../conversation-state.ts';
import { priceText, tokensText } from '../figures.ts';
import { Markdown } from '../markdown/markdown.tsx';
import { showControls } from '../markdown/safe-html.ts';
import { usePanel } from '../panel.ts';
import { ToolCard } from '../tools/tool-card.tsx';
import { groupParts, ToolGroup } from '../tools/tool-groups.tsx';
import { TurnBar } from '../tools/turn-bar.tsx';
import type { TypedPlace } from '../typed-texts.ts';
import { EndingView, RetryView } from './ending-view.tsx';
import { Reasoning } from './reasoning.tsx';

interface Props {
  readonly shown: ShownBranch;
  readonly last: boolean;
  /** True if the message is far from the end, which is visible when a conversation opens. */
  readonly far: boolean;
}

/** A message. It is rendered again only when it changes itself. */
export const MessageView = memo(function MessageView({ shown, last, far }: Props) {
  const { state } = usePanel();
  const message = state.message(shown.id)?.value;
  // Only the initial value counts: new messages do not make earlier ones far.
  const [drawn, setDrawn] = useState(!far);
  if (!message) return null;
  // Summaries are folded and automatic messages are short, so both are rendered at once.
  const plain = message.role !== 'summary' && !message.auto;
  // Render synchronously, so that `DrawLater` can measure the time.
  if (!drawn && plain) return <Undrawn message={message} draw={() => flushSync(() => setDrawn(true))} />;
  switch (message.role) {
    case 'user':
      return <UserMessage message={message} shown={shown} />;
    case 'assistant':
      return <Answer message={message} shown={shown} last={last} />;
    case 'summary':
      return <Summary message={message} last={last} />;
  }
}, isSame);

function isSame(before: Props, next: Props): boolean {
  const versions = ({ shown }: Props) => shown.versions.join(' ');
  return (
    before.shown.id === next.shown.id &&
    before.shown.version === next.shown.version &&
    versions(before) === versions(next) &&
    before.last === next.last
  );
}

/** Placeholder for a message far from the viewport: only its text, for find and screen readers, until idle time. */
function Undrawn({ message, draw }: { message: Message; draw: () => void }) {
  const { drawing } = usePanel();
  const place = useRef<HTMLElement>(null);
  useLayoutEffect(() => (place.current ? drawing.add(place.current, draw) : undefined), []);
  return (
    <article class={`message ${message.role} undrawn`} ref={place}>
      {showControls(messageText(message))}
    </article>
  );
}

function UserMessage({ message, shown }: { message: Message; shown: ShownBranch }) {
  const { link, state, typed } = usePanel();
  const text = messageText(message);
  const [editing, setEditing] = useState(() => typed.get(editOf(message.id, text)) !== undefined);
  if (message.auto) return <p class="note auto">{t('Continued')}</p>;
  return (
    <article class="message user" aria-label={t('You')}>
      {editing ? (
        <EditBox message={message} text={text} close={() => setEditing(false)} />
      ) : (
        <div class="bubble">
          {message.attachments ? <Chips attachments={message.attachments} /> : null}
          {text === '' ? null : (
            <p class="plain" dir="auto">
              {text}
            </p>
          )}
        </div>
      )}
      {editing ? null : (
        <div class="under">
          <Versions shown={shown} />
          <IconButton
            icon="edit"
            name={t('Edit message')}
            disabled={state.running.value}
            onClick={() => setEditing(true)}
          />
          {changedSince(state, message.id) ? (
            <IconButton
              icon="discard"
              name={t('Restore files to before this message')}
              disabled={state.running.value}
              onClick={() => link.post({ type: 'restore', message: message.id })}
            />
          ) : null}
        </div>
      )}
    </article>
  );
}

/** Whether an answer after the message made changes that are not undone. */
function changedSince({ path, turns }: ConversationState, message: string): boolean {
  const at = path.value.findIndex(({ id }) => id === message);
  const later = new Set(path.value.slice(at + 1).map(({ id }) => id));
  return turns.value.some((turn) => turn.state !== 'undone' && later.has(turn.message));
}

const editOf = (id: string, text: string): TypedPlace => ({ kind: 'edit', id, of: text });

/** Typed text remains while the page is hidden, and while an answer is running, which can’t be combined with an edit. */
function EditBox({ message, text, close }: { message: Message; text: string; close: () => void }) {
  const { link, state, typed } = usePanel();
  const box = useRef<HTMLTextAreaElement>(null);
  const running = state.running.value;
  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    const kept = typed.get(editOf(message.id, text));
    area.value = kept ?? text;
    area.style.height = `${Math.min(area.scrollHeight + 2, 320)}px`;
    // The user opened the box just now, not before the page was hidden.
    if (kept === undefined) area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }, [text]);
  const end = () => {
    typed.forget(message.id);
    close();
  };
  const send = () => {
    const edited = box.current?.value.trim() ?? '';
    if (running || (edited === '' && !message.attachments)) return;
    link.post({ type: 'edit', message: message.id, text: edited });
    end();
  };
  return (
    <div class="edit-box">
      <textarea
        ref={box}
        aria-label={t('Edit message')}
        onInput={(event) => typed.set(editOf(message.id, text), event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') end();
          if (!isSubmit(event)) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="actions">
        <button type="button" class="primary" disabled={running} onClick={send}>
          {t('Send')}
        </button>
        <button type="button" onClick={end}>
          {t('Cancel')}
        </button>
        <span class="hint">
          {running ? t('Send it when the answer has ended.') : t('The old version is kept as a branch.')}
        </span>
      </div>
    </div>
  );
}

/** True for a complete answer in plan mode. */
function isPlan({ parent, ending }: Message, state: ConversationState): boolean {
  const asked = parent === undefined ? undefined : state.message(parent)?.value;
  return asked?.options?.plan === true && ending?.type === 'finished' && ending.outcome === 'complete';
}

function PlanActions() {
  const { link, state } = usePanel();
  const start = () => {
    state.planning.value = false;
    link.post({ type: 'carry-out-plan' });
  };
  return (
    <div class="actions plan-actions">
      <button type="button" class="primary" disabled={state.running.value} onClick={start}>
        {t('Start the work')}
      </button>
      <span class="hint">{t('Or write what to change in the plan.')}</span>
    </div>
  );
}

function Answer({ message, shown, last }: Omit<Props, 'far'> & { message: Message }) {
  const { state } = usePanel();
  const streaming = message.ending === undefined;
  const name = message.model?.name ?? 'Svc';
  const visible = message.parts.some((part) => part.type !== 'step');
  return (
    <article class="message assistant" aria-label={t('Answer of {0}', name)} aria-busy={streaming}>
      {message.omitted ? <Omitted labels={message.omitted} /> : null}
      {groupParts(message.parts).map((shown) =>
        'calls' in shown ? (
          <ToolGroup key={shown.index} calls={shown.calls} />
        ) : (
          <PartView key={shown.index} part={shown.part} whole={!streaming || shown.index < message.parts.length - 1} />
        ),
      )}
      {streaming && message.retry ? <RetryView retry={message.retry} /> : null}
      {streaming && !message.retry && !busy(message) ? <Waiting visible={visible} /> : null}
      {message.ending ? <EndingView message={message} ending={message.ending} last={last} /> : null}
      <TurnBar message={message.id} />
      {last && isPlan(message, state) ? <PlanActions /> : null}
      {streaming ? null : <AnswerFoot message={message} shown={shown} />}
    </article>
  );
}

function Omitted({ labels }: { labels: readonly string[] }) {
  const names = labels.map(showUnseen).join(', ');
  return <p class="note">{t('Left out, because the model does not accept it: {0}', names)}</p>;
}

/** True if a part already shows that the answer continues. */
function busy({ parts }: Message): boolean {
  const part = parts.at(-1);
  return part !== undefined && part.type !== 'step' && !(part.type === 'tool' && part.state.type === 'done');
}

function AnswerFoot({ message, shown }: { message: Message; shown: ShownBranch }) {
  const { link, state } = usePanel();
  const text = messageText(message);
  return (
    <footer class="under">
      <Versions shown={shown} />
      {text === '' ? null : (
        <IconButton icon="copy" name={t('Copy answer')} onClick={() => link.post({ type: 'copy', text })} />
      )}
      <IconButton
        icon="refresh"
        name={t('Regenerate')}
        disabled={state.running.value}
        onClick={() => link.post({ type: 'regenerate', message: message.id })}
      />
      <Figures message={message} />
    </footer>
  );
}

function Figures({ message: { model, usage, price } }: { message: Message }) {
  const figures = [
    model?.name,
    model?.variant,
    usage ? t('{0} in, {1} out', tokensText(usage.input), tokensText(usage.output)) : undefined,
    price === undefined ? undefined : priceText(price),
  ].filter((text) => text !== undefined);
  const cached = usage?.cacheRead ? t('{0} tokens of the input came from the cache.', tokensText(usage.cacheRead)) : '';
  return (
    <span class="figures" title={cached}>
      {figures.join(' · ')}
      {model?.simulated ? <span class="badge">{t('simulated')}</span> : null}
    </span>
  );
}

function Versions({ shown: { version, versions } }: { shown: ShownBranch }) {
  const { link, state } = usePanel();
  if (versions.length < 2) return null;
  const go = (index: number) => {
    const id = versions[index];
    if (id !== undefined) link.post({ type: 'select', message: id });
  };
  const busy = state.running.value;
  return (
    <span class="versions">
      <IconButton
        icon="chevron-left"
        name={t('Previous version')}
        disabled={busy || version === 0}
        onClick={() => go(version - 1)}
      />
      <span>{t('{0}/{1}', version + 1, versions.length)}</span>
      <IconButton
        icon="chevron-right"
        name={t('Next version')}
        disabled={busy || version === versions.length - 1}
        onClick={() => go(version + 1)}
      />
    </span>
  );
}

function Summary({ message, last }: { message: Message; last: boolean }) {
  const text = messageText(message);
  const streaming = message.ending === undefined;
  return (
    <article class="message summary" aria-label={t('Summary')} aria-busy={streaming}>
      <details class="fold">
        <summary>
          <Icon name={streaming ? 'loading' : 'fold'} spin={streaming} />
          <span>{streaming ? t('Summarizing the conversation…') : t('Earlier messages were summarized')}</span>
        </summary>
        <div class="fold-body">
          <Markdown text={text} whole={!streaming} />
        </div>
      </details>
      {message.ending && !(message.ending.type === 'finished' && message.ending.outcome === 'complete') ? (
        <EndingView message={message} ending={message.ending} last={last} />
      ) : null}
    </article>
  );
}

function PartView({ part, whole }: { part: Part; whole: boolean }) {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return <Markdown text={part.text} whole={whole} />;
    case 'reasoning':
      return <Reasoning part={part} whole={whole} />;
    case 'tool':
      return <ToolCard part={part} />;
    case 'step':
      return null;
  }
}

function Waiting({ visible }: { visible: boolean }) {
  const [slow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), 8000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="waiting">
      <Icon name="loading" spin />
      <span>
        {slow ? t('Still waiting for the provider…') : visible ? t('Continuing…') : t('Waiting for the answer…')}
      </span>
    </p>
  );
}
