import { findHunks } from '../../base/hunks.ts';
import { defined } from '../../base/json.ts';
import { findLanguage } from '../document/languages.ts';
import type { FoundEdit } from './edit-checks.ts';
import { isName, splitLine, type Token } from './line-tokens.ts';
import { declaresNext, isPlainUse } from './name-uses.ts';
import type { FinishedEdit, NextEditSource } from './next-edit.ts';

/** Places of the edit where a name was replaced: once may be another thing than a rename. */
const MIN_PLACES = 2;
/** Other places. More of them need a review of their own. */
const MAX_PLACES = 30;
const MAX_LINES = 20_000;

/**
 * The other places of a name that one edit replaced everywhere in its lines by a name that is new in the file. For
 * languages without a rename. Nothing is offered if one of the places is not below the declaration, in its block, or may
 * be another variable, a key or an argument with a name. Members are left alone.
 */
export class RenamedNameSource implements NextEditSource {
  readonly origin = 'same-edit';

  find(edit: FinishedEdit): Promise<readonly FoundEdit[]> {
    return Promise.resolve(findRest(edit));
  }
}

function findRest(edit: FinishedEdit): readonly FoundEdit[] {
  const { document, line: first, before, after } = edit;
  if (document.lineCount > MAX_LINES) return [];
  const { line: comment } = findLanguage(document.languageId);
  const renamed = findRenamed(before, after, comment);
  if (renamed === undefined) return [];
  const { old, name, places } = renamed;
  const end = endOfScope(edit, name, comment);
  const found: FoundEdit[] = [];
  let written = 0;
  for (let at = 0; at < document.lineCount; at++) {
    const text = document.lineAt(at);
    if (text.includes(name)) written += plainTokens(splitLine(text, comment), name).length;
    const inEdit = at >= first && at < first + after.length;
    if (inEdit || !text.includes(old)) continue;
    const tokens = splitLine(text, comment);
    for (const { start, index } of plainTokens(tokens, old)) {
      if (at < first || at >= end || found.length === MAX_PLACES || !isPlainUse(tokens, index)) return [];
      const { uri, path } = document;
      const range = { start: { line: at, character: start }, end: { line: at, character: start + old.length } };
      const title = { kind: 'rename', name } as const;
      found.push({
        origin: 'same-edit',
        uri,
        ...defined({ path }),
        replacements: [{ ...range, expected: old, text: name }],
        title,
      });
    }
  }
  // The name was there before: the places may mean the other one.
  return written > places ? [] : found;
}

/** The name that was replaced at several places, and nowhere in the lines by another one. */
function findRenamed(before: readonly string[], after: readonly string[], comment: string | undefined) {
  const tokens = (lines: readonly string[]) => lines.flatMap((line) => splitLine(line, comment));
  const [old, now] = [tokens(before), tokens(after)];
  const texts = (all: readonly Token[]) => all.map(({ text }) => text);
  const counts = new Map<string, number>();
  for (const hunk of findHunks(texts(old), texts(now)) ?? []) {
    const [was, name] = [hunk.before[0], hunk.after[0]];
    const isPair = hunk.before.length === 1 && hunk.after.length === 1 && was !== undefined && name !== undefined;
    if (isPair) counts.set(`${was} ${name}`, (counts.get(`${was} ${name}`) ?? 0) + 1);
  }
  for (const [pair, places] of counts) {
    const [was = '', name = ''] = pair.split(' ');
    const isWhole = plainTokens(old, was).length === places && plainTokens(now, name).length === places;
    const isGone = now.every(({ text }) => text !== was) && old.every(({ text }) => text !== name);
    const areNames = [was, name].every((text) => isName({ kind: 'word', text, start: 0, end: 0 }));
    if (places >= MIN_PLACES && areNames && isWhole && isGone) return { old: was, name, places };
  }
  return undefined;
}

/** The first line after the block in which the edit declares the name, as its indentation shows. */
function endOfScope({ document, line: first, after }: FinishedEdit, name: string, comment: string | undefined): number {
  const indentation = (line: string) => line.length - line.trimStart().length;
  for (let at = first; at < first + after.length; at++) {
    const line = document.lineAt(at);
    const tokens = splitLine(line, comment);
    const [place] = plainTokens(tokens, name);
    if (place === undefined) continue;
    // The scope of a parameter is the lines below that are deeper.
    const isOuter = declaresNext(tokens.slice(0, place.index), tokens[place.index + 1]);
    const least = indentation(line) + (isOuter ? 0 : 1);
    let end = at + 1;
    while (end < document.lineCount) {
      const text = document.lineAt(end);
      if (text.trim() !== '' && indentation(text) < least) break;
      end++;
    }
    return end;
  }
  return first;
}

/** The places of a name that is neither a member nor a key. */
function plainTokens(tokens: readonly Token[], name: string) {
  return tokens.flatMap(({ kind, text, start }, index) => {
    const [previous, second] = [tokens[index - 1], tokens[index - 2]];
    const isSpread = previous?.text === '.' && second?.text === '.';
    const isMember = previous !== undefined && '.>:'.includes(previous.text) && previous.end === start;
    return kind === 'word' && text === name && (!isMember || isSpread) ? [{ start, index }] : [];
  });
}
