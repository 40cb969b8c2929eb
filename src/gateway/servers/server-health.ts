import type { Log } from '../accounting/log.ts';

/** The texts of the log about a server. */
export interface HealthTexts {
  /** Name of the alert, such as `state-away`. */
  readonly alert: string;
  readonly failed: string;
  readonly answered: string;
}

const AWAY = { failed: 'the server can’t be reached', answered: 'the server can be reached again' };

/**
 * Whether a server answers, or does one kind of work. Knows it from the calls that others make; the log has one line for
 * each change.
 */
export class ServerHealth {
  readonly #log: Log;
  readonly #server: string;
  readonly #texts: HealthTexts;
  #awayAt: number | undefined;

  /** @param server address without credentials. @param texts or the name of the alert that the server can’t be reached. */
  constructor(log: Log, server: string, texts: HealthTexts | string) {
    this.#log = log;
    this.#server = server;
    this.#texts = typeof texts === 'string' ? { alert: texts, ...AWAY } : texts;
  }

  /** No call was answered since one failed. */
  get away(): boolean {
    return this.#awayAt !== undefined;
  }

  /** When the first of those calls failed; of the monotonic clock. */
  get awayAt(): number | undefined {
    return this.#awayAt;
  }

  failed(error: string): void {
    if (this.away) return;
    this.#awayAt = performance.now();
    const { alert, failed } = this.#texts;
    this.#log.error({ alert, server: this.#server, error }, failed);
  }

  answered(): void {
    if (!this.away) return;
    this.#awayAt = undefined;
    this.#log.info({ server: this.#server }, this.#texts.answered);
  }
}
