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
export function FindBar({ list }: { list: Ref }) {
  const { state, drawing } = usePanel();
  /** Number of times that the user asked for the open bar; 0: it is closed. */
  const [asked, setAsked] = useState(0);
  const open = asked > 0;
  const [query, setQuery] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const finder = useMemo(() => new Finder(() => list.current, drawing), [drawing]);
  const { matches, at } = finder.found.value;
  const total = matches.length;
  const find = (text: string) => {
    setQuery(text);
    finder.find(text);
  };
  const close = () => {
    setAsked(0);
    finder.close();
    state.focusWanted.value += 1;
  };

  // Not after the next frame: keys that follow at once belong to the query.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [asked]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, shiftKey } = event;
      if (isFind(event)) {
        const selected = getSelection()?.toString() ?? '';
        find(selected !== '' && selected.length <= MAX_SELECTED && !selected.includes('\n') ? selected : query);
        setAsked(asked + 1);
      } else if (open && key === 'F3') finder.go(shiftKey ? -1 : 1);
      else if (open && key === 'Escape' && !isField(event.target)) close();
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
    <search class="find">
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

/** Ctrl+F, on a Mac Cmd+F: there, Ctrl+F moves the caret. */
function isFind({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  const main = navigator.userAgent.includes('Mac') ? metaKey && !ctrlKey : ctrlKey && !metaKey;
  return main && !altKey && !shiftKey && key.toLowerCase() === 'f';
}
