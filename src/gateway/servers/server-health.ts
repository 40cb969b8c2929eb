import type { Log } from '../gateway-deps.ts';

/** Whether a server answers. Knows it from the calls that others make; the log has one line for each change. */
export class ServerHealth {
  readonly #log: Log;
  readonly #server: string;
  readonly #alert: string;
  #awayAt: number | undefined;

  /** @param server address without credentials. @param alert name of the alert, such as `state-away`. */
  constructor(log: Log, server: string, alert: string) {
    this.#log = log;
    this.#server = server;
    this.#alert = alert;
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
    this.#log.error({ alert: this.#alert, server: this.#server, error }, 'the server can’t be reached');
  }

  answered(): void {
    if (!this.away) return;
    this.#awayAt = undefined;
    this.#log.info({ server: this.#server }, 'the server can be reached again');
  }
}
