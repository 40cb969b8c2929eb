import { useState } from 'preact/hooks';
import type { Caution } from '../../../chat/tools/caution.ts';
import { foldText, showUnseen } from '../../../chat/tools/visible-text.ts';
import type { Part, ToolState } from '../../../chat/transcript.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { isSubmit } from '../composing.ts';
import { usePanel } from '../panel.ts';

type ToolPart = Extract<Part, { type: 'tool' }>;

/** A tool call: the tool, its origin, its full arguments, and whether it can change anything. */
export function ToolCard({ part }: { part: ToolPart }) {
  const waiting = part.state.type === 'waiting';
  const [open, setOpen] = useState(false);
  return (
    <section class={waiting ? 'tool asking' : 'tool'} aria-label={t('Tool {0}', part.name)}>
      <details open={open || waiting} onToggle={(event) => !waiting && setOpen(event.currentTarget.open)}>
        <summary>
          <StateIcon state={part.state} />
          <code class="name">{showUnseen(part.name)}</code>
          <span class="gist">{waiting || open ? '' : firstArgument(part.text)}</span>
          <span class="figures">{stateText(part.state)}</span>
        </summary>
        <dl>
          <dt>{t('From')}</dt>
          <dd>{part.origin === '' ? t('unknown') : showUnseen(part.origin)}</dd>
          <dt>{t('Effect')}</dt>
          <dd class={part.changes ? 'changes' : ''}>{part.changes ? t('Can make changes') : t('Only reads')}</dd>
          <dt>{t('Arguments')}</dt>
          <dd>
            <Arguments text={part.text} />
          </dd>
          <Output state={part.state} />
        </dl>
      </details>
      {waiting ? <Approval part={part} /> : null}
    </section>
  );
}

/** Number of rows of an argument that are visible at first, and number of characters per row. */
const ROWS = 40;
const WIDTH = 100;

/** Shows each argument with its name. Line breaks are kept, so that a command is readable. */
function Arguments({ text }: { text: string }) {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return <Folded text={text} />;
  return (
    <>
      {Object.entries(value).map(([name, argument]) => (
        <div class="argument" key={name}>
          <code>{showUnseen(name)}</code>
          <Folded text={typeof argument === 'string' ? argument : JSON.stringify(argument, null, 2)} />
        </div>
      ))}
    </>
  );
}

/** Shows the beginning and the end of a text, and the number of omitted lines between them. */
function Folded({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const shown = showUnseen(text);
  const { head, rest } = whole ? { head: shown } : foldText(shown, ROWS, WIDTH);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: must be scrollable with the keyboard */}
      <pre tabIndex={0}>{head}</pre>
      {rest ? (
        <>
          <button type="button" onClick={() => setWhole(true)}>
            {t('… {0} more lines ({1} characters): show all', rest.lines, rest.characters)}
          </button>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: must be scrollable with the keyboard */}
          <pre tabIndex={0}>{rest.tail}</pre>
        </>
      ) : null}
    </>
  );
}

function cautionText({ kind, path }: Caution): string {
  const name = showUnseen(path);
  switch (kind) {
    case 'secret':
      return t('Needs confirmation each time: {0} may contain secrets.', name);
    case 'git':
      return t('Needs confirmation each time: {0} is read by Git or its hooks and can make them run programs.', name);
    case 'editor':
      return t('Needs confirmation each time: {0} controls an editor and can make it run programs.', name);
    case 'workflow':
      return t('Needs confirmation each time: {0} controls what a build server runs.', name);
    case 'settings':
      return t('Needs confirmation each time: {0} controls which providers and keys Svc uses.', name);
    case 'shell':
      return t('Needs confirmation each time: {0} is read by shells and can make them run programs.', name);
    case 'package':
      return t('Needs confirmation each time: {0} can make a package manager run programs.', name);
  }
}

function Output({ state }: { state: ToolState }) {
  if (state.type === 'denied' && state.reason !== '') {
    return (
      <>
        <dt>{t('Reason')}</dt>
        <dd>{state.reason}</dd>
      </>
    );
  }
  if (state.type !== 'done' || state.output === '') return null;
  return (
    <>
      <dt>{state.failed ? t('Failure') : t('Result')}</dt>
      <dd>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: must be scrollable with the keyboard */}
        <pre tabIndex={0}>{showUnseen(state.output.replaceAll('\r\n', '\n'))}</pre>
      </dd>
    </>
  );
}

function Approval({ part }: { part: ToolPart }) {
  const { link } = usePanel();
  const [reason, setReason] = useState('');
  const allow = (type: 'once' | 'session' | 'always') =>
    link.post({ type: 'decide', call: part.id, decision: { type } });
  const deny = () => link.post({ type: 'decide', call: part.id, decision: { type: 'deny', reason } });
  const caution = part.state.type === 'waiting' ? part.state.caution : undefined;
  return (
    <fieldset class="approval" aria-label={t('Allow {0}?', part.name)}>
      {caution ? <p class="caution">{cautionText(caution)}</p> : null}
      <div class="actions">
        <button type="button" class="primary" onClick={() => allow('once')}>
          {t('Allow once')}
        </button>
        {caution ? null : (
          <>
            <button type="button" onClick={() => allow('session')}>
              {t('Allow in this conversation')}
            </button>
            <button type="button" onClick={() => allow('always')}>
              {t('Always allow')}
            </button>
          </>
        )}
        {part.action?.type === 'changes' ? (
          <button type="button" onClick={() => link.post({ type: 'preview', call: part.id })}>
            {t('Show the change')}
          </button>
        ) : null}
      </div>
      <div class="actions deny">
        <input
          type="text"
          value={reason}
          placeholder={t('Reason (sent to the model)')}
          aria-label={t('Reason for denying')}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => isSubmit(event) && deny()}
        />
        <button type="button" onClick={deny}>
          {t('Deny')}
        </button>
      </div>
    </fieldset>
  );
}

const STATE_ICONS: Readonly<Record<ToolState['type'], string>> = {
  receiving: 'loading',
  waiting: 'question',
  allowed: 'clock',
  running: 'loading',
  done: 'check',
  denied: 'circle-slash',
  stopped: 'debug-stop',
};

function StateIcon({ state }: { state: ToolState }) {
  const failed = state.type === 'done' && state.failed;
  const moving = state.type === 'receiving' || state.type === 'running';
  return <Icon name={failed ? 'warning' : STATE_ICONS[state.type]} spin={moving} />;
}

function stateText(state: ToolState): string {
  switch (state.type) {
    case 'receiving':
      return t('being written');
    case 'waiting':
      return t('waiting for your decision');
    case 'allowed':
      return t('allowed');
    case 'running':
      return t('running');
    case 'done':
      return state.failed ? t('failed') : '';
    case 'denied':
      return t('not allowed');
    case 'stopped':
      return t('stopped');
  }
}

/** The first value of the arguments, to distinguish calls. */
function firstArgument(text: string): string {
  const value = parsed(text);
  const first = typeof value === 'object' && value !== null ? Object.values(value)[0] : undefined;
  return typeof first === 'string' ? showUnseen(first.split('\n', 1)[0] ?? '') : '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
