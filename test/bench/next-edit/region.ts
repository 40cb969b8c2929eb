import { hash } from '../typist/oracle.ts';
import type { Hunk } from './scripts.ts';

/** Lines that the model may rewrite. */
export interface Region {
  readonly lines: readonly string[];
  /** Index of the first line in the file. */
  readonly first: number;
  readonly cursor: number;
}

export type Mistakes = 'new names' | 'known names';

/**
 * Rewrites the lines of a region as they are in the later version, or makes a mistake in `errors` percent of the
 * regions. @param remaining what is still different from the later version.
 */
export function rewriteRegion(
  { lines, first, cursor }: Region,
  remaining: readonly Hunk[],
  errors: number,
  mistakes: Mistakes = 'new names',
): { readonly text: string; readonly wrong: boolean } {
  const wrong = hash(`${lines.join('\n')}${cursor}`) % 100 < errors;
  if (wrong) return { text: mistaken(lines, cursor, mistakes).join('\n'), wrong };
  const inside = remaining.filter(
    (hunk) => hunk.first >= first && hunk.first + hunk.old.length <= first + lines.length,
  );
  const out = [...lines];
  for (const { first: at, old, text } of [...inside].reverse()) out.splice(at - first, old.length, ...text);
  return { text: out.join('\n'), wrong };
}

/** A plausible mistake: a word of a line becomes a word of another one, or a name that is nowhere. */
function mistaken(lines: readonly string[], seed: number, mistakes: Mistakes): readonly string[] {
  const words = lines.join(' ').match(/[A-Za-z_]{4,}/g) ?? [];
  const at = lines.findIndex((line, index) => index >= seed % lines.length && /[A-Za-z_]{4,}/.test(line));
  const word = words[seed % Math.max(1, words.length)];
  if (at < 0 || word === undefined) return lines;
  return lines.map((line, index) =>
    index === at ? line.replace(/[A-Za-z_]{4,}/, mistakes === 'new names' ? `${word}Of` : word) : line,
  );
}
