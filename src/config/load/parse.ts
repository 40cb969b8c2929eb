import { isUtf8 } from 'node:buffer';
import type { JSONScanner } from 'jsonc-parser';
import { withoutByteOrderMark } from '../../base/text.ts';
import { runAtOnce, type SlicedWork } from '../../base/time-slices.ts';
import type { Source } from '../settings/origin.ts';
import type { Diagnostic } from '../settings/settings.ts';
import type { Entry, ObjectTree, Place, Tree } from '../settings/tree.ts';
import { TextReader, type TextVisitor } from './text-reader.ts';

/** Maximum size of a configuration file in bytes. */
export const MAX_CONFIG_BYTES = 1024 * 1024;
/** Maximum nesting depth. It limits the recursion over a tree. */
const MAX_DEPTH = 100;
/** Maximum number of reported syntax errors of a file, and of reported duplicate keys. */
const MAX_REPORTED = 50;

export interface Parsed {
  /** Absent if the source is not a readable object. */
  readonly tree?: ObjectTree;
  readonly diagnostics: readonly Diagnostic[];
}

/** Decodes a file, or returns the problem. A byte order mark is accepted. */
export function decode(bytes: Uint8Array): { readonly text: string } | { readonly problem: string } {
  if (bytes.length > MAX_CONFIG_BYTES) {
    return { problem: `The file is larger than ${MAX_CONFIG_BYTES / 1024} KiB.` };
  }
  const [a, b] = bytes;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
    return { problem: 'The file is UTF-16. Save it as UTF-8.' };
  }
  if (bytes.includes(0)) return { problem: 'The file contains NUL bytes, so it is not UTF-8 text. Save it as UTF-8.' };
  if (!isUtf8(bytes)) return { problem: 'The file is not UTF-8 text. Save it as UTF-8.' };
  // Node loads TextDecoder on first use, which takes longer than reading most files.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return { text: withoutByteOrderMark(text) };
}

/** The user-visible message for each parser error. */
const SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: 'Unexpected text; strings and keys need double quotes',
  InvalidNumberFormat: 'Not a number',
  PropertyNameExpected: 'A key in double quotes is expected',
  ValueExpected: 'A value is expected',
  ColonExpected: 'A colon is expected',
  CommaExpected: 'A comma is expected',
  CloseBraceExpected: 'A closing } is missing',
  CloseBracketExpected: 'A closing ] is missing',
  EndOfFileExpected: 'Nothing may follow the outermost object',
  InvalidCommentToken: 'Not a comment',
  UnexpectedEndOfComment: 'The comment is not closed',
  UnexpectedEndOfString: 'The string is not closed',
  UnexpectedEndOfNumber: 'The number is not complete',
  InvalidUnicode: 'Not a \\u escape',
  InvalidEscapeCharacter: 'Invalid escape sequence; write \\\\ for a backslash',
  InvalidCharacter: 'A control character must be escaped',
};

interface Open {
  readonly tree: Tree;
  readonly entries?: Map<string, Entry>;
  readonly items?: Tree[];
  key?: { readonly name: string; readonly place: Place };
}

/** Builds the tree during parsing. */
class Builder implements TextVisitor {
  readonly diagnostics: Diagnostic[] = [];
  readonly #source: Source;
  readonly #stack: Open[] = [];
  /** Separate counters: warnings must not hide the error that makes the file invalid. */
  #errors = 0;
  #duplicates = 0;
  root: Tree | undefined;
  done = false;

  constructor(source: Source) {
    this.#source = source;
  }

  place(at: JSONScanner): Place {
    return {
      source: this.#source,
      line: at.getTokenStartLine() + 1,
      column: at.getTokenStartCharacter() + 1,
      length: Math.max(1, at.getTokenLength()),
    };
  }

  report(code: string, message: string, place: Place, severity: 'error' | 'warning' = 'error', suggestion?: string) {
    const key = this.#stack.flatMap((open) => (open.key === undefined ? [] : [open.key.name])).join('.');
    this.diagnostics.push(diagnosticAt(place, severity, code, key, message, suggestion));
  }

  open(type: 'object' | 'array', at: JSONScanner) {
    const place = this.place(at);
    if (this.#stack.length >= MAX_DEPTH) {
      this.report('too-deep', `Nested deeper than ${MAX_DEPTH} levels.`, place);
      this.done = true;
      return;
    }
    const open: Open = type === 'object' ? objectAt(place, new Map<string, Entry>()) : arrayAt(place, [] as Tree[]);
    this.#add(open.tree);
    this.#stack.push(open);
  }

  key(name: string, at: JSONScanner) {
    const top = this.#stack.at(-1);
    if (top?.entries === undefined) return;
    const place = this.place(at);
    top.key = { name, place };
    if (top.entries.has(name) && this.#duplicates < MAX_REPORTED) {
      this.#duplicates += 1;
      this.report('duplicate-key', `The key occurs twice in one object; this value is used.`, place, 'warning');
    }
  }

  scalar(value: string | number | boolean | null, at: JSONScanner) {
    this.#add({ type: 'scalar', place: this.place(at), value });
  }

  error(name: string, at: JSONScanner) {
    if (this.done || this.#errors >= MAX_REPORTED) return;
    this.#errors += 1;
    this.report('syntax', `${SYNTAX[name] ?? name}.`, this.place(at));
  }

  #add(tree: Tree) {
    const top = this.#stack.at(-1);
    if (top === undefined) this.root ??= tree;
    else if (top.items !== undefined) top.items.push(tree);
    else if (top.entries !== undefined && top.key !== undefined) {
      top.entries.set(top.key.name, { key: top.key.place, value: tree });
    }
  }

  close() {
    this.#stack.pop();
  }
}

function objectAt(place: Place, entries: Map<string, Entry>): Open {
  return { tree: { type: 'object', place, entries }, entries };
}

function arrayAt(place: Place, items: Tree[]): Open {
  return { tree: { type: 'array', place, items }, items };
}

/**
 * Parses JSONC (with comments and trailing commas) into a tree with positions. Never throws: each error has a line and
 * a column. An empty text, or one with comments only, is an empty object.
 */
export function parse(text: string, source: Source): Parsed {
  return runAtOnce(parseSteps(text, source));
}

/** Like `parse`, but yields regularly. */
export function* parseSteps(text: string, source: Source): SlicedWork<Parsed> {
  const builder = new Builder(source);
  yield* new TextReader(text, builder).read();
  const errors = builder.diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  if (errors) return { diagnostics: builder.diagnostics };
  const { root } = builder;
  if (root === undefined) {
    return {
      tree: { type: 'object', place: { source, line: 1, column: 1, length: 1 }, entries: new Map() },
      diagnostics: [],
    };
  }
  if (root.type !== 'object') {
    const name = root.type === 'array' ? 'an array' : 'a single value';
    builder.report('root-not-object', `The file must be one object, { … }, and is ${name}.`, root.place);
    return { diagnostics: builder.diagnostics };
  }
  return { tree: root, diagnostics: builder.diagnostics };
}

/** A diagnostic at a place. `key` is dotted. */
export function diagnosticAt(
  place: Place,
  severity: Diagnostic['severity'],
  code: string,
  key: string,
  message: string,
  suggestion?: string,
): Diagnostic {
  const { source, line, column, length } = place;
  const base = { severity, path: source.path, line, column, length, key, code, message };
  return suggestion === undefined ? base : { ...base, suggestion };
}
