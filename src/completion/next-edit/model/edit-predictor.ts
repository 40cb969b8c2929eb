import { readEditAnswer, writeEditPrompt } from '../../../wire/edit/edit-dialect.ts';
import type { EditDialect, EditRequest } from '../../../wire/edit/edit-request.ts';
import type { Event } from '../../../wire/event.ts';
import { answerText } from '../../../wire/fold.ts';
import type { Clock } from '../../document/clock.ts';
import type { CompletionModel, CompletionSettings } from '../../document/completion-settings.ts';
import type { DocumentText, Position } from '../../document/document-text.ts';
import { chooseSnippets, describeSnippet, headingOf, type Snippet } from '../../prompt/context.ts';
import { promptBudget } from '../../prompt/prompt-window.ts';
import { insideSecret } from '../../prompt/redact.ts';
import type { OpenCircuit } from '../../request/circuit-breaker.ts';
import {
  type ModelRequest,
  RequestEngine,
  type RequestOutcome,
  type SharedLimits,
} from '../../request/request-engine.ts';
import type { LastEditRequest, SentEditRequest } from '../../request/request-log.ts';
import type { FoundEdit } from '../edit-checks.ts';
import type { EditTracker } from '../edit-tracker.ts';
import { AnswerCache, moveEdit, type PendingAnswer } from './answer-cache.ts';
import { answerEdits } from './answer-edits.ts';
import type { PlacedEdit, RecentWork } from './edit-filters.ts';
import { codeAround } from './edit-region.ts';
import { maskRequest } from './mask-request.ts';
import { recentEdit, undoEdit } from './recent-edits.ts';

/** The model of next edits, as far as the engine needs to know it. */
export interface NextEditModel extends CompletionModel {
  readonly dialect: EditDialect;
}

/** Sends a request and yields the answer. Closes the connection when `signal` fires. */
export type SendEditRequest = (
  request: EditRequest,
  options: { readonly maxTokens: number },
  signal: AbortSignal,
) => AsyncIterable<Event>;

export interface EditPredictorDeps {
  /** Undefined: no model predicts edits. `manual`: the user asked, a chat model may answer too. */
  readonly model?: (manual: boolean) => NextEditModel | undefined;
  readonly predict?: (model: NextEditModel) => SendEditRequest;
  readonly settings: () => CompletionSettings;
  readonly excluded?: (uri: string) => unknown;
  readonly limits?: SharedLimits;
  /** The context that completions have for a document. */
  readonly context?: (uri: string) => readonly Snippet[];
  /** Called with one line per request. */
  readonly log?: (line: string) => void;
}

interface Place {
  readonly document: DocumentText;
  readonly position: Position;
}

interface FindOptions {
  readonly manual: boolean;
  /** Asked directly before a request. */
  readonly mayAsk: () => boolean;
  /** False for an edit that the user has rejected. */
  readonly isWanted: (edit: FoundEdit) => boolean;
}

interface Asked extends Place {
  readonly model: NextEditModel;
  readonly request: EditRequest;
  readonly secrets: ReadonlyMap<string, string>;
  readonly sent: SentEditRequest;
  readonly edits: readonly PlacedEdit[];
  readonly work: RecentWork;
  readonly pending: PendingAnswer;
  readonly above: string | undefined;
  /** The region has the last line of the document. */
  readonly atEnd: boolean;
}

/** Recent edits that a request shows. */
const EDITS = 6;
/** Context that shows what the user works on. */
const WORK: ReadonlySet<Snippet['kind']> = new Set(['problem', 'copied', 'terminal']);
/** Pieces of other files that a request shows. */
const SNIPPETS = 3;
/** Tokens of an answer: those of the region, and some more. */
const CHARACTERS_PER_TOKEN = 3;
const MORE_TOKENS = 256;
const MAX_TOKENS = 2048;
/** Characters. The answer of a server that ignores the number of tokens is not read to its end. */
const MAX_ANSWER = 100_000;
/** Pause between requests when the budget is almost spent. */
const SLOW_MS = 5_000;

/** Asks a model which edits follow. One request runs at a time. */
export class EditPredictor {
  readonly #deps: EditPredictorDeps;
  readonly #clock: Clock;
  readonly #tracker: EditTracker;
  readonly #cache = new AnswerCache();
  readonly #requests: RequestEngine<ModelRequest & { readonly sent: SentEditRequest }>;
  #lastSent = Number.NEGATIVE_INFINITY;
  /** The user asked for the request that runs. */
  #byHand = false;

  constructor(deps: EditPredictorDeps, clock: Clock, tracker: EditTracker) {
    this.#deps = deps;
    this.#clock = clock;
    this.#tracker = tracker;
    this.#requests = new RequestEngine(clock, deps.log, deps.limits);
  }

  /** The last request exactly as it was sent. */
  get lastRequest(): LastEditRequest | undefined {
    return this.#requests.lastRequest;
  }

  /** Why no requests are sent for now. */
  get problem(): OpenCircuit | undefined {
    return this.#requests.open;
  }

  dispose(): void {
    this.#requests.stop();
  }

  documentChanged: AnswerCache['documentChanged'] = (uri, change) => this.#cache.documentChanged(uri, change);

  /** The answers for a document do not hold any more. */
  forget(uri: string): void {
    this.#cache.forget(uri);
    this.#requests.stop(uri);
  }

  /** The user has removed an obstacle, or asks for a retry. */
  reconsider(): void {
    this.#requests.reset();
  }

  /**
   * The edits that a model proposes, the nearest to the cursor first. A known answer needs no request. A request
   * continues after `signal` has fired: its answer is kept.
   */
  async find(place: Place, { manual, mayAsk, isWanted }: FindOptions): Promise<readonly FoundEdit[]> {
    const model = this.#deps.model?.(manual);
    // Any chat model can answer, but each answer costs as much as a message.
    if (model === undefined || (!manual && model.dialect === 'chat-patch')) return [];
    const known = this.#cache.find(place.document, place.position.line, model.ref, this.#clock.now());
    if (known?.edits.some(isWanted) || (known?.exact && !manual)) return known.edits;
    if (!manual && !(mayAsk() && this.#isAffordable() && this.#hasSlot(model))) return [];
    const circuit = this.#requests.circuitFor(model);
    if (manual) circuit.reset();
    const asked = this.#createRequest(place, model);
    if (asked === undefined || !circuit.admits()) return [];
    this.#byHand = manual;
    await this.#send(asked);
    return this.#findAnswer(asked);
  }

  /** The slot of the model's server is wanted for something else, or it loads the model. A request of the user goes on. */
  yieldSlot(ref: string): void {
    this.#requests.stopModel(ref, () => !this.#byHand);
  }

  /** Completions and chats come first. The request that runs is replaced. */
  #hasSlot({ ref, slots = Number.POSITIVE_INFINITY, loading }: NextEditModel): boolean {
    return !loading && slots > (this.#deps.limits?.running(ref) ?? 0);
  }

  #isAffordable(): boolean {
    const level = this.#requests.budget.level(this.#deps.settings().budgetPerHour);
    return level === 'normal' || (level === 'slow' && this.#clock.now() - this.#lastSent > SLOW_MS);
  }

  #findAnswer({ document: { uri }, position, model, pending }: Asked): readonly FoundEdit[] {
    const now = this.#tracker.document(uri);
    if (now === undefined) return [];
    const line = Math.min(Math.max(position.line, pending.first), pending.first + pending.lineCount - 1);
    return this.#cache.find(now, line, model.ref, this.#clock.now())?.edits ?? [];
  }

  /** Undefined: there is nothing that can be sent. */
  #createRequest({ document, position }: Place, model: NextEditModel): Asked | undefined {
    const { code, lines = [] } = codeAround(document, position, model.dialect) ?? {};
    if (code === undefined || insideSecret(code.region, code.cursor)) return undefined;
    const first = code.startLine - 1;
    const atEnd = first + lines.length === document.lineCount;
    const edits = this.#tracker.history.recent(EDITS).filter(({ uri }) => this.#deps.excluded?.(uri) === undefined);
    const own = edits.filter(({ uri }) => uri === document.uri);
    const last = edits.at(-1);
    const original = last?.uri === document.uri ? undoEdit(lines, first, last) : undefined;
    const context = chooseSnippets(this.#deps.context?.(document.uri) ?? [], promptBudget(model).context);
    const snippets: readonly Snippet[] = [
      // The request has the edits already.
      ...context.filter(({ kind }) => kind !== 'recent-edit').map((each) => ({ ...each, path: headingOf(each) })),
      ...this.#tracker
        .snippets(document.uri, SNIPPETS)
        .filter(({ uri }) => this.#deps.settings().context.recentEdits && this.#deps.excluded?.(uri) === undefined),
    ];
    const secrets = new Map<string, string>();
    const request: EditRequest = maskRequest(
      {
        ...code,
        path: document.path ?? 'untitled',
        ...(original === undefined ? {} : { original: original.join('\n') + (atEnd ? '' : '\n') }),
        edits: edits.flatMap((edit) => this.#recentEdit(edit)),
        snippets: snippets.map(({ path, text }) => ({ path, text })),
      },
      secrets,
    );
    const prompt = promptText(model.dialect, request);
    if (prompt === undefined) return undefined;
    const sent: SentEditRequest = {
      kind: 'edit',
      model: model.ref,
      languageId: document.languageId,
      dialect: model.dialect,
      prompt,
      maxTokens: maxTokens(request),
      context: [...new Set([...request.edits.map(({ path }) => path), ...snippets.map(describeSnippet)])],
      masked: secrets.size,
    };
    const { uri } = document;
    const pending = { uri, model: model.ref, region: lines, at: this.#clock.now(), first, lineCount: lines.length };
    const above = first === 0 ? undefined : document.lineAt(first - 1);
    const notes = context.filter(({ kind }) => WORK.has(kind)).map(({ text }) => text);
    return {
      document,
      position,
      model,
      request,
      secrets,
      sent,
      edits: own,
      work: { edits, notes },
      pending,
      above,
      atEnd,
    };
  }

  #recentEdit(edit: PlacedEdit) {
    const path = this.#tracker.document(edit.uri)?.path;
    return path === undefined ? [] : (recentEdit(edit, path) ?? []);
  }

  async #send(asked: Asked): Promise<void> {
    const { model, request, sent, pending } = asked;
    const { uri, first } = pending;
    const send = this.#deps.predict?.(model);
    if (send === undefined) return;
    this.#requests.stop();
    this.#cache.follow(pending);
    this.#lastSent = this.#clock.now();
    const { promise, resolve } = Promise.withResolvers<RequestOutcome>();
    this.#requests.send({
      uri,
      model,
      sent,
      characters: sent.prompt.length,
      send: (signal) => send(request, { maxTokens: sent.maxTokens }, signal),
      received: (_, length) => length > MAX_ANSWER,
      ended: resolve,
    });
    const { answer, stopped, error } = await promise;
    const whole = answer.finish === 'stop' && !stopped && error === undefined;
    const edits = whole ? this.#readEdits(asked, answerText(answer)).map((edit) => moveEdit(edit, -first)) : undefined;
    this.#cache.settle(pending, edits);
  }

  #readEdits(
    { document, position, model, request, secrets, edits, work, above, atEnd }: Asked,
    text: string,
  ): readonly FoundEdit[] {
    const rewritten = readEditAnswer(model.dialect, request, text);
    if (rewritten === undefined) return [];
    const { region, startLine } = request;
    const masked = [...secrets.keys()];
    const first = startLine - 1;
    const seen = request.snippets.map(({ text }) => text);
    const around = { document, first, region, above, atEnd, masked, cursor: position.line };
    return answerEdits({ ...around, rewritten, edits, seen, work });
  }
}

function maxTokens({ region }: EditRequest): number {
  return Math.min(MAX_TOKENS, Math.ceil(region.length / CHARACTERS_PER_TOKEN) + MORE_TOKENS);
}

/** Undefined: the code contains the marks of the format. */
function promptText(dialect: EditDialect, request: EditRequest): string | undefined {
  try {
    const { system, text } = writeEditPrompt(dialect, request);
    return system === undefined ? text : `${system}\n\n${text}`;
  } catch {
    return undefined;
  }
}
