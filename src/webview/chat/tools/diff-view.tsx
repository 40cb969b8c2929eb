import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { DiffHunk, FileChange } from '../../../chat/message-parts.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import { t } from '../../shared/words.ts';
import { highlightWhenIdle } from '../markdown/highlight.ts';

/** Number of lines that are visible at first. */
const ROWS = 30;
/** Folding fewer lines saves nothing. */
const SLACK = 6;

interface Row {
  readonly sign: string;
  readonly text: string;
  /** Line number in the new text; for a removed line, in the old text. */
  readonly number?: number;
  /** True if lines between this row and the one before are not shown. */
  readonly gap: boolean;
}

/** The changed lines of a file with their numbers. A long diff is folded. */
export function DiffView({ change }: { change: FileChange }) {
  const [whole, setWhole] = useState(false);
  const lines = useRef<HTMLDivElement>(null);
  const { path, hidden = 0, formatted = 0, added, removed } = change;
  const rows = change.hunks.flatMap(hunkRows);
  const shown = whole || rows.length <= ROWS + SLACK ? rows : rows.slice(0, ROWS);
  const language = /\.([\w-]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  useLayoutEffect(() => {
    for (const code of lines.current?.querySelectorAll<HTMLElement>('code:not(:has(span))') ?? []) {
      highlightWhenIdle(code, language);
    }
  }, [shown.length, language]);
  if (rows.length === 0) return null;
  const name = t('Changes in {0}: {1} added, {2} removed', showUnseen(path), added, removed);
  return (
    <fieldset class="diff" aria-label={name}>
      <div class="diff-lines" ref={lines}>
        {shown.map((row, index) => (
          <DiffRow key={`${index} ${row.sign}${row.text}`} row={row} />
        ))}
      </div>
      {shown.length < rows.length ? (
        <button type="button" class="quiet more" onClick={() => setWhole(true)}>
          {t('Show {0} more lines', rows.length - shown.length)}
        </button>
      ) : null}
      {formatted > 0 ? (
        <p class="note">{t('Lines that the editor changed when it saved the file: {0}', formatted)}</p>
      ) : null}
      {hidden > 0 ? <p class="note">{t('{0} more changed lines: use View diff to see them.', hidden)}</p> : null}
    </fieldset>
  );
}

const KINDS: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '\\': 'end' };

function DiffRow({ row: { sign, text, number, gap } }: { row: Row }) {
  return (
    <div class={`row ${KINDS[sign] ?? ''} ${gap ? 'gap' : ''}`}>
      <span class="number" aria-hidden="true">
        {number}
      </span>
      <span class="sign">{sign === '\\' ? '' : sign}</span>
      {sign === '\\' ? <em>{t('No line break at the end of the file')}</em> : <code>{text}</code>}
    </div>
  );
}

function hunkRows({ oldStart, newStart, lines }: DiffHunk, hunk: number): readonly Row[] {
  let before = oldStart;
  let after = newStart;
  return lines.map((line, index) => {
    const sign = line.slice(0, 1);
    const number = sign === '-' ? before : after;
    if (sign === ' ' || sign === '-') before += 1;
    if (sign === ' ' || sign === '+') after += 1;
    const row = { sign, text: showUnseen(line.slice(1)), gap: hunk > 0 && index === 0 };
    return sign === '\\' ? row : { ...row, number };
  });
}
