import {
  type CompletionModel,
  type CompletionSettings,
  DEFAULT_COMPLETION_SETTINGS,
} from '../../src/completion/document/completion-settings.ts';
import type { DocumentText, Position } from '../../src/completion/document/document-text.ts';
import type { Suggestion, SuggestRequest } from '../../src/completion/document/suggestion.ts';
import type { CompletionRequest } from '../../src/completion/request/completion-sender.ts';
import type { SendFimRequest } from '../../src/completion/request/request-log.ts';
import { Suggester, type SuggesterDeps } from '../../src/completion/suggester.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import type { Event } from '../../src/wire/event.ts';
import { VirtualClock } from './virtual-clock.ts';

export const MODEL: CompletionModel = { ref: 'oracle/fim', contextTokens: 32_000, cost: { input: 1, output: 2 } };

/** A document with a caret. Its text has LF line ends; `eol` is the line end that it reports. */
export class EditorFile {
  before: string;
  after: string;
  version = 1;
  uri = 'file:///work/a.ts';
  languageId = 'typescript';
  eol: '\n' | '\r\n' = '\n';

  constructor(text: string) {
    const caret = text.indexOf('|');
    this.before = caret < 0 ? text : text.slice(0, caret);
    this.after = caret < 0 ? '' : text.slice(caret + 1);
  }

  get document(): DocumentText {
    const lines = (this.before + this.after).split('\n');
    return {
      uri: this.uri,
      path: 'a.ts',
      languageId: this.languageId,
      version: this.version,
      eol: this.eol,
      lineCount: lines.length,
      lineAt: (line) => lines[line] ?? '',
    };
  }

  get position(): Position {
    const lines = this.before.split('\n');
    return { line: lines.length - 1, character: (lines.at(-1) ?? '').length };
  }
}

/** An editor with one document, the completion engine and a scripted model. */
export class EditorHarness {
  readonly clock = new VirtualClock();
  readonly requests: { fimRequest: SendFimRequest; stopped: boolean }[] = [];
  readonly grown: string[] = [];
  readonly log: string[] = [];
  settings: CompletionSettings = { ...DEFAULT_COMPLETION_SETTINGS, speculation: 'off' };
  /** Pieces of the answer to a FIM request, or an error. */
  answers: (fimRequest: SendFimRequest) => readonly string[] | SvcError = () => [];
  firstTextMs = 100;
  pieceMs = 20;
  finish: 'stop' | 'length' = 'stop';
  readonly suggester: Suggester;
  file: EditorFile;
  visible: readonly Suggestion[] = [];
  #controller = new AbortController();

  constructor(text: string, deps: Partial<SuggesterDeps> = {}) {
    this.file = new EditorFile(text);
    this.suggester = new Suggester({
      fill: () => this.fill,
      model: () => MODEL,
      settings: () => this.settings,
      clock: this.clock,
      log: (line) => this.log.push(line),
      ...deps,
    });
    this.suggester.onDidGrow((uri) => {
      this.grown.push(uri);
      this.requestSuggestion({ trigger: 'grown' });
    });
  }

  readonly fill: CompletionRequest = async function* (
    this: EditorHarness,
    fimRequest: SendFimRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Event> {
    const entry = { fimRequest, stopped: false };
    this.requests.push(entry);
    signal.addEventListener('abort', () => {
      entry.stopped = true;
    });
    await this.clock.sleep(this.firstTextMs);
    const answer = this.answers(fimRequest);
    if (answer instanceof SvcError) {
      yield { type: 'error', error: answer };
      return;
    }
    for (const text of answer) {
      if (signal.aborted) return;
      yield { type: 'text', part: 0, text };
      await this.clock.sleep(this.pieceMs);
    }
    yield { type: 'finish', reason: this.finish };
  }.bind(this);

  /** As VS Code shows it: without the indentation that it replaces. */
  get ghost(): string | undefined {
    const [first] = this.visible;
    if (first === undefined) return undefined;
    const { insertText, replaceBefore } = first;
    const replaced = this.file.before.slice(this.file.before.length - replaceBefore);
    if (replaced.trim() !== '') return insertText;
    return insertText.startsWith(replaced) ? insertText.slice(replaceBefore) : insertText.trimStart();
  }

  /** The text of the file after accepting the visible suggestion. */
  get preview(): string {
    const [first] = this.visible;
    const before = this.file.before.slice(0, this.file.before.length - (first?.replaceBefore ?? 0));
    return before + (first?.insertText ?? '') + this.file.after.slice(first?.replaceAfter ?? 0);
  }

  /** As in VS Code: cancels the previous call; an answer in the same tick is visible immediately. */
  requestSuggestion(options: Partial<SuggestRequest> = {}): void {
    this.#controller.abort();
    const controller = new AbortController();
    this.#controller = controller;
    const request: SuggestRequest = {
      document: this.file.document,
      position: this.file.position,
      trigger: 'automatic',
      ...options,
    };
    const result = this.suggester.suggest(request, controller.signal);
    if (Array.isArray(result)) {
      this.visible = result;
      return;
    }
    this.visible = [];
    void Promise.resolve(result).then((items) => {
      if (!controller.signal.aborted) this.visible = items;
    });
  }

  /** Replaces `deleted` characters before and `over` after the caret by `text`, and inserts `behind` after the caret. */
  edit(text: string, how: { deleted?: number; over?: number; behind?: string } = {}): void {
    this.change(text, how);
    this.requestSuggestion();
  }

  /** Like `edit`, but the editor has not requested suggestions yet. */
  change(text: string, { deleted = 0, over = 0, behind = '' } = {}): void {
    const end = this.file.position;
    this.file.before = this.file.before.slice(0, this.file.before.length - deleted);
    const start = this.file.position;
    this.file.before += text;
    this.file.after = behind + this.file.after.slice(over);
    this.file.version++;
    const change = { start, end: { line: end.line, character: end.character + over }, text: text + behind };
    this.suggester.documentChanged({ uri: this.file.uri, changes: [change] }, this.file.version);
  }

  async type(text: string, gapMs = 120): Promise<void> {
    for (const character of text) {
      this.edit(character);
      await this.clock.pass(gapMs);
    }
  }

  async backspace(count = 1, gapMs = 120): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.edit('', { deleted: 1 });
      await this.clock.pass(gapMs);
    }
  }

  accept(): void {
    const [first] = this.visible;
    if (first === undefined) return;
    this.visible = [];
    this.edit(first.insertText, { deleted: first.replaceBefore, over: first.replaceAfter });
  }
}
