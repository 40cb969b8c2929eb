import { useState } from 'preact/hooks';
import type { Part } from '../../../chat/transcript.ts';
import { Icon } from '../../shared/icon.tsx';
import { t } from '../../shared/words.ts';
import { hasFailed, ToolCard } from './tool-card.tsx';
import { readObject, type ToolPart } from './tool-title.ts';

/** A part of a message, or several finished calls in a row that only read. */
export type ShownPart =
  | { readonly index: number; readonly part: Part }
  | { readonly index: number; readonly calls: readonly ToolPart[] };

/** Groups the calls that only read. Steps are not shown, so they do not separate calls. */
export function groupParts(parts: readonly Part[]): readonly ShownPart[] {
  const shown: { index: number; parts: Part[] }[] = [];
  parts.forEach((part, index) => {
    if (part.type === 'step') return;
    const last = shown.at(-1);
    if (last?.parts.every(isQuiet) && isQuiet(part)) last.parts.push(part);
    else shown.push({ index, parts: [part] });
  });
  return shown.flatMap(({ index, parts: [first, ...more] }): readonly ShownPart[] => {
    if (first === undefined) return [];
    if (more.length === 0) return [{ index, part: first }];
    return [{ index, calls: [first, ...more].filter((part) => part.type === 'tool') }];
  });
}

function isQuiet(part: Part): boolean {
  return (
    part.type === 'tool' &&
    !part.changes &&
    part.action === undefined &&
    part.state.type === 'done' &&
    !hasFailed(part.state)
  );
}

/** Several calls that only read, in one line. */
export function ToolGroup({ calls }: { calls: readonly ToolPart[] }) {
  const [open, setOpen] = useState(false);
  return (
    <div class={open ? 'tool open' : 'tool'}>
      <div class="head">
        <button type="button" class="toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span class="state">
            <Icon name="check-all" />
          </span>
          <span class="verb">{groupTitle(calls)}</span>
        </button>
      </div>
      {open ? (
        <div class="calls">
          {calls.map((part) => (
            <ToolCard key={part.id} part={part} />
          ))}
        </div>
      ) : null}
    </div>
  );
}

const SEARCHES: ReadonlySet<string> = new Set(['search_text', 'find_symbols', 'find_references', 'go_to_definition']);

function groupTitle(calls: readonly ToolPart[]): string {
  const reads = calls.filter(({ name }) => name === 'read_file');
  const files = new Set(reads.map(({ text }) => String(readObject(text)?.path))).size;
  const searches = calls.filter(({ name }) => SEARCHES.has(name)).length;
  const rest = calls.length - reads.length - searches;
  const titles = [
    files === 0 ? '' : files === 1 ? t('Read 1 file') : t('Read {0} files', files),
    searches === 0 ? '' : searches === 1 ? t('1 search') : t('{0} searches', searches),
    rest === 0 ? '' : rest === 1 ? t('1 other call') : t('{0} other calls', rest),
  ];
  return titles.filter(Boolean).join(', ');
}
