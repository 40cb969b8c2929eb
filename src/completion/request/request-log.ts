import type { SendFimRequest } from './in-flight.ts';

/** A request exactly as it was sent, with masked secrets. */
export interface SentRequest {
  readonly model: string;
  /** Language of the document. */
  readonly languageId: string;
  readonly fimRequest: SendFimRequest;
  /** Paths of the snippets that were sent as context. */
  readonly context: readonly string[];
  readonly masked: number;
  readonly reason: 'typing' | 'invoke' | 'speculation';
}

export interface LoggedOutcome {
  readonly result: 'answered' | 'stopped' | 'failed';
  /** Milliseconds. */
  readonly firstText?: number;
  readonly total: number;
  readonly characters: number;
  readonly outputTokens?: number;
  /** USD. */
  readonly cost?: number;
  readonly problem?: string;
}

/** The last request and, as soon as it ended, its outcome. */
export interface LastRequest extends SentRequest {
  readonly outcome?: LoggedOutcome;
}

/** Logs one line per request, and keeps the last request in full for `Svc: Show Last Completion Request`. */
export class RequestLog {
  readonly #write: ((line: string) => void) | undefined;
  #last: SentRequest | undefined;
  #outcome: LoggedOutcome | undefined;

  constructor(write?: (line: string) => void) {
    this.#write = write;
  }

  get last(): LastRequest | undefined {
    if (this.#last === undefined || this.#outcome === undefined) return this.#last;
    return { ...this.#last, outcome: this.#outcome };
  }

  sent(request: SentRequest): void {
    this.#last = request;
    this.#outcome = undefined;
  }

  ended(request: SentRequest, outcome: LoggedOutcome): void {
    if (request === this.#last) this.#outcome = outcome;
    if (this.#write === undefined) return;
    const { fimRequest } = request;
    const parts = [
      `fim ${request.model} ${request.reason}`,
      `sent ${fimRequest.prefix.length}+${fimRequest.suffix.length} chars`,
      request.context.length > 0 ? `context ${request.context.length}` : '',
      request.masked > 0 ? `masked ${request.masked}` : '',
      `max ${fimRequest.maxTokens} tokens`,
      outcome.firstText === undefined ? '' : `first text ${Math.round(outcome.firstText)} ms`,
      `${outcome.result} ${Math.round(outcome.total)} ms`,
      `got ${outcome.characters} chars`,
      outcome.outputTokens === undefined ? '' : `${outcome.outputTokens} tokens`,
      outcome.cost === undefined ? '' : `$${outcome.cost.toFixed(6)}`,
      outcome.problem ?? '',
    ];
    this.#write(parts.filter((part) => part !== '').join(', '));
  }
}
