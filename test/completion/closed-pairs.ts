import { CompletionTrimmer } from '../../src/completion/answer/completion-trimmer.ts';
import { fitAnswer } from '../../src/completion/answer/fit-answer.ts';
import { surroundings } from '../../src/completion/cache/cache-lookup.ts';
import { BracketScanner } from '../../src/completion/document/brackets.ts';
import type { DocumentText } from '../../src/completion/document/document-text.ts';
import { findLanguage } from '../../src/completion/document/languages.ts';
import { buildPrompt } from '../../src/completion/prompt/prompt-builder.ts';
import { MODEL } from './editor-harness.ts';

/** A place in a real line where text is missing. The file is right again when the answer is inserted there. */
export interface MissingText {
  readonly how: 'closed pair' | 'middle of a line';
  readonly row: number;
  readonly head: string;
  readonly tail: string;
  readonly answer: string;
}

/**
 * The places of a line where a pair was just opened. The tail is what the editor leaves there: the closers of all that
 * the line has opened, and a separator that was there before. The answer is the true text between both.
 */
export function closedPairs(line: string, row: number, languageId: string): readonly MissingText[] {
  const language = findLanguage(languageId);
  const scanner = new BracketScanner(language);
  const code = line.trimEnd();
  const separator = /[;,]?$/.exec(code)?.[0] ?? '';
  const ending = code.slice(0, code.length - separator.length);
  const found: MissingText[] = [];
  for (let column = 1; column < code.length; column++) {
    const opened = scanner.openedEnds.length;
    scanner.read(line.charAt(column - 1));
    const open = scanner.openedEnds;
    if (open.length <= opened || scanner.inside === '\n') continue;
    const closers = [...open].reverse().join('');
    if (!ending.endsWith(closers) || ending.length - closers.length <= column) continue;
    const head = line.slice(0, column);
    const answer = ending.slice(column, -closers.length);
    const after = scanner.mark().read(answer);
    // The last closers of the line may belong to something else, and a quote may be the first of three.
    const isSame = after.isInsideTheSame(scanner);
    if (!isSame || answer.trim() === '' || /(["'`])\1/.test(line.slice(column - 2, column + 1))) continue;
    found.push({ how: 'closed pair', row, head, tail: closers, answer });
    if (separator === '') continue;
    found.push({ how: 'closed pair', row, head, tail: closers + separator, answer });
  }
  return found;
}

/** Places of a finished line from which one to six tokens are missing. */
export function middles(line: string, row: number): readonly MissingText[] {
  const tokens = [...line.matchAll(/[\p{L}\p{N}_$]+|"{3}|'{3}|[=!<>&|+*/%?:.-]+|[^\s\p{L}\p{N}_$]/gu)];
  return tokens.flatMap(({ index: start }, at) =>
    [1, 2, 3, 4, 5, 6].flatMap((count) => {
      const next = tokens[at + count];
      if (at === 0 || next === undefined) return [];
      const answer = line.slice(start, next.index);
      return [{ how: 'middle of a line', row, head: line.slice(0, start), tail: line.slice(next.index), answer }];
    }),
  ) as readonly MissingText[];
}

function documentOf(lines: readonly string[], languageId: string): DocumentText {
  return {
    uri: 'file:///work/a',
    path: 'a',
    languageId,
    version: 1,
    eol: '\n',
    lineCount: lines.length,
    lineAt: (line) => lines[line] ?? '',
  };
}

/** The line after the answer was accepted; `undefined` if nothing is shown. The answer arrives in pieces of a length. */
export function lineAfter(
  around: { readonly above: readonly string[]; readonly below: readonly string[]; readonly languageId: string },
  { head, tail, answer }: Pick<MissingText, 'head' | 'tail' | 'answer'>,
  pieceLength: number,
): string | undefined {
  const document = documentOf([...around.above, head + tail, ...around.below], around.languageId);
  const position = { line: around.above.length, character: head.length };
  const prompt = buildPrompt(document, position, [], { model: MODEL, maxLines: 12 });
  if (prompt === undefined) return undefined;
  const trimmer = new CompletionTrimmer(prompt.site);
  for (let at = 0; at < answer.length; at += pieceLength) trimmer.push(answer.slice(at, at + pieceLength));
  trimmer.end(true);
  const fitted = fitAnswer(trimmer.text, surroundings(document, position));
  return fitted === undefined ? undefined : head + fitted.text + tail.slice(fitted.replaceAfter);
}
