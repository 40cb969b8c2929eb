import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { IconButton } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { isComposing } from '../composing.ts';
import { isField } from '../message-keys.ts';
import { usePanel } from '../panel.ts';
import { MAX_MATCHES } from './find-text.ts';
import { Finder } from './finder.ts';

type Ref = { readonly current: HTMLElement | null };

/** Longer selections are texts to copy, not to find. */
const MAX_SELECTED = 200;

/** Finds text in the conversation. VS Code’s own search of a page exists in tabs only. */
export function FindBar({ list, stay }: { list: Ref; stay: () => void }) {
  const { state, drawing } = usePanel();
  /** Number of presses of Ctrl+F while the bar is open; 0: it is closed. */
  const [presses, setPresses] = useState(0);
  const open = presses > 0;
  const [query, setQuery] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const finder = useMemo(() => {
    const stops = () => state.running.peek() && stay();
    return new Finder({ list: () => list.current, drawing, stay: stops });
  }, [drawing]);
  const { matches, at } = finder.found.value;
  const total = matches.length;
  const find = (text: string) => {
    setQuery(text);
    finder.find(text);
  };
  const close = () => {
    setPresses(0);
    finder.close();
    state.focusWanted.value += 1;
  };

  // Not after the next frame: keys that follow at once belong to the query.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [presses]);
  useEffect(() => {
    if (open) finder.restart();
  }, [state.session.value]);
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, shiftKey } = event;
      if (isFind(event)) {
        const selected = getSelection()?.toString().trim() ?? '';
        find(selected !== '' && selected.length <= MAX_SELECTED && !selected.includes('\n') ? selected : query);
        setPresses(presses + 1);
      } else if (open && (key === 'F3' || isMacKey(event, 'g'))) finder.go(shiftKey ? -1 : 1);
      else if (open && key === 'Escape' && !isComposing(event) && !hasEscape(event.target)) close();
      else return;
      event.preventDefault();
      // VS Code would search the editor.
      event.stopPropagation();
    };
    document.addEventListener('keydown', press, true);
    return () => document.removeEventListener('keydown', press, true);
  });
  if (!open) return null;
  return (
    <search
      class="find"
      // A button does not take the focus from the query: the next letters belong to it.
      onMouseDown={(event) => event.target !== input.current && event.preventDefault()}
    >
      <input
        ref={input}
        type="text"
        value={query}
        placeholder={t('Find')}
        aria-label={t('Find')}
        onInput={(event) => find(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (isComposing(event) || (event.key !== 'Enter' && event.key !== 'Escape')) return;
          event.preventDefault();
          event.stopPropagation();
          if (event.key === 'Escape') close();
          else finder.go(event.shiftKey ? -1 : 1);
        }}
      />
      <span class="figures" role="status">
        {query === '' ? '' : total === 0 ? t('No results') : t('{0} of {1}', at + 1, totalText(total))}
      </span>
      <IconButton
        icon="arrow-up"
        name={t('Previous match')}
        title={t('Previous match (Shift+Enter)')}
        disabled={total === 0}
        onClick={() => finder.go(-1)}
      />
      <IconButton
        icon="arrow-down"
        name={t('Next match')}
        title={t('Next match (Enter)')}
        disabled={total === 0}
        onClick={() => finder.go(1)}
      />
      <IconButton icon="close" name={t('Close')} title={t('Close (Escape)')} onClick={close} />
    </search>
  );
}

function totalText(total: number): string {
  return total === MAX_MATCHES ? `${total}+` : String(total);
}

const MAC = navigator.userAgent.includes('Mac');

/** Ctrl+F, on a Mac Cmd+F: there, Ctrl+F moves the caret. */
function isFind(event: KeyboardEvent): boolean {
  if (event.shiftKey) return false;
  if (MAC) return isMacKey(event, 'f');
  return event.ctrlKey && !event.metaKey && !event.altKey && isKey(event, 'f');
}

function isMacKey(event: KeyboardEvent, letter: string): boolean {
  return MAC && event.metaKey && !event.ctrlKey && !event.altKey && isKey(event, letter);
}

/** On a keyboard without Latin letters, by the place of the key. */
function isKey({ key, code }: KeyboardEvent, letter: string): boolean {
  const latin = /^[a-z]$/i.test(key);
  return latin ? key.toLowerCase() === letter : code === `Key${letter.toUpperCase()}`;
}

/** Whether Escape means something else there: in a field, except for the input of messages without a list. */
function hasEscape(target: EventTarget | null): boolean {
  return isField(target) && !(target instanceof Element && target.matches('.composer textarea:not([aria-controls])'));
}
