import type { Clock } from '../../../src/completion/document/clock.ts';
import type { DocumentText, Position } from '../../../src/completion/document/document-text.ts';
import type { Suggestion } from '../../../src/completion/document/suggestion.ts';

/** VS Code waits this long before it calls its providers (`InlineCompletionsDebounce` in its controller). */
const EDITOR_WAITS_MS = 50;

export interface Edit {
  readonly start: Position;
  readonly end: Position;
  readonly text: string;
}

/** The completion engine: ours or the plain reference. */
export interface Contestant {
  /** @param version of the document after the edit. */
  edited(edit: Edit, version: number): void;
  suggest(
    document: DocumentText,
    position: Position,
    signal: AbortSignal,
  ): readonly Suggestion[] | Promise<readonly Suggestion[]>;
  /** Calls back when the editor should request again at the same position. Returns a function that unsubscribes. */
  onDidGrow(listener: () => void): () => void;
}

export interface Ghost {
  readonly suggestion: Suggestion;
  readonly text: string;
  /** When the last of its text appeared. */
  readonly since: number;
}

/**
 * The inline completion behaviour of an editor: each edit cancels the previous call and requests again,
 * ghost text that is typed shrinks by itself, an answer to a call that was not cancelled replaces it.
 */
export class Editor {
  before: string;
  after: string;
  ghost: Ghost | undefined;
  /** A visible suggestion was replaced although the typed text matched it. */
  flicker = 0;
  readonly #contestant: Contestant;
  readonly #clock: Clock;
  readonly #appeared: () => void;
  readonly #leave: () => void;
  #controller = new AbortController();
  #version = 1;
  #lines: string[] | undefined;

  constructor(before: string, after: string, contestant: Contestant, clock: Clock, appeared: () => void) {
    this.before = before;
    this.after = after;
    this.#contestant = contestant;
    this.#clock = clock;
    this.#appeared = appeared;
    this.#leave = contestant.onDidGrow(() => this.#ask());
  }

  /** A closed editor sends no request, even if a suggestion grows. */
  close(): void {
    this.#leave();
    this.#controller.abort();
  }

  /** Replaces `deleted` characters before and `over` after the caret by `text`; `behind` is inserted after the caret. */
  edit(text: string, { over = 0, deleted = 0, behind = '' } = {}): void {
    const caret = this.position;
    const start = { line: caret.line, character: caret.character - deleted };
    const end = { line: caret.line, character: caret.character + over };
    this.before = this.before.slice(0, this.before.length - deleted) + text;
    this.after = behind + this.after.slice(over);
    this.#lines = undefined;
    this.#version += 1;
    this.#typeThrough(deleted > 0 ? undefined : text);
    this.#contestant.edited({ start, end, text: text + behind }, this.#version);
    this.#ask();
  }

  /** Moves the caret over existing text. The editor hides ghost text and sends no request. */
  move(before: string, after: string): void {
    this.before = before;
    this.after = after;
    this.#lines = undefined;
    this.#controller.abort();
    this.ghost = undefined;
  }

  /** Accepts `text`: the visible suggestion or its start. */
  accept(text: string): void {
    const ghost = this.ghost;
    if (ghost === undefined) return;
    const whole = text === ghost.text;
    this.edit(text, { over: whole ? ghost.suggestion.replaceAfter : 0 });
    if (whole && ghost.suggestion.requestAfterAccept) this.#ask(0);
  }

  get position(): Position {
    const line = this.before.split('\n').length - 1;
    return { line, character: this.before.length - (this.before.lastIndexOf('\n') + 1) };
  }

  get document(): DocumentText {
    this.#lines ??= (this.before + this.after).split('\n');
    const lines = this.#lines;
    return {
      uri: 'file:///bench/fixture.ts',
      path: 'fixture.ts',
      languageId: 'typescript',
      version: this.#version,
      eol: '\n',
      lineCount: lines.length,
      lineAt: (line) => lines[line] ?? '',
    };
  }

  #typeThrough(text: string | undefined): void {
    const ghost = this.ghost;
    if (ghost === undefined) return;
    const rest = text !== undefined && ghost.text.startsWith(text) ? ghost.text.slice(text.length) : '';
    this.ghost = rest === '' ? undefined : { ...ghost, text: rest };
    if (this.ghost !== undefined) this.#appeared();
  }

  #ask(waitMs = EDITOR_WAITS_MS): void {
    this.#controller.abort();
    const controller = new AbortController();
    this.#controller = controller;
    this.#clock.after(waitMs, () => {
      if (controller.signal.aborted) return;
      const result = this.#contestant.suggest(this.document, this.position, controller.signal);
      if (!(result instanceof Promise)) this.#show(result);
      else
        void result.then((items) => {
          if (!controller.signal.aborted) this.#show(items);
        });
    });
  }

  #show(items: readonly Suggestion[]): void {
    const [first] = items;
    const was = this.ghost;
    if (was !== undefined && !this.#continues(was.text, first?.insertText ?? '')) this.flicker++;
    if (first === undefined) {
      this.ghost = undefined;
      return;
    }
    // A suggestion that has grown is as new as its newest line.
    const same = was !== undefined && first.insertText === was.text;
    this.ghost = { suggestion: first, text: first.insertText, since: same ? was.since : this.#clock.now() };
    this.#appeared();
  }

  /** The same text, longer, or without closers that the editor has inserted after the caret since. */
  #continues(was: string, is: string): boolean {
    if (is.startsWith(was)) return true;
    // Cut at the first closer that is now after the caret: accepting it would duplicate it.
    const cut = was.slice(is.length).trimStart()[0] ?? ' ';
    return was.startsWith(is) && ')]}"\'`'.includes(cut) && this.after.trimStart().startsWith(cut);
  }
}
