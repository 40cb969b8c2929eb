import type { DocumentText, Position } from '../document/document-text.ts';
import { findLanguage, type Language } from '../document/languages.ts';

/** A name in the code around the caret. */
export interface CodeName extends Position {
  readonly name: string;
  /** How likely the next line needs its declaration. */
  readonly weight: number;
}

/** Lines around the caret whose names count, and the lines at the top of a file that are searched for imports. */
const AROUND = 150;
const NEAR = 12;
const WORD_LINES = 400;
const HEAD = 120;
const MAX_WIDTH = 400;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/gu;
const IMPORT = /^(?:import\b|export\b[^=(]*\bfrom\b|from\s+\S+\s+import\b|use\s|pub use\s|#include\b|.*\brequire\()/;
/** Words that occur often and declare nothing. The language has no answer for the others. */
const KEYWORDS = new Set(
  (
    'and as async await break case class const continue def else export extends false for from func function if ' +
    'implements import in let mut new nil not null number or override package private pub public readonly return self ' +
    'static string struct super this throw true try type undefined use var void while with False None True boolean'
  ).split(' '),
);

/** The names around the caret, the likeliest first. A name that occurs often is listed once. */
export function findCodeNames(document: DocumentText, { line: own, character }: Position): readonly CodeName[] {
  const language = findLanguage(document.languageId);
  const found = new Map<string, CodeName>();
  const uses = new Map<string, number>();
  const add = (line: number, weight: number, imported = false): void => {
    for (const { 0: name, index } of withoutStrings(document.lineAt(line), language).matchAll(NAME)) {
      if (KEYWORDS.has(name)) continue;
      const used = uses.get(name) ?? 0;
      uses.set(name, used + 1);
      const before = found.get(name)?.weight ?? 0;
      // At the import, because a name near the caret may not be resolved yet.
      if (imported) {
        const often = Math.max(before, 1) + Math.min(1.5, 0.3 * used);
        found.set(name, { name, line, character: index, weight: often });
      } else if (before < weight) found.set(name, { name, line, character: index, weight });
    }
  };
  const headers = enclosingLines(document, { line: own, character });
  for (const [level, lines] of headers.entries()) for (const line of lines) add(line, Math.max(1.5, 3 - level * 0.75));
  const block = headers[0]?.at(-1) ?? 0;
  const last = Math.min(document.lineCount - 1, own + AROUND);
  for (let line = Math.max(0, own - AROUND); line <= last; line++) {
    const near = Math.abs(line - own) <= NEAR ? 1 : 0.6;
    add(line, line === own ? 4 : line > block && line < own ? 2.5 * near : near);
  }
  for (const line of importLines(document)) add(line, 1, true);
  return [...found.values()].sort((a, b) => b.weight - a.weight);
}

/** The names in the line before the caret, and in the first lines of the blocks around it. */
export function namesAround(document: DocumentText, position: Position): ReadonlySet<string> {
  const language = findLanguage(document.languageId);
  const lines = enclosingLines(document, position).flat();
  const own = document.lineAt(position.line).slice(0, position.character);
  const texts = [own, ...lines.map((line) => document.lineAt(line))];
  return new Set(texts.flatMap((text) => withoutStrings(text, language).match(NAME) ?? []));
}

/** The words of a file, without those between the head of the block around the caret and the caret: they are typed now. */
export function wordsOf(document: DocumentText, position: Position): ReadonlySet<string> {
  const head = functionLines(document, position)?.at(-1) ?? position.line - 1;
  const found = new Set<string>();
  const last = Math.min(document.lineCount, position.line + WORD_LINES);
  for (let line = Math.max(0, position.line - WORD_LINES); line < last; line++) {
    if (line > head && line <= position.line) continue;
    for (const [word] of document.lineAt(line).slice(0, MAX_WIDTH).matchAll(NAME)) found.add(word);
  }
  return found;
}

/** Brackets are searched in so many lines before the caret. */
const BRACKET_LINES = 40;
/** Code before the brace of a value, not of a block. */
const BEFORE_VALUE = /(?:[([,=:?]|&&|\|\||\breturn)\s*$/;
const CALLED =
  /(?:^|[^\w$])(?!(?:if|for|while|switch|catch|match|return|await|of|in|and|or|not)\s*$)[\w$]+(?:<[^<>()]{0,80}>)?\s?$|[>\])]$/;
const NO_VALUE = /^\s*(?:(?:export |declare )*(?:type|interface)\b|case\b|default\b)/;

/** What is expected at the caret. */
export interface ExpectedAt {
  /** A member of the value before a dot, after which it begins at this character of the line. */
  readonly member: number | undefined;
  /** A property of a value. */
  readonly property: boolean;
  /** An argument of a call. */
  readonly argument: boolean;
  /** The code up to the dot or the bracket around the caret: it remains the same while the user writes on behind it. */
  readonly place: string;
}

export function expectedAt(document: DocumentText, { line: own, character }: Position): ExpectedAt {
  const language = findLanguage(document.languageId);
  const head = document.lineAt(own).slice(0, character);
  const dot = /\.\w*$/.exec(head);
  const member = dot === null ? undefined : dot.index + 1;
  let place = member === undefined ? undefined : `${own} ${head.slice(0, member)}`;
  let property: boolean | undefined;
  let closed = 0;
  for (let line = own; line >= Math.max(0, own - BRACKET_LINES); line--) {
    const whole = document.lineAt(line);
    const code = withoutStrings(line === own ? whole.slice(0, character) : whole, language);
    for (let at = code.length - 1; at >= 0; at--) {
      const bracket = code[at] ?? '';
      if (')]}'.includes(bracket)) closed++;
      else if ('([{'.includes(bracket) && closed-- === 0) {
        closed = 0;
        place ??= `${line} ${code.slice(0, at + 1)}`;
        const before = code.slice(0, at);
        // Elements of an array begin on lines of their own.
        const above = before.trim() === '' && line > 0 ? withoutStrings(document.lineAt(line - 1), language) : before;
        const isValue = bracket === '{' && BEFORE_VALUE.test(above) && !NO_VALUE.test(above);
        property ??= isValue;
        if (bracket === '(') return { member, property, argument: CALLED.test(before), place };
        if (bracket === '{' && !isValue) return { member, property, argument: false, place };
      }
    }
  }
  return { member, property: property ?? false, argument: false, place: place ?? '' };
}

/** The lines of import statements, also those with names on several lines. */
export function importLines(document: DocumentText): readonly number[] {
  const lines: number[] = [];
  let open = false;
  for (let line = 0; line < Math.min(document.lineCount, HEAD); line++) {
    const text = document.lineAt(line).slice(0, MAX_WIDTH);
    if (!open && !IMPORT.test(text)) continue;
    lines.push(line);
    const opened: boolean = open || /[({][^)}]*$/.test(text);
    open = opened && !/[)}]/.test(text) && lines.length < HEAD;
  }
  return lines;
}

/**
 * The first lines of the blocks around the caret, innermost first: each with the lines of its parameters. Blocks are
 * recognized by indentation, in any language.
 */
export function enclosingLines(document: DocumentText, { line, character }: Position): readonly (readonly number[])[] {
  const own = document.lineAt(line);
  let indentation = own.trim() === '' ? character : indentationOf(own);
  const found: (readonly number[])[] = [];
  for (let at = line - 1; at >= Math.max(0, line - 400) && found.length < 4; at--) {
    const text = document.lineAt(at);
    if (text.trim() === '') continue;
    const depth = indentationOf(text);
    // A blank line may not be indented yet.
    if (indentation === 0) indentation = own.trim() !== '' ? -1 : /[{(:[]\s*$/.test(text) ? depth + 1 : depth;
    if (depth >= indentation) continue;
    indentation = depth === 0 ? -1 : depth;
    const lines = [at];
    // The parameters are on lines of their own.
    while (/^\s*[)\]}]/.test(document.lineAt(at)) && at > 0 && lines.length < 20) {
      do lines.push(--at);
      while (
        at > 0 &&
        lines.length < 20 &&
        (document.lineAt(at).trim() === '' || indentationOf(document.lineAt(at)) > depth)
      );
    }
    found.push(lines.reverse());
  }
  return found;
}

/** The first line of the function around the caret; empty outside functions. */
export function enclosingFunction(document: DocumentText, position: Position): string {
  return headText(document, functionLines(document, position) ?? []);
}

function functionLines(document: DocumentText, position: Position): readonly number[] | undefined {
  return enclosingLines(document, position).find((lines) => {
    const text = headText(document, lines);
    return (
      /[(:]|=>|\bdo\b/.test(text) &&
      !/^(?:\} *)?(?:if|for|while|switch|else|elif|try|catch|except|with|match|loop|case|do|finally)\b/.test(text)
    );
  });
}

function headText(document: DocumentText, lines: readonly number[]): string {
  return lines.map((line) => document.lineAt(line).trim()).join(' ');
}

export function indentationOf(text: string): number {
  return text.length - text.trimStart().length;
}

/** Strings and comments become white space, so that columns remain. */
export function withoutStrings(line: string, { line: comment = '//', quotes }: Language): string {
  if (/^\s*(?:\*|\/\*|<!--)/.test(line)) return '';
  let text = line.slice(0, MAX_WIDTH);
  for (const quote of quotes) {
    const parts = text.split(quote);
    text = parts
      .map((part, at) => (at % 2 === 1 && at < parts.length - 1 ? ' '.repeat(part.length) : part))
      .join(quote);
  }
  const end = text.indexOf(comment);
  return end < 0 ? text : text.slice(0, end);
}
