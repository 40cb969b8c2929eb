import type { DocumentText, Position } from '../document/document-text.ts';
import { findLanguage, type Language } from '../document/languages.ts';

/** A name in the code around the caret. */
export interface CodeName extends Position {
  readonly name: string;
  /** How likely the next line needs its declaration. */
  readonly weight: number;
}

/** Lines around the caret whose names count, and the lines at the top of a file that are searched for imports. */
const AROUND = 60;
const NEAR = 12;
const HEAD = 120;
const MAX_WIDTH = 400;
const NAME = /[\p{L}_$][\p{L}\p{N}_$]*/gu;
const IMPORT = /^(?:import\b|export\b[^=(]*\bfrom\b|from\s+\S+\s+import\b|use\s|pub use\s|#include\b|.*\brequire\()/;
const KEYWORDS = new Set(
  (
    'abstract any as async await bool boolean break byte case catch char class const continue crate declare def default ' +
    'delete do double elif else enum except export extends extern false final finally float fn for from func function ' +
    'get global go goto if impl implements import in instanceof int interface is keyof lambda let long match mod module ' +
    'mut namespace never new nil none None not null number object of operator or override package pass private protected ' +
    'public pub raise readonly ref require return satisfies self Self set short static str string struct super switch ' +
    'symbol this throw throws trait true True False try type typeof undefined union unknown unsafe use using var virtual ' +
    'void where while with yield and err error range chan map select defer nonlocal'
  ).split(' '),
);

/** The names around the caret, the likeliest first. A name that occurs often is listed once. */
export function findCodeNames(document: DocumentText, position: Position): readonly CodeName[] {
  const language = findLanguage(document.languageId);
  const found = new Map<string, CodeName>();
  const add = (line: number, weight: number, imported = false): void => {
    for (const { name, character, member } of namesIn(document.lineAt(line), language, imported)) {
      const before = found.get(name);
      const own = member ? weight * 0.7 : weight;
      if (before === undefined || before.weight < own) found.set(name, { name, line, character, weight: own });
    }
  };
  const headers = enclosingLines(document, position);
  for (const [level, lines] of headers.entries()) for (const line of lines) add(line, Math.max(1.5, 3 - level * 0.75));
  const block = headers[0]?.at(-1) ?? 0;
  const first = Math.max(0, position.line - AROUND);
  const last = Math.min(document.lineCount - 1, position.line + AROUND);
  for (let line = first; line <= last; line++) {
    const inBlock = line > block && line <= position.line;
    const near = Math.abs(line - position.line) <= NEAR;
    add(line, line === position.line ? 4 : inBlock ? (near ? 2.5 : 1.8) : near ? 1 : 0.6);
  }
  const uses = countUses(document, position);
  for (const line of importLines(document)) {
    for (const { name, character } of namesIn(document.lineAt(line), language, true)) {
      // At the import, because a name near the caret may not be resolved yet.
      const weight = Math.max(found.get(name)?.weight ?? 0, 1) + Math.min(1.5, 0.3 * (uses.get(name) ?? 0));
      found.set(name, { name, line, character, weight });
    }
  }
  return [...found.values()].sort((a, b) => b.weight - a.weight);
}

/** The lines of import statements, also those with names on several lines. */
export function importLines(document: DocumentText): readonly number[] {
  const lines: number[] = [];
  let open = false;
  for (let line = 0; line < Math.min(document.lineCount, HEAD); line++) {
    const text = document.lineAt(line).slice(0, MAX_WIDTH);
    if (!open && !IMPORT.test(text.trimStart()) && !(/^\s+"[^"]+"$/.test(text) && document.languageId === 'go'))
      continue;
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
  if (own.trim() === '' && character === 0) indentation = Number.POSITIVE_INFINITY;
  const found: (readonly number[])[] = [];
  for (let at = line - 1; at >= Math.max(0, line - 400) && indentation > 0 && found.length < 4; at--) {
    const text = document.lineAt(at);
    if (text.trim() === '') continue;
    const depth = indentationOf(text);
    if (indentation === Number.POSITIVE_INFINITY) {
      if (!/[{(:[]\s*$/.test(text)) indentation = depth;
      else indentation = depth + 1;
    }
    if (depth >= indentation) continue;
    indentation = depth;
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
  for (const lines of enclosingLines(document, position)) {
    const text = lines.map((line) => document.lineAt(line).trim()).join(' ');
    if (
      /[(:]|=>|\bdo\b/.test(text) &&
      !/^(?:\} *)?(?:if|for|while|switch|else|elif|try|catch|except|with|match|loop|case|do|finally)\b/.test(text)
    )
      return text;
  }
  return '';
}

export function indentationOf(text: string): number {
  return text.length - text.trimStart().length;
}

function countUses(document: DocumentText, position: Position): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const from = Math.max(0, position.line - 200);
  for (let line = from; line < Math.min(document.lineCount, position.line + 200); line++) {
    for (const [name] of document.lineAt(line).slice(0, MAX_WIDTH).matchAll(NAME))
      uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  return uses;
}

function namesIn(line: string, language: Language, imported: boolean) {
  const text = withoutStrings(line.slice(0, MAX_WIDTH), language);
  const names: { name: string; character: number; member: boolean }[] = [];
  for (const { 0: name, index } of text.matchAll(NAME)) {
    if (KEYWORDS.has(name) || (imported && name.length < 2)) continue;
    names.push({
      name,
      character: index,
      member: /[.>:]\s*$/.test(text.slice(0, index)) && !/:\s+$/.test(text.slice(0, index)),
    });
  }
  return names;
}

/** Strings and comments become white space, so that columns remain. */
export function withoutStrings(line: string, { line: comment = '//', quotes }: Language): string {
  if (/^\s*(?:\*|\/\*|<!--)/.test(line)) return '';
  let out = line;
  for (const quote of quotes) {
    const parts = out.split(quote);
    out = parts
      .map((part, index) => (index % 2 === 1 && index < parts.length - 1 ? ' '.repeat(part.length) : part))
      .join(quote);
  }
  const end = out.indexOf(comment);
  return end < 0 ? out : out.slice(0, end);
}
