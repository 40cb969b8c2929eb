import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CompletionItem } from '../../chat/page/page-messages.ts';
import { Icon, IconButton } from '../shared/icon.tsx';
import { t } from '../shared/words.ts';
import { attachFile } from './attach-media.ts';
import { Chips } from './chips.tsx';
import { isComposing, isSubmit } from './composing.ts';
import { Gauge } from './gauge.tsx';
import { usePanel } from './panel.ts';

/** The word before the caret that triggers completions: `@` at the start of a word, `/` at the start of the text. */
interface Trigger {
  readonly trigger: '@' | '/';
  readonly text: string;
  /** Index of its first character. */
  readonly from: number;
}

function triggerAt(text: string, caret: number): Trigger | undefined {
  const match = /(?:^|\s)([@/])([^\s@]*)$/.exec(text.slice(0, caret));
  if (!match) return undefined;
  const [, sign = '', typed = ''] = match;
  const from = caret - typed.length - 1;
  if (sign === '/' && from !== 0) return undefined;
  return { trigger: sign === '/' ? '/' : '@', text: typed, from };
}

export function Composer() {
  const { link, state } = usePanel();
  const input = useRef<HTMLTextAreaElement>(null);
  const menu = useCompletion(input);
  const draft = state.draft.value;
  const attachments = state.attachments.value;
  const nothing = draft.trim() === '' && attachments.length === 0;

  useLayoutEffect(() => {
    const area = input.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, 240)}px`;
  }, [draft]);
  useEffect(() => {
    if (state.focusWanted.value > 0) input.current?.focus();
  }, [state.focusWanted.value]);

  const write = (text: string) => {
    state.draft.value = text;
    link.post({ type: 'draft', text });
  };
  const send = () => {
    if (nothing || state.running.value) return;
    link.post({ type: 'send', text: draft.trim() });
    state.draft.value = '';
    state.attachments.value = [];
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event) || menu.onKeyDown(event, write)) return;
    if (!isSubmit(event)) return;
    event.preventDefault();
    send();
  };

  return (
    <div class="composer">
      {menu.items.length > 0 ? <Completions {...menu} choose={(item) => menu.choose(item, write)} /> : null}
      {attachments.length > 0 ? (
        <Chips attachments={attachments} remove={(attachment) => link.post({ type: 'detach', attachment })} />
      ) : null}
      <textarea
        ref={input}
        rows={1}
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
          title={t('Attach files, the selection, problems … (@)')}
          onClick={() => link.post({ type: 'attach' })}
        />
        {state.model.value?.tools ? (
          <IconButton icon="tools" name={t('Choose tools')} onClick={() => link.post({ type: 'choose-tools' })} />
        ) : null}
        <ModelButton />
        <span class="space" />
        <Gauge />
        {state.running.value ? (
          <IconButton icon="debug-stop" name={t('Stop')} onClick={() => link.post({ type: 'stop' })} />
        ) : (
          <IconButton icon="send" name={t('Send')} title={t('Send (Enter)')} disabled={nothing} onClick={send} />
        )}
      </div>
    </div>
  );
}

function ModelButton() {
  const { link, state } = usePanel();
  const model = state.model.value;
  const label = model ? `${model.name}${model.variant ? ` · ${model.variant}` : ''}` : t('Choose a model');
  return (
    <button
      type="button"
      class="quiet model"
      title={model ? t('{0} – choose another model', model.ref) : t('Choose a model')}
      onClick={() => link.post({ type: 'pick-model' })}
    >
      <span class="name">{label}</span>
      {model?.simulated ? <span class="badge">{t('simulated')}</span> : null}
      <Icon name="chevron-down" />
    </button>
  );
}

interface Completion {
  readonly items: readonly CompletionItem[];
  readonly active: number;
  look(): void;
  close(): void;
  choose(item: CompletionItem, write: (text: string) => void): void;
  /** True if the menu handled the key. */
  onKeyDown(event: KeyboardEvent, write: (text: string) => void): boolean;
}

/** Completions for `@` and `/` in a list above the input. The input keeps the focus. */
function useCompletion(input: { readonly current: HTMLTextAreaElement | null }): Completion {
  const { link, state } = usePanel();
  const [openTrigger, setOpenTrigger] = useState<Trigger | undefined>();
  const [active, setActive] = useState(0);
  const query = useRef(0);
  const { query: answered, items } = state.completions.value;
  const shown = openTrigger !== undefined && answered === query.current ? items : [];
  const close = () => setOpenTrigger(undefined);
  const look = () => {
    const area = input.current;
    const trigger = area ? triggerAt(area.value, area.selectionStart) : undefined;
    setOpenTrigger(trigger);
    setActive(0);
    if (!trigger) return;
    query.current += 1;
    link.post({ type: 'complete', query: query.current, trigger: trigger.trigger, text: trigger.text });
  };
  const choose = (item: CompletionItem, write: (text: string) => void) => {
    const area = input.current;
    if (!area || !openTrigger) return;
    const after = area.value.slice(area.selectionStart);
    write(area.value.slice(0, openTrigger.from) + item.insert + after);
    if (item.insert === '') link.post({ type: 'attach-item', item: item.id });
    close();
    area.focus();
    const caret = openTrigger.from + item.insert.length;
    requestAnimationFrame(() => area.setSelectionRange(caret, caret));
  };
  return {
    items: shown,
    active: Math.min(active, shown.length - 1),
    look,
    close,
    choose,
    onKeyDown: (event, write) => {
      if (shown.length === 0) return false;
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const item = shown[Math.min(active, shown.length - 1)];
      if (move !== undefined) setActive((active + move + shown.length) % shown.length);
      else if (event.key === 'Escape') close();
      else if ((event.key === 'Enter' || event.key === 'Tab') && item) choose(item, write);
      else return false;
      event.preventDefault();
      return true;
    },
  };
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
