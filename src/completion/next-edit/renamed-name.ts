import { findHunks } from '../../base/hunks.ts';
import { defined } from '../../base/json.ts';
import { findLanguage } from '../document/languages.ts';
import type { FoundEdit } from './edit-checks.ts';
import { isName, splitLine, type Token } from './line-tokens.ts';
import type { FinishedEdit, NextEditSource } from './next-edit.ts';

/** Places of the edit where a name was replaced: once may be another thing than a rename. */
const MIN_PLACES = 2;
/** Other places. More of them need a review of their own. */
const MAX_PLACES = 30;
const MAX_LINES = 20_000;

/**
 * The other places of a name that one edit replaced everywhere in its lines by a name that is new in the file. For
 * languages without a rename; members and names that are declared elsewhere too are left alone.
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
  const found: FoundEdit[] = [];
  let written = 0;
  for (let at = 0; at < document.lineCount; at++) {
    const text = document.lineAt(at);
    if (text.includes(name)) written += plainTokens(splitLine(text, comment), name).length;
    const inEdit = at >= first && at < first + after.length;
    if (inEdit || !text.includes(old)) continue;
    for (const { start, next } of plainTokens(splitLine(text, comment), old)) {
      if (isDeclared(text.slice(0, start), next?.text, comment)) return [];
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
  return written > places || found.length > MAX_PLACES ? [] : found;
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

/** The places of a name that is neither a member nor a key. */
function plainTokens(tokens: readonly Token[], name: string) {
  return tokens.flatMap(({ kind, text, start }, at) => {
    const [previous, next] = [tokens[at - 1], tokens[at + 1]];
    const isMember = previous !== undefined && '.>:'.includes(previous.text) && previous.end === start;
    return kind === 'word' && text === name && !isMember ? [{ start, next }] : [];
  });
}

const DECLARES = /(?:^|\b)(?:const|let|var|function|class|def|fn|func|type|interface|enum|struct|for|mut|val)\s+$/;

/** A declaration of another variable of the same name, or a key. @param before the line up to the name. */
function isDeclared(before: string, next: string | undefined, comment: string | undefined): boolean {
  if (DECLARES.test(before) || next === ':') return true;
  // In languages without declarations.
  return comment !== '//' && before.trim() === '' && next === '=';
}
