import assert from 'node:assert/strict';
import {
  type CompletionSettings,
  DEFAULT_COMPLETION_SETTINGS,
} from '../../../src/completion/document/completion-settings.ts';
import type { DocumentText, Position } from '../../../src/completion/document/document-text.ts';
import type { DocumentChange } from '../../../src/completion/document/suggestion.ts';
import type { NextEdit, Replacement } from '../../../src/completion/next-edit/next-edit.ts';
import { NextEdits, type NextEditsDeps } from '../../../src/completion/next-edit/next-edits.ts';
import { VirtualClock } from '../virtual-clock.ts';

const KEY_MS = 80;

type Change = DocumentChange['changes'][number];

/** A document that can be changed. Each `document` is the text as it is then. */
export class TestDocument {
  readonly uri: string;
  lines: readonly string[];
  version = 1;

  constructor(uri: string, text: string) {
    this.uri = uri;
    this.lines = text.split('\n');
  }

  get text(): string {
    return this.lines.join('\n');
  }

  get document(): DocumentText {
    const { uri, lines, version } = this;
    return {
      uri,
      path: uri.replace('file:///work/', ''),
      languageId: uri.endsWith('.py') ? 'python' : 'typescript',
      version,
      eol: '\n',
      lineCount: lines.length,
      lineAt: (line) => lines[line] ?? '',
    };
  }

  /** The position of a text; `nth` counts from 0. */
  find(text: string, nth = 0): Position {
    let at = this.text.indexOf(text);
    for (let found = 0; found < nth && at >= 0; found++) at = this.text.indexOf(text, at + 1);
    assert.ok(at >= 0, `no ${text} in ${this.text}`);
    return positionAt(this.text, at);
  }

  /** Changes do not overlap. */
  apply(changes: readonly Change[]): void {
    let text = this.text;
    for (const { start, end, text: inserted } of [...changes].sort(
      (a, b) => this.#offset(b.start) - this.#offset(a.start),
    ))
      text = text.slice(0, this.#offset(start)) + inserted + text.slice(this.#offset(end));
    this.lines = text.split('\n');
    this.version++;
  }

  #offset({ line, character }: Position): number {
    return this.lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  }
}

/** An editor with documents and one cursor, and the engine of next edits. */
export class NextEditHarness {
  readonly clock = new VirtualClock();
  settings: CompletionSettings = DEFAULT_COMPLETION_SETTINGS;
  readonly engine: NextEdits;
  readonly documents = new Map<string, TestDocument>();
  /** All values of `current`. */
  readonly drawn: (NextEdit | undefined)[] = [];
  active: TestDocument;
  position: Position = { line: 0, character: 0 };

  constructor(text: string, deps: Partial<NextEditsDeps> = {}, uri = 'file:///work/a.ts') {
    this.engine = new NextEdits({ sources: [], settings: () => this.settings, clock: this.clock, ...deps });
    this.engine.onDidChange((current) => this.drawn.push(current));
    this.active = this.open(uri, text);
    this.moveTo({ line: 0, character: 0 });
  }

  get text(): string {
    return this.active.text;
  }

  get current(): NextEdit | undefined {
    return this.engine.current;
  }

  /** The changed lines of the current edit after it, one string: `3: const userId = 1;` */
  get shown(): string | undefined {
    const { current } = this;
    if (current === undefined) return undefined;
    const target = this.documents.get(current.uri);
    assert.ok(target);
    const copy = new TestDocument(current.uri, target.text);
    copy.apply(current.replacements);
    return current.replacements
      .map(({ start }) => `${start.line + 1}: ${(copy.lines[start.line] ?? '').trim()}`)
      .join('; ');
  }

  open(uri: string, text: string): TestDocument {
    const document = new TestDocument(uri, text);
    this.documents.set(uri, document);
    return document;
  }

  show(document: TestDocument): void {
    this.active = document;
    this.moveTo({ line: 0, character: 0 });
  }

  moveTo(position: Position, quiet = false): void {
    this.position = position;
    this.engine.cursorMoved(this.active.document, position, quiet);
  }

  change(changes: readonly Change[], reason?: 'undo' | 'redo', target = this.active): void {
    target.apply(changes);
    const change: DocumentChange = { uri: target.uri, changes, ...(reason === undefined ? {} : { reason }) };
    this.engine.documentChanged(change, target.document);
  }

  /** Types at the cursor, a key each 80 ms. */
  async type(text: string): Promise<void> {
    for (const key of text) {
      this.#put(this.position, key);
      await this.clock.pass(KEY_MS);
    }
  }

  async backspace(count: number): Promise<void> {
    for (let done = 0; done < count; done++) {
      const { line, character } = this.position;
      this.change([{ start: { line, character: character - 1 }, end: this.position, text: '' }]);
      this.moveTo({ line, character: character - 1 });
      await this.clock.pass(KEY_MS);
    }
  }

  /** Selects the nth occurrence of a text, types another one over it, and waits until the edit has settled. */
  async replace(old: string, text: string, nth = 0): Promise<void> {
    const start = this.active.find(old, nth);
    this.moveTo(start);
    await this.clock.pass(KEY_MS);
    this.#put(positionAfter(start, old), text.slice(0, 1), start);
    await this.clock.pass(KEY_MS);
    await this.type(text.slice(1));
    await this.settle();
  }

  settle(): Promise<void> {
    return this.clock.pass(1_000);
  }

  /** Accepts the current edit as a front end does. */
  async accept(): Promise<void> {
    const { current } = this;
    assert.ok(current, 'an edit is shown');
    const target = this.documents.get(current.uri);
    assert.ok(target);
    this.engine.accepted(current);
    this.active = target;
    for (const replacement of current.replacements) assert.equal(textOf(target, replacement), replacement.expected);
    this.change(current.replacements);
    this.moveTo(current.replacements[0]?.start ?? { line: 0, character: 0 });
    await this.clock.pass(50);
  }

  #put(end: Position, text: string, start = end): void {
    this.change([{ start, end, text }]);
    this.moveTo(positionAfter(start, text));
  }
}

export function textOf({ text, lines }: TestDocument, { start, end }: Replacement): string {
  const offset = ({ line, character }: Position): number =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0) + character;
  return text.slice(offset(start), offset(end));
}

export function positionAt(text: string, offset: number): Position {
  const lines = text.slice(0, offset).split('\n');
  return { line: lines.length - 1, character: (lines.at(-1) ?? '').length };
}

function positionAfter(start: Position, text: string): Position {
  const lines = text.split('\n');
  const last = lines.at(-1) ?? '';
  const line = start.line + lines.length - 1;
  return { line, character: lines.length === 1 ? start.character + last.length : last.length };
}
