import { KeptContext, type Question, questionFor } from './asking.ts';
import type { CaretView } from './caret-view.ts';
import { Circuit } from './circuit.ts';
import type { Clock } from './clock.ts';
import type { CompletionModel, CompletionSettings } from './completion-settings.ts';
import type { ContextSource, Snippet } from './context.ts';
import { Governor } from './governor.ts';
import { type Fill, InFlight, type Landing } from './in-flight.ts';
import { Pace } from './pace.ts';
import { Restoring } from './redact.ts';
import { RequestLog, type SentRequest } from './request-log.ts';
import { Settling } from './stop.ts';
import type { StateOwner } from './suggester-state.ts';
import type { Answer, SuggestionCache } from './suggestion-cache.ts';
import type { NotSent } from './trigger.ts';

export interface SendingPorts {
  readonly fill: (model: CompletionModel) => Fill;
  readonly settings: () => CompletionSettings;
  /** Why a file must not be sent (exclusion.ts), `undefined`: it may. By uri, or by a snippet's path. */
  readonly excluded?: (uriOrPath: string) => NotSent | undefined;
  readonly context?: ContextSource;
  /** One line a request. */
  readonly log?: (line: string) => void;
}

interface SendingEvents {
  readonly grew: (answer: Answer, uri: string) => void;
  /** `failed`: there is no answer because of an error. */
  readonly landed: (answer: Answer, uri: string, failed: boolean) => void;
}

type Place = Pick<CaretView, 'document' | 'position' | 'model' | 'request'>;

interface Manner {
  readonly reason: SentRequest['reason'];
  readonly temperature?: number;
  /** The answer after whose acceptance this one starts. */
  readonly basis?: Answer;
}

/** Requests from the decision to send one until what became of it is counted, logged and kept. */
export class Sending {
  readonly inFlight: InFlight;
  readonly pace: Pace;
  readonly governor: Governor;
  readonly circuit: Circuit;
  readonly #log: RequestLog;
  readonly #ports: SendingPorts;
  readonly #clock: Clock;
  readonly #cache: SuggestionCache;
  readonly #state: StateOwner;
  readonly #context: KeptContext;
  readonly #events: SendingEvents;

  constructor(
    ports: SendingPorts,
    clock: Clock,
    owners: { readonly cache: SuggestionCache; readonly state: StateOwner },
    events: SendingEvents,
  ) {
    this.#ports = ports;
    this.#clock = clock;
    this.#cache = owners.cache;
    this.#state = owners.state;
    this.#events = events;
    this.inFlight = new InFlight(clock);
    this.pace = new Pace(clock);
    this.governor = new Governor(clock);
    this.circuit = new Circuit(clock);
    this.#context = new KeptContext(clock, ports.context);
    this.#log = new RequestLog(ports.log);
  }

  get lastRequest(): SentRequest | undefined {
    return this.#log.last;
  }

  documentClosed(uri: string): void {
    this.#context.forget(uri);
    for (const flight of this.inFlight.flights) if (flight.uri === uri) flight.stop();
  }

  snippets({ document, position }: CaretView): Promise<readonly Snippet[]> {
    const excluded = (path: string): boolean => this.#ports.excluded?.(path) !== undefined;
    return this.#context.at(document, position, this.#ports.settings().context, excluded);
  }

  /** Sends a request, unless a secret is being written there or asking fails of late: `false` for the latter. */
  send(place: Place, snippets: readonly Snippet[], manner: Manner): boolean {
    const { document, position, model, request } = place;
    const question = questionFor(document, position, snippets, {
      model,
      maxLines: this.#ports.settings().maxLines,
      ...(request.indentation === undefined ? {} : { indentation: request.indentation }),
      ...(manner.temperature === undefined ? {} : { temperature: manner.temperature }),
    });
    if (question === undefined) return true;
    if (!this.circuit.admits()) return false;
    if (manner.basis === undefined) this.#stopContradicted(place);
    const sent: SentRequest = {
      model: model.ref,
      hole: question.hole,
      context: question.context,
      masked: question.secrets.size,
      reason: manner.reason,
    };
    this.#log.sent(sent);
    this.governor.sent();
    this.pace.sent();
    this.#state.become({ kind: 'asking' });
    this.#depart(place, question, sent, manner.basis);
    return true;
  }

  #depart(
    { document, position, model }: Place,
    question: Question,
    sent: SentRequest,
    basis: Answer | undefined,
  ): void {
    const answer = this.#cache.open(document, position, model.ref);
    const { uri } = document;
    this.inFlight.send({
      fill: this.#ports.fill(model),
      hole: question.hole,
      uri,
      answer,
      settling: new Settling(question.site),
      restoring: new Restoring(question.secrets),
      grew: () => {
        this.#cache.grew(answer);
        this.#events.grew(answer, uri);
      },
      landed: (landing) => {
        this.#landed(answer, sent, model, landing);
        this.#events.landed(answer, uri, landing.error !== undefined);
      },
      ...(basis === undefined ? {} : { basis }),
    });
  }

  #landed(answer: Answer, sent: SentRequest, model: CompletionModel, landing: Landing): void {
    const { error, received, stopped } = landing;
    if (landing.firstText !== undefined) this.pace.answered(landing.firstText);
    this.#account(sent, model, landing);
    if (error !== undefined) {
      this.governor.failed();
      this.circuit.failed(error);
      // A place that failed isn't a place without an answer.
      if (answer.text === '') this.#cache.delete(answer);
    } else if (received > 0 || !stopped) this.circuit.succeeded();
    else this.circuit.stopped();
    if (answer.text === '' && stopped && received === 0) this.#cache.delete(answer);
    this.#settleState();
  }

  #account(sent: SentRequest, model: CompletionModel, landing: Landing): void {
    const { error, usage, received, stopped, firstText } = landing;
    const asked = sent.hole.prefix.length + sent.hole.suffix.length;
    const cost = error === undefined ? this.governor.landed(model, usage, asked, received) : undefined;
    this.#log.ended(sent, {
      result: error !== undefined ? 'failed' : stopped ? 'stopped' : 'answered',
      total: landing.total,
      characters: received,
      ...(firstText === undefined ? {} : { firstText }),
      ...(usage === undefined ? {} : { outputTokens: usage.output }),
      ...(cost === undefined ? {} : { cost }),
      ...(error === undefined ? {} : { problem: `${error.status} ${error.errorType}` }),
    });
  }

  #settleState(): void {
    const open = this.circuit.open;
    if (open !== undefined) {
      const retryInMs = Math.max(0, open.until - this.#clock.now());
      this.#state.become({ kind: 'problem', error: open.error, retryInMs, needsPerson: open.needsPerson });
    } else if (this.inFlight.flights.size === 0) this.#state.become({ kind: 'ready' });
  }

  /** Requests that what was typed speaks against are stopped when another one goes out instead. */
  #stopContradicted({ document, position, model }: Place): void {
    const agreeing = new Set(this.#cache.find(document, position, model.ref).map(({ answer }) => answer));
    for (const flight of this.inFlight.flights) {
      if (flight.uri !== document.uri || agreeing.has(flight.answer)) continue;
      if (flight.basis !== undefined && agreeing.has(flight.basis)) continue;
      flight.stop();
      this.pace.judged(flight.answer.seen);
    }
  }
}
