import { useLayoutEffect, useRef } from 'preact/hooks';
import type { CompletionItem } from '../../protocol/chat/page-messages.ts';
import { Icon, IconButton } from '../shared/icon.tsx';
import { t } from '../shared/words.ts';
import { attachFile } from './attach-media.ts';
import { Chips, ContextChips } from './chips.tsx';
import { isComposing, isSubmit } from './composing.ts';
import { Gauge } from './gauge.tsx';
import { usePanel } from './panel.ts';
import { useCompletion } from './use-completion.ts';

export function Composer() {
  const { link, state } = usePanel();
  const input = useRef<HTMLTextAreaElement>(null);
  const ready = state.ready.value;
  const write = (text: string) => {
    state.draft.value = text;
    if (ready) link.post({ type: 'draft', text });
    else Object.assign(state.early, { text, send: false });
  };
  const menu = useCompletion(input, write);
  const recall = useRecall(input, write);
  const draft = state.draft.value;
  const attachments = state.attachments.value;
  const nothing = draft.trim() === '' && attachments.length === 0;

  useLayoutEffect(() => {
    const area = input.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }, [draft]);
  // Not after the next frame, here and below: keys that follow at once belong to the input.
  useLayoutEffect(() => {
    if (state.focusWanted.value > 0) input.current?.focus();
  }, [state.focusWanted.value]);
  useFocusOfPage(input);

  const send = () => {
    const text = input.current?.value ?? draft;
    if (text.trim() === '' && attachments.length === 0) return;
    // Enter was faster than the list: the host looks the mention up.
    const mention = menu.pending;
    link.post({
      type: 'send',
      text: text.trimEnd(),
      ...(mention ? { mention: { from: mention.from, text: mention.text } } : {}),
      ...(state.planning.value ? { plan: true as const } : {}),
    });
    menu.close();
    if (input.current) input.current.value = '';
    state.draft.value = '';
    state.attachments.value = [];
    input.current?.focus();
  };
  // Text that was typed before the conversation arrived. A message that would also contain a stored draft is not sent.
  useLayoutEffect(() => {
    const { text, send: sends } = state.early;
    if (!ready || text === '') return;
    link.post({ type: 'draft', text: draft });
    if (sends && draft === text) send();
  }, [ready]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event) || menu.onKeyDown(event) || recall(event)) return;
    if (event.key === 'Escape' && state.running.value) {
      event.preventDefault();
      link.post({ type: 'stop' });
      return;
    }
    if (!isSubmit(event)) return;
    event.preventDefault();
    if (ready) send();
    else state.early.send = true;
  };

  return (
    <div class={ready ? 'composer' : 'composer loading'}>
      {menu.items.length > 0 ? <Completions {...menu} choose={menu.choose} /> : null}
      <ContextChips />
      {attachments.length > 0 ? (
        <Chips attachments={attachments} remove={(attachment) => link.post({ type: 'detach', attachment })} />
      ) : null}
      <textarea
        ref={input}
        rows={1}
        dir="auto"
        value={draft}
        placeholder={t('Ask about your code')}
        aria-label={t('Message')}
        aria-controls={menu.items.length > 0 ? 'completions' : undefined}
        aria-autocomplete="list"
        aria-activedescendant={menu.items.length > 0 ? `completion-${menu.active}` : undefined}
        onInput={(event) => {
          write(event.currentTarget.value);
          menu.look();
        }}
        onClick={menu.look}
        onBlur={menu.close}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          // Spreadsheets copy an image of the cells in addition to their text: paste the text.
          if (files.length === 0 || event.clipboardData?.getData('text/plain')) return;
          event.preventDefault();
          for (const file of files) void attachFile(file, link);
        }}
      />
      <div class="bar">
        <IconButton
          icon="add"
          name={t('Attach')}
          title={t('Attach context (@)')}
          onClick={() => link.post({ type: 'attach' })}
        />
        {state.model.value?.tools ? (
          <IconButton icon="tools" name={t('Choose tools')} onClick={() => link.post({ type: 'choose-tools' })} />
        ) : null}
        {state.model.value?.tools ? <PlanButton /> : null}
        <ModelButton />
        <span class="space" />
        <Gauge />
        {state.running.value ? (
          <IconButton
            icon="debug-stop"
            name={t('Stop')}
            title={t('Stop (Escape)')}
            onClick={() => link.post({ type: 'stop' })}
          />
        ) : null}
        {state.running.value && !nothing ? (
          <IconButton
            icon="send"
            name={t('Add to queue')}
            title={t('Send at the next step of the answer (Enter)')}
            onClick={send}
          />
        ) : null}
        {state.running.value ? null : (
          <IconButton icon="send" name={t('Send')} title={t('Send (Enter)')} disabled={nothing} onClick={send} />
        )}
      </div>
    </div>
  );
}

/**
 * VS Code focuses the page and no element of it. The input then gets the focus, unless text is selected.
 *
 * The host is told when a key moves the focus elsewhere, unless it opens the palette: its command may be about the chat.
 * A page does not know what got the focus, and a click in an editor is seen by the host.
 */
function useFocusOfPage(input: { readonly current: HTMLTextAreaElement | null }): void {
  const { link, state } = usePanel();
  // When the page is shown again, the input gets the focus.
  useLayoutEffect(() => {
    if (state.hidden.value === 0) return;
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    getSelection()?.removeAllRanges();
    // It is shown again already.
    if (document.hasFocus()) input.current?.focus({ preventScroll: true });
  }, [state.hidden.value]);
  useLayoutEffect(() => {
    const focus = () => {
      link.post({ type: 'focused' });
      if (document.activeElement !== document.body || getSelection()?.isCollapsed === false) return;
      input.current?.focus({ preventScroll: true });
    };
    let pressed: KeyboardEvent | undefined;
    const press = (event: KeyboardEvent) => {
      pressed = event;
    };
    const blur = ({ timeStamp }: FocusEvent) => {
      if (!pressed || timeStamp - pressed.timeStamp > MOVES_WITHIN_MS || !mayMoveFocus(pressed)) return;
      link.post({ type: 'left' });
    };
    if (document.hasFocus()) focus();
    const removed = new AbortController();
    const { signal } = removed;
    window.addEventListener('focus', focus, { signal });
    window.addEventListener('blur', blur, { signal });
    window.addEventListener('keydown', press, { capture: true, signal });
    return () => removed.abort();
  }, []);
}

/** VS Code gets a key from the page and moves the focus: usually at once, on a busy machine later. */
const MOVES_WITHIN_MS = 5000;

/** Not the keys that edit text, after which a click may move the focus, nor those of the palette in VS Code. */
function mayMoveFocus({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  const main = ctrlKey || metaKey;
  if (key === 'F1' || (main && shiftKey && key.toLowerCase() === 'p')) return false;
  if (main && !altKey && 'acvxyz'.includes(key.toLowerCase())) return false;
  return main || altKey || key === 'Escape' || /^F\d+$/.test(key);
}

/** Up in an empty input shows the messages that were sent, the last one first; Down goes back. */
function useRecall(
  input: { readonly current: HTMLTextAreaElement | null },
  write: (text: string) => void,
): (event: KeyboardEvent) => boolean {
  const { state } = usePanel();
  /** Number of messages back from the end; 0: none is recalled. */
  const back = useRef(0);
  return (event) => {
    const area = input.current;
    if (!area || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
    const texts = state.sentTexts;
    const recalled = back.current === 0 ? '' : texts.at(-back.current);
    if (area.value !== recalled) back.current = 0;
    if (event.key === 'ArrowUp' && (area.value === '' || back.current > 0) && back.current < texts.length) {
      back.current += 1;
    } else if (event.key === 'ArrowDown' && back.current > 0) back.current -= 1;
    else return false;
    event.preventDefault();
    const text = back.current === 0 ? '' : (texts.at(-back.current) ?? '');
    area.value = text;
    write(text);
    return true;
  };
}

/** Switches to plan mode: the model reads only, and answers with a plan. */
function PlanButton() {
  const { state } = usePanel();
  const on = state.planning.value;
  return (
    <button
      type="button"
      class={on ? 'quiet plan on' : 'quiet plan'}
      aria-pressed={on}
      title={
        on ? t('Plan mode is on: nothing is changed, the answer is a plan') : t('Plan mode: read only, then a plan')
      }
      onClick={() => {
        state.planning.value = !on;
      }}
    >
      <Icon name="list-ordered" />
      {on ? <span>{t('Plan')}</span> : <span class="unseen">{t('Plan')}</span>}
    </button>
  );
}

/** Characters of a name that the narrowest panel has room for beside the other buttons. */
const SHORT = 8;

function ModelButton() {
  const { link, state } = usePanel();
  const model = state.model.value;
  const label = model ? `${model.name}${model.variant ? ` · ${model.variant}` : ''}` : t('Choose a model');
  return (
    <button
      type="button"
      class={model && label.length > SHORT ? 'quiet model long' : 'quiet model'}
      title={model ? t('{0} – choose another model', model.ref) : t('Choose a model')}
      onClick={() => link.post({ type: 'pick-model' })}
    >
      <span class="name">{label}</span>
      {model?.simulated ? <span class="badge">{t('simulated')}</span> : null}
      <Icon name="chevron-down" />
    </button>
  );
}

function Completions(props: {
  items: readonly CompletionItem[];
  active: number;
  choose: (item: CompletionItem) => void;
}) {
  const { items, active, choose } = props;
  return (
    <div id="completions" class="completions" role="listbox" aria-label={t('Completions')}>
      {items.map((item, index) => (
        <div
          key={item.id}
          id={`completion-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          class={index === active ? 'active' : ''}
          // Keep the focus in the input, because its blur event closes the list before the click.
          onMouseDown={(event) => {
            event.preventDefault();
            choose(item);
          }}
        >
          <Icon name={item.icon} />
          <span class="name">{item.label}</span>
          <span class="figures">{item.detail}</span>
        </div>
      ))}
    </div>
  );
}
