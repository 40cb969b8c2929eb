import { useRef, useState } from 'preact/hooks';
import type { CompletionItem } from '../../protocol/chat/page-messages.ts';
import { usePanel } from './panel.ts';

/** The word before the caret that triggers completions: `@` at the start of a word, `/` at the start of the text. */
export interface Trigger {
  readonly trigger: '@' | '/';
  readonly text: string;
  /** Index of its first character. */
  readonly from: number;
}

/** A longer word is no name. */
const MAX_NAME = 300;

function triggerAt(text: string, caret: number): Trigger | undefined {
  const match = /(?:^|\s)([@/])([^\s@]*)$/.exec(text.slice(0, caret));
  if (!match) return undefined;
  const [, sign = '', typed = ''] = match;
  const from = caret - typed.length - 1;
  if (typed.length > MAX_NAME) return undefined;
  if (sign === '/' && from !== 0) return undefined;
  return { trigger: sign === '/' ? '/' : '@', text: typed, from };
}

export interface Completion {
  readonly items: readonly CompletionItem[];
  readonly active: number;
  /** The mention before the caret whose list has not arrived yet, or is empty: files and symbols arrive later. */
  readonly pending: Trigger | undefined;
  look(): void;
  close(): void;
  choose(item: CompletionItem): void;
  /** True if the menu handled the key. */
  onKeyDown(event: KeyboardEvent): boolean;
}

/** Completions for `@` and `/` in a list above the input. The input keeps the focus. */
export function useCompletion(
  input: { readonly current: HTMLTextAreaElement | null },
  write: (text: string) => void,
): Completion {
  const { link, state } = usePanel();
  const [openTrigger, setOpenTrigger] = useState<Trigger | undefined>();
  const [active, setActive] = useState(0);
  const query = useRef(0);
  /** The first query of the open list: an answer to an earlier one belongs to another word. */
  const first = useRef(0);
  const { query: answered, items } = state.completions.value;
  // The list of the previous key stays until the new one arrives, because an empty one would flicker.
  const shown = openTrigger !== undefined && answered >= first.current ? items : [];
  const isCurrent = answered === query.current;
  const close = () => setOpenTrigger(undefined);
  const look = () => {
    const area = input.current;
    const trigger = area ? triggerAt(area.value, area.selectionStart) : undefined;
    setOpenTrigger(trigger);
    setActive(0);
    if (!trigger) return;
    query.current += 1;
    if (trigger.from !== openTrigger?.from || trigger.trigger !== openTrigger.trigger) first.current = query.current;
    link.post({ type: 'complete', query: query.current, trigger: trigger.trigger, text: trigger.text });
  };
  const choose = (item: CompletionItem) => {
    const area = input.current;
    if (!area || !openTrigger) return;
    area.focus();
    // Changes the input at once: a key that follows immediately must find the new text and caret.
    area.setRangeText(item.insert, openTrigger.from, Math.max(area.selectionStart, openTrigger.from), 'end');
    write(area.value);
    if (item.attaches) link.post({ type: 'attach-item', item: item.id, name: item.insert.trim().slice(1) });
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (shown.length === 0 || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const item = shown[Math.min(active, shown.length - 1)];
    // A command that is typed completely is sent, whether its list has arrived or not.
    if (event.key === 'Enter' && openTrigger?.trigger === '/' && item?.insert.trim() === `/${openTrigger.text}`)
      return false;
    if (move !== undefined) setActive((active + move + shown.length) % shown.length);
    else if (event.key === 'Escape') close();
    else if ((event.key === 'Enter' || event.key === 'Tab') && item && isCurrent) choose(item);
    else return false;
    event.preventDefault();
    return true;
  };
  return {
    items: shown,
    active: Math.min(active, shown.length - 1),
    pending:
      openTrigger?.trigger === '@' && openTrigger.text !== '' && (!isCurrent || items.length === 0)
        ? openTrigger
        : undefined,
    look,
    close,
    choose,
    onKeyDown,
  };
}
