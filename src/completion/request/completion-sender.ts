import { onAbort } from '../../base/concurrency.ts';
import { defined } from '../../base/json.ts';
import type { Event } from '../../wire/event.ts';
import { CompletionTrimmer } from '../answer/completion-trimmer.ts';
import type { CachedAnswer, SuggestionCache } from '../cache/suggestion-cache.ts';
import type { CaretView } from '../document/caret-view.ts';
import type { Clock } from '../document/clock.ts';
import type { CompletionModel, CompletionSettings } from '../document/completion-settings.ts';
import type { DocumentText, Position } from '../document/document-text.ts';
import type { ContextSource, Snippet } from '../prompt/context.ts';
import { type ContextOptions, KeptContext } from '../prompt/kept-context.ts';
import { buildPrompt, type PromptRequest } from '../prompt/prompt-builder.ts';
import { promptBudget } from '../prompt/prompt-window.ts';
import { SecretRestorer } from '../prompt/redact.ts';
import type { SuggesterStateOwner } from '../suggester-state.ts';
import type { NotSent } from '../trigger/trigger.ts';
import { AdaptiveDebounce } from './adaptive-debounce.ts';
import { type ModelRequest, RequestEngine, type RequestOutcome, type RunningRequest } from './request-engine.ts';
import { type SendFimRequest, type SentRequest, sentCharacters } from './request-log.ts';

/** Sends a FIM request and yields the answer as it streams. Closes the connection when `signal` fires. */
export type CompletionRequest = (fimRequest: SendFimRequest, signal: AbortSignal) => AsyncIterable<Event>;

export interface CompletionSenderDeps {
  readonly fill: (model: CompletionModel) => CompletionRequest;
  readonly settings: () => CompletionSettings;
  /** Why a file must not be sent (exclusion.ts); `undefined`: it may be sent. Takes a URI or a snippet's path. */
  readonly excluded?: (uriOrPath: string) => NotSent | undefined;
  readonly context?: ContextSource;
  /** A request leaves no slot of the model's server to next edits. */
  readonly yieldSlot?: (ref: string) => void;
  /** Called with one line per request. */
  readonly log?: (line: string) => void;
}

/** How a request ended. `outdated`: it failed, but was sent before a key, the model or a setting changed. */
export type RequestEnd = 'answered' | 'failed' | 'outdated';

interface SendingEvents {
  readonly grew: (answer: CachedAnswer, uri: string) => void;
  readonly ended: (answer: CachedAnswer, uri: string, end: RequestEnd) => void;
}

type Place = Pick<CaretView, 'document' | 'position' | 'model' | 'request'>;

interface SendOptions {
  readonly reason: SentRequest['reason'];
  readonly temperature?: number;
  /** For speculation: the answer that must be accepted before this one applies. */
  readonly basis?: CachedAnswer;
}

interface AnswerRequest extends ModelRequest {
  readonly sent: SentRequest;
  readonly answer: CachedAnswer;
  readonly basis: CachedAnswer | undefined;
}

/** Builds the requests for completions, and keeps their answers in the cache while they stream. */
export class CompletionSender {
  readonly requests: RequestEngine<AnswerRequest>;
  readonly debounce: AdaptiveDebounce;
  readonly #deps: CompletionSenderDeps;
  readonly #clock: Clock;
  readonly #cache: SuggestionCache;
  readonly #state: SuggesterStateOwner;
  readonly #context: KeptContext;
  readonly #events: SendingEvents;
  #waiting = new Set<() => void>();
  #warming: { readonly uri: string; readonly abort: AbortController } | undefined;

  constructor(
    deps: CompletionSenderDeps,
    clock: Clock,
    owners: { readonly cache: SuggestionCache; readonly state: SuggesterStateOwner },
    events: SendingEvents,
  ) {
    this.#deps = deps;
    this.#cache = owners.cache;
    this.#state = owners.state;
    this.#events = events;
    this.#clock = clock;
    this.requests = new RequestEngine(clock, deps.log);
    this.debounce = new AdaptiveDebounce(clock);
    this.#context = new KeptContext(clock, deps.context);
  }

  /** The running request for an answer. */
  requestFor(answer: CachedAnswer): RunningRequest<AnswerRequest> | undefined {
    for (const running of this.requests.running) if (running.request.answer === answer) return running;
    return undefined;
  }

  /** Resolves when any answer grows or ends, or after `ms`; with `false` if `signal` fired first. */
  change(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        cancel();
        remove();
        resolve(!signal.aborted);
      };
      const cancel = this.#clock.after(ms, done);
      const remove = onAbort(signal, done);
      this.#waiting.add(done);
    });
  }

  documentClosed(uri: string): void {
    this.#context.forget(uri);
    if (this.#warming?.uri === uri) this.stopWarming();
    this.requests.stop(uri);
  }

  snippets({ document, position, model }: CaretView): Promise<readonly Snippet[]> {
    return this.#context.at(document, position, this.#contextOptions(model));
  }

  /** Gathers context for a request that is likely. */
  prepare(document: DocumentText, position: Position, model: CompletionModel): void {
    this.#context.prepare(document, position, this.#contextOptions(model));
  }

  /**
   * Lets a server of one user compute the prompt of a document before its text is wanted: the slot keeps it. A request
   * ends that. Its answer and its errors are ignored.
   */
  async warm(view: CaretView): Promise<void> {
    const { document, position, model } = view;
    if (!model.slots || this.requests.running.size > 0 || this.requests.circuitFor(model).open) return;
    this.stopWarming();
    const abort = new AbortController();
    const { signal } = abort;
    this.#warming = { uri: document.uri, abort };
    const snippets = await this.snippets(view);
    const prompt = buildPrompt(document, position, snippets, { model, maxLines: this.#deps.settings().maxLines });
    if (prompt === undefined || signal.aborted) return;
    try {
      // One token is the least that servers write.
      for await (const event of this.#deps.fill(model)({ ...prompt.fimRequest, maxTokens: 1 }, signal)) {
        if (event.type === 'text') break;
      }
    } catch {
      // The next request reports it.
    }
  }

  stopWarming(): void {
    this.#warming?.abort.abort();
    this.#warming = undefined;
  }

  /** The context of a document that is there now. */
  knownContext(uri: string): readonly Snippet[] {
    return this.#context.known(uri, this.#allowed());
  }

  #contextOptions(model: CompletionModel): ContextOptions {
    return { ...this.#allowed(), room: promptBudget(model).context };
  }

  #allowed(): Omit<ContextOptions, 'room'> {
    return {
      wanted: this.#deps.settings().context,
      excluded: (path) => this.#deps.excluded?.(path) !== undefined,
    };
  }

  /** Sends a request, unless the caret is inside a secret. Returns false if the circuit breaker is open. */
  send(place: Place, snippets: readonly Snippet[], options: SendOptions): boolean {
    const { document, position, request } = place;
    const model = this.requests.usable(place.model);
    const prompt = buildPrompt(document, position, snippets, {
      model,
      maxLines: this.#deps.settings().maxLines,
      ...defined({ indentation: request.indentation, temperature: options.temperature }),
    });
    if (prompt === undefined) return true;
    const circuit = this.requests.circuitFor(model);
    // While the circuit breaker is open, a request that tries the server goes on.
    if (circuit.open === undefined && !this.#makeRoom(place, model, options)) return true;
    if (!circuit.admits()) {
      // A next edit may have failed.
      if (this.#state.current.kind !== 'problem') this.#updateState(place.model);
      return false;
    }
    this.stopWarming();
    const { fimRequest, context, secrets } = prompt;
    const sent: SentRequest = {
      kind: 'fim',
      model: model.ref,
      languageId: document.languageId,
      fimRequest,
      context,
      masked: secrets.size,
      reason: options.reason,
    };
    this.debounce.sent();
    this.#state.become({ kind: 'asking' });
    this.#start(place, model, prompt, sent, options.basis);
    return true;
  }

  /**
   * Stops what the request replaces. False: the server has no slot for it. A request whose answer fits what was typed
   * since keeps its slot, because it is nearer to its answer than a new one; what is requested in advance waits.
   */
  #makeRoom(place: Place, { slots, ...model }: CompletionModel, { basis, reason }: SendOptions): boolean {
    // A request of the user waits behind a chat.
    const free = defined({ slots: reason === 'invoke' && slots === 0 ? 1 : slots });
    if (basis !== undefined) return this.requests.makeRoom({ ...model, ...free }, () => false);
    this.#stopContradicted(place);
    const { uri } = place.document;
    const wanted = { ...model, ...free };
    if (!this.requests.makeRoom(wanted, (request) => request.uri !== uri || request.basis !== undefined)) return false;
    // This request takes one of them.
    if (this.requests.freeSlots(wanted) <= 1) this.#deps.yieldSlot?.(model.ref);
    return true;
  }

  /** @param model the one that gets the request. Its answer is for the model of the place. */
  #start(
    { document, position, model: wanted }: Place,
    model: CompletionModel,
    { fimRequest, secrets, site }: PromptRequest,
    sent: SentRequest,
    basis: CachedAnswer | undefined,
  ): void {
    const answer = this.#cache.open(document, position, wanted.ref);
    const { uri } = document;
    const fill = this.#deps.fill(model);
    const trimmer = new CompletionTrimmer(site);
    const restorer = new SecretRestorer(secrets);
    const add = (text: string): void => {
      trimmer.push(text);
      this.#grow(answer, trimmer, uri);
    };
    this.requests.send({
      uri,
      model,
      sent,
      answer,
      basis,
      characters: sentCharacters(fimRequest),
      send: (signal) => fill(fimRequest, signal),
      received: (text) => {
        add(restorer.push(text));
        return trimmer.enough;
      },
      ended: (outcome) => {
        add(restorer.end());
        const { stopped, error } = outcome;
        trimmer.end(!stopped && error === undefined && outcome.answer.finish === 'stop');
        answer.done = true;
        answer.cut = trimmer.cut;
        this.#grow(answer, trimmer, uri);
        this.#handleOutcome(answer, wanted, outcome);
        const failed = outcome.outdated ? 'outdated' : 'failed';
        this.#events.ended(answer, uri, error === undefined ? 'answered' : failed);
        this.#notifyWaiting();
      },
    });
  }

  #grow(answer: CachedAnswer, { text }: CompletionTrimmer, uri: string): void {
    if (text.length === answer.text.length && !answer.done) return;
    const grown = text.length > answer.text.length;
    answer.text = text;
    if (grown) {
      this.#cache.grew(answer);
      this.#events.grew(answer, uri);
    }
    this.#notifyWaiting();
  }

  #notifyWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const done of waiting) done();
  }

  #handleOutcome(
    answer: CachedAnswer,
    model: CompletionModel,
    { error, received, stopped, firstText }: RequestOutcome,
  ): void {
    if (firstText !== undefined) this.debounce.answered(firstText);
    // Do not cache a failure as an empty answer.
    if (answer.text === '' && (error !== undefined || (stopped && received === 0))) this.#cache.delete(answer);
    this.#updateState(model);
  }

  #updateState(model: CompletionModel): void {
    const { open } = this.requests.circuitFor(this.requests.usable(model));
    if (open !== undefined) {
      this.#state.become({ kind: 'problem', error: open.error, needsUser: open.needsUser });
    } else if (this.requests.running.size === 0) this.#state.become({ kind: 'ready' });
  }

  /** Stops requests whose answers contradict the typed text, when another request replaces them. */
  #stopContradicted({ document, position, model }: Place): void {
    const agreeing = new Set(this.#cache.find(document, position, model.ref).map(({ answer }) => answer));
    for (const { request, stop } of this.requests.running) {
      const { uri, answer, basis } = request;
      if (uri !== document.uri || agreeing.has(answer)) continue;
      if (basis !== undefined && agreeing.has(basis)) continue;
      stop();
      this.debounce.judged(answer.seen);
    }
  }
}
