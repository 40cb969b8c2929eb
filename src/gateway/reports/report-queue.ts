import { SvcError } from '../../wire/errors/svc-error.ts';

/** Reports of one key that run or wait. The page asks for one at a time, but a key may have several pages. */
const MAX_OF_KEY = 8;
/** Reports of all keys that run or wait. */
const MAX_OPEN = 64;
const RETRY_AFTER_MS = 5_000;

interface Job {
  readonly run: () => Promise<void>;
}

/**
 * Makes one report at a time, because each takes time from the requests of models. Keys take turns, so that a key with
 * many reports does not hold those of others.
 */
export class ReportQueue {
  /** Waiting reports by key. The first key is the next. */
  readonly #waiting = new Map<string, Job[]>();
  readonly #open = new Map<string, number>();
  #running = false;

  /**
   * @param signal ends the report: its reader has left. It then neither waits nor continues.
   * @throws SvcError 429 for too many reports of the key, 503 for too many of all.
   */
  run<T>(key: string, signal: AbortSignal, report: () => Promise<T>): Promise<T> {
    const own = this.#open.get(key) ?? 0;
    if (own >= MAX_OF_KEY) throw tooMany('rate_limit_exceeded', 'Too many reports of this key are being made.');
    const all = [...this.#open.values()].reduce((sum, count) => sum + count, 0);
    if (all >= MAX_OPEN) throw tooMany('temporarily_unavailable', 'Too many reports are being made.');
    this.#open.set(key, own + 1);
    return new Promise<T>((resolve, reject) => {
      const done = () => {
        const left = (this.#open.get(key) ?? 1) - 1;
        if (left > 0) this.#open.set(key, left);
        else this.#open.delete(key);
        signal.removeEventListener('abort', leave);
      };
      const job: Job = {
        run: async () => {
          signal.removeEventListener('abort', leave);
          try {
            signal.throwIfAborted();
            resolve(await report());
          } catch (thrown) {
            reject(thrown);
          } finally {
            done();
          }
        },
      };
      const leave = () => {
        this.#remove(key, job);
        done();
        reject(signal.reason);
      };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), job]);
      void this.#work();
    });
  }

  async #work(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let job = this.#next(); job !== undefined; job = this.#next()) await job.run();
    this.#running = false;
  }

  #next(): Job | undefined {
    for (const [key, [job, ...rest]] of this.#waiting) {
      this.#waiting.delete(key);
      if (rest.length > 0) this.#waiting.set(key, rest);
      return job;
    }
    return undefined;
  }

  #remove(key: string, job: Job): void {
    const rest = (this.#waiting.get(key) ?? []).filter((each) => each !== job);
    if (rest.length > 0) this.#waiting.set(key, rest);
    else this.#waiting.delete(key);
  }
}

function tooMany(errorType: 'rate_limit_exceeded' | 'temporarily_unavailable', message: string): SvcError {
  return new SvcError({
    errorType,
    message,
    action: 'Wait until one has ended.',
    retryable: true,
    retryAfterMs: RETRY_AFTER_MS,
  });
}
