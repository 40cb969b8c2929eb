import type { Clock } from '../../../src/completion/document/clock.ts';
import type { DocumentText, Position } from '../../../src/completion/document/document-text.ts';
import type { Suggestion } from '../../../src/completion/document/suggestion.ts';

/** VS Code lets this go by before it asks its providers (`InlineCompletionsDebounce` in its controller). */
const EDITOR_WAITS_MS = 50;

export interface Edit {
  readonly start: Position;
  readonly end: Position;
  readonly text: string;
}

/** What completes: ours or the plain reference. */
export interface Contestant {
  edited(edit: Edit): void;
  suggest(
    document: DocumentText,
    position: Position,
    signal: AbortSignal,
  ): readonly Suggestion[] | Promise<readonly Suggestion[]>;
  /** Calls back when the editor should ask again at the same place, until what it gives is called. */
  onDidGrow(listener: () => void): () => void;
}

export interface Ghost {
  readonly suggestion: Suggestion;
  readonly text: string;
  /** When the last of its text appeared. */
  readonly since: number;
}

/**
 * As much of an editor as inline completion meets: each edit cancels the call before and asks again,
 * ghost text that is typed shrinks by itself, an answer to a call that was not cancelled replaces it.
 */
export class Editor {
  before: string;
  after: string;
  ghost: Ghost | undefined;
  /** A visible suggestion gave way to something else although the typing agreed with it. */
  flicker = 0;
  readonly #contestant: Contestant;
  readonly #clock: Clock;
  readonly #appeared: () => void;
  readonly #leave: () => void;
  #controller = new AbortController();
  #lines: string[] | undefined;

  constructor(before: string, after: string, contestant: Contestant, clock: Clock, appeared: () => void) {
    this.before = before;
    this.after = after;
    this.#contestant = contestant;
    this.#clock = clock;
    this.#appeared = appeared;
    this.#leave = contestant.onDidGrow(() => this.#ask());
  }

  /** A closed editor asks nobody, whatever grows. */
  close(): void {
    this.#leave();
    this.#controller.abort();
  }

  /** Puts `text` at the caret over `over` characters behind and `deleted` before it; `behind` goes after the caret. */
  edit(text: string, { over = 0, deleted = 0, behind = '' } = {}): void {
    const caret = this.position;
    const start = { line: caret.line, character: caret.character - deleted };
    const end = { line: caret.line, character: caret.character + over };
    this.before = this.before.slice(0, this.before.length - deleted) + text;
    this.after = behind + this.after.slice(over);
    this.#lines = undefined;
    this.#typeThrough(deleted > 0 ? undefined : text);
    this.#contestant.edited({ start, end, text: text + behind });
    this.#ask();
  }

  /** The caret goes on over text that is there. The editor hides ghost text and asks nobody. */
  move(before: string, after: string): void {
    this.before = before;
    this.after = after;
    this.#lines = undefined;
    this.#controller.abort();
    this.ghost = undefined;
  }

  /** Accepts `text`, the start of what is shown or all of it. */
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
      version: 1,
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
    // Text that has grown has not been read to its end: it is as new as its newest line.
    const same = was !== undefined && first.insertText === was.text;
    this.ghost = { suggestion: first, text: first.insertText, since: same ? was.since : this.#clock.now() };
    this.#appeared();
  }

  /** The same, longer, or shorter by closers that the editor itself has put behind the caret since. */
  #continues(was: string, is: string): boolean {
    if (is.startsWith(was)) return true;
    // From the first closer on that stands behind the caret by now: accepted, it would be there twice.
    const cut = was.slice(is.length).trimStart()[0] ?? ' ';
    return was.startsWith(is) && ')]}"\'`'.includes(cut) && this.after.trimStart().startsWith(cut);
  }
}
