import type { EditDialect } from '../../wire/edit/edit-request.ts';
import type { ContextFile } from '../../wire/fim/fim-request.ts';
import type { Snippet } from '../prompt/context.ts';

/** A FIM request without the model. */
export interface SendFimRequest {
  readonly prefix: string;
  readonly suffix: string;
  /** 1 to 1000. */
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stop?: readonly string[];
  /** Context and the path of the document, for the formats that do not have them in the prefix. */
  readonly context?: readonly ContextFile[];
  readonly path?: string;
}

/** Characters that are sent. */
export function sentCharacters({ prefix, suffix, context = [] }: SendFimRequest): number {
  return context.reduce((sum, { path, text }) => sum + path.length + text.length, prefix.length + suffix.length);
}

interface SentToModel {
  readonly model: string;
  /** Language of the document. */
  readonly languageId: string;
  readonly masked: number;
}

/** A request for a completion exactly as it was sent, with masked secrets. */
export interface SentRequest extends SentToModel {
  readonly kind: 'fim';
  /** The pieces of other files that were sent as context. */
  readonly context: readonly Snippet[];
  readonly fimRequest: SendFimRequest;
  readonly reason: 'typing' | 'invoke' | 'speculation';
}

/** A request for a next edit exactly as it was sent, with masked secrets. */
export interface SentEditRequest extends SentToModel {
  readonly kind: 'edit';
  /** Paths of the files that were sent as context. */
  readonly context: readonly string[];
  readonly dialect: EditDialect;
  readonly prompt: string;
  readonly maxTokens: number;
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

/** `outcome`: absent while the request runs. */
export type LastRequest<Sent = SentRequest> = Sent & { readonly outcome?: LoggedOutcome };
export type LastEditRequest = LastRequest<SentEditRequest>;

/** Logs one line per request, and keeps the last request in full for `Svc: Show Last Completion Request`. */
export class RequestLog<Sent extends SentRequest | SentEditRequest> {
  readonly #write: ((line: string) => void) | undefined;
  #last: Sent | undefined;
  #outcome: LoggedOutcome | undefined;

  constructor(write?: (line: string) => void) {
    this.#write = write;
  }

  get last(): LastRequest<Sent> | undefined {
    if (this.#last === undefined || this.#outcome === undefined) return this.#last;
    return { ...this.#last, outcome: this.#outcome };
  }

  sent(request: Sent): void {
    this.#last = request;
    this.#outcome = undefined;
  }

  ended(request: Sent, outcome: LoggedOutcome): void {
    if (request === this.#last) this.#outcome = outcome;
    if (this.#write === undefined) return;
    const parts = [
      ...sentParts(request),
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

function sentParts(request: SentRequest | SentEditRequest): readonly string[] {
  const { model, masked } = request;
  const context: readonly unknown[] = request.context;
  const [what, sent, most] =
    request.kind === 'edit'
      ? [`edit ${model} ${request.dialect}`, `${request.prompt.length}`, request.maxTokens]
      : [
          `fim ${model} ${request.reason}`,
          `${sentCharacters(request.fimRequest) - request.fimRequest.suffix.length}+${request.fimRequest.suffix.length}`,
          request.fimRequest.maxTokens,
        ];
  return [
    what,
    `sent ${sent} chars`,
    context.length > 0 ? `context ${context.length}` : '',
    masked > 0 ? `masked ${masked}` : '',
    `max ${most} tokens`,
  ];
}
