import { fitAnswer, type Surroundings } from '../answer/fit-answer.ts';
import { fromDefinition, scanBracketsTo } from '../document/brackets.ts';
import type { CaretView } from '../document/caret-view.ts';
import {
  type DocumentText,
  linesAfter,
  nextFilledLine,
  type Position,
  textBefore,
  textHead,
  textTail,
} from '../document/document-text.ts';
import { findLanguage } from '../document/languages.ts';
import type { Dismissals } from './dismissal.ts';
import type { CachedAnswer, CacheMatch, SuggestionCache } from './suggestion-cache.ts';
import type { DisplayedSuggestion } from './suggestion-display.ts';

/** The cached answers for a caret. */
export interface CacheLookup {
  readonly shown: readonly DisplayedSuggestion[];
  readonly awaited: readonly CachedAnswer[];
  /** An answer for this position exists but has nothing to show: another request would be useless. */
  readonly settled: boolean;
}

interface Memory {
  readonly cache: SuggestionCache;
  readonly dismissals: Dismissals;
  /** Whether a suggestion is a part of what the user has just deleted. */
  readonly restores: (text: string) => boolean;
}

/** Finds the cached answers for a caret: the suggestion on screen (`current`) first, then the newest. */
export function lookUpCache(
  { document, position, model, request }: CaretView,
  memory: Memory,
  current: CachedAnswer | undefined,
): CacheLookup {
  const shown: DisplayedSuggestion[] = [];
  const awaited: CachedAnswer[] = [];
  let settled = false;
  let around: Surroundings | undefined;
  const matches = memory.cache.find(document, position, model.ref);
  // The suggestion on screen comes first, so that an answer with the same text does not replace it.
  matches.sort((a, b) => Number(b.answer === current) - Number(a.answer === current));
  const invoked = request.trigger === 'invoke';
  const withdrawn = matches.flatMap((match) => (match.kind === 'withdrawn' && !invoked ? match.rest : []));
  for (const match of matches) {
    const { answer } = match;
    if (memory.dismissals.holds(answer)) continue;
    if (invoked) answer.accepted = 0;
    // The user may have requested it after its text was withdrawn: what is on screen stays while it is typed.
    const isOnScreen = answer === current && match.kind !== 'withdrawn';
    if (match.kind !== 'awaited' && !isOnScreen && withdrawn.some((text) => isSameText(text, match.rest))) {
      if (!answer.done) awaited.push(answer);
      else if (match.kind !== 'withdrawn') settled = true;
      continue;
    }
    if (match.kind === 'awaited') awaited.push(answer);
    else {
      around ??= surroundings(document, position);
      const fitted = fit(match, around, position);
      const unwanted = fitted !== undefined && !invoked && answer !== current && memory.restores(fitted.text);
      if (unwanted && !answer.done) awaited.push(answer);
      else if (unwanted) settled = true;
      else if (fitted !== undefined && !shown.some(({ text }) => text === fitted.text)) {
        shown.push({ answer, uri: document.uri, position, accepted: false, ...fitted });
      } else if (!answer.done) awaited.push(answer);
      else if (match.kind === 'indented' || match.rest === answer.text || match.rest !== '') settled = true;
    }
  }
  return { shown, awaited, settled };
}

/** Whether two texts are the same as far as both are known. */
function isSameText(one: string, other: string): boolean {
  return other !== '' && (one.startsWith(other) || other.startsWith(one));
}

type Fitted = Pick<DisplayedSuggestion, 'text' | 'replaceBefore' | 'replaceAfter'>;

/** Fits the rest of an answer to the text around the caret. `undefined`: there is nothing to show. */
function fit(
  match: Extract<CacheMatch, { readonly rest: string }>,
  around: Surroundings,
  position: Position,
): Fitted | undefined {
  if (match.kind !== 'indented') {
    const fitted = fitAnswer(match.rest, around, goesOn(match.answer));
    return fitted && { ...fitted, replaceBefore: 0 };
  }
  if (around.tail.trim() !== '') return undefined;
  // With its line end, so that a closer that the next line of the document has is not repeated.
  const text = fitAnswer(`\n${match.rest}`, around)?.text.slice(1);
  return text ? { text, replaceBefore: position.character, replaceAfter: around.tail.length } : undefined;
}

/** Whether more of an answer follows: when it was on screen and still arrives, or when it is accepted. */
function goesOn({ done, cut, seen }: CachedAnswer): boolean {
  return cut || (!done && seen);
}

/** Number of characters before the caret that are scanned for open brackets, strings and comments. */
const SCANNED = 4_000;

/** The text around a caret now, as `fitAnswer` needs it. */
export function surroundings(document: DocumentText, position: Position): Surroundings {
  const language = findLanguage(document.languageId);
  const text = textBefore(document, position, SCANNED);
  const complete = text.length < SCANNED;
  const lineStart = text.indexOf('\n') + 1;
  const startsInLine = !complete && lineStart === 0;
  const caret = scanBracketsTo(
    complete ? text : fromDefinition(text.slice(lineStart), language),
    language,
    startsInLine,
  );
  return {
    language,
    caret,
    head: textHead(document, position),
    tail: textTail(document, position),
    after: linesAfter(document, position.line),
    below: nextFilledLine(document, position.line),
  };
}
