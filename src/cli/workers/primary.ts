import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort, SerialQueue } from '../../base/concurrency.ts';
import type { Log } from '../../gateway/accounting/log.ts';
import { type PrimaryMessage, WORKER_MESSAGE, type WorkerMessage } from '../../gateway/workers/messages.ts';
import { MetricsKeeper } from '../../gateway/workers/metrics-keeper.ts';

export interface PrimaryOptions {
  readonly count: number;
  readonly log: Log;
  /** For the time in which requests are accepted after the signal to end, and for running requests. */
  readonly delayMs: number;
  readonly drainMs: number;
}

interface Started {
  readonly worker: Worker;
  readonly at: number;
  /** It was told to stop, or is being replaced: no other one is started when it ends. */
  stopping: boolean;
  /** Resolves with whether it accepts requests; false if it ended before. */
  readonly ready: Promise<boolean>;
}

/** Milliseconds after which a worker that ended did run; otherwise the next one has to wait. */
const STABLE_MS = 5_000;
const MAX_WAIT_MS = 30_000;
/** Milliseconds for the metrics of a worker. */
const COLLECT_MS = 1_000;
/** Milliseconds in which a replaced worker asks clients to open other connections. */
const REPLACED_MS = 1_000;
/** Milliseconds that a worker may take to end in addition to those for its requests. */
const END_MS = 15_000;

/** Starts the workers, passes messages between them, and starts one that ends again. */
export class Primary {
  readonly #options: PrimaryOptions;
  readonly #metrics = new MetricsKeeper();
  readonly #workers = new Map<number, Started>();
  /** Workers whose metrics are awaited, by number. */
  readonly #collecting = new Map<number, (text: string) => void>();
  #number = 0;
  #failures = 0;
  /** Fires when all workers must end. */
  readonly #end = new AbortController();
  readonly #steps = new SerialQueue();

  constructor(options: PrimaryOptions) {
    this.#options = options;
  }

  /** Starts one worker, and the others when it accepts requests. @returns its exit code if it does not. */
  start(): Promise<number> {
    return this.#steps.run(() => this.#startAll());
  }

  async #startAll(): Promise<number> {
    const first = this.#fork();
    if (!(await first.ready)) return first.worker.process.exitCode ?? 1;
    if (this.#ending) return 0;
    const further = Array.from({ length: this.#options.count - 1 }, () => this.#fork());
    await Promise.all(further.map(({ ready }) => ready));
    this.#options.log.info({ workers: this.#workers.size }, 'all workers accept requests');
    return 0;
  }

  /** Replaces the workers one after the other, when all are started. A worker ends when its requests have ended. */
  replace(): void {
    void this.#steps.run(() => this.#replaceAll());
  }

  /** Ends all workers. @param hurry whether their requests end at once. */
  async end(hurry: AbortSignal): Promise<void> {
    this.#end.abort();
    const { delayMs, drainMs } = this.#options;
    onAbort(hurry, () => {
      for (const id of this.#workers.keys()) this.#send(id, { type: 'hurry' });
    });
    await Promise.all([...this.#workers.values()].map((each) => this.#stop(each, delayMs, false, delayMs + drainMs)));
  }

  get #ending(): boolean {
    return this.#end.signal.aborted;
  }

  async #replaceAll(): Promise<void> {
    const { log, drainMs } = this.#options;
    log.info({ workers: this.#workers.size }, 'replacing the workers');
    for (const old of [...this.#workers.values()]) {
      if (this.#ending || old.stopping || old.worker.isDead()) continue;
      // If it ends by itself from now on, the new one takes its place.
      old.stopping = true;
      const { ready, worker } = this.#fork();
      if (!(await ready)) {
        old.stopping = false;
        if (old.worker.isDead()) void this.#restart(0);
        log.error({ worker: worker.process.pid }, 'the new worker does not start: the others go on');
        return;
      }
      if (!this.#ending) await this.#stop(old, REPLACED_MS, true, REPLACED_MS + drainMs);
    }
    log.info({}, 'all workers were replaced');
  }

  async #stop(started: Started, delayMs: number, replaced: boolean, withinMs: number): Promise<void> {
    const { worker } = started;
    started.stopping = true;
    if (worker.isDead()) return;
    const exit = once(worker, 'exit');
    this.#send(worker.id, { type: 'stop', delayMs, replaced });
    const timer = setTimeout(() => worker.process.kill('SIGKILL'), withinMs + END_MS);
    await exit;
    clearTimeout(timer);
  }

  #fork(): Started {
    const worker = cluster.fork();
    const ready = new Promise<boolean>((resolve) => {
      worker.on('message', (raw: unknown) => {
        const { success, data } = WORKER_MESSAGE.safeParse(raw);
        if (!success) return;
        if (data.type === 'ready') resolve(true);
        this.#receive(worker.id, data);
      });
      worker.on('exit', (code, signal) => {
        resolve(false);
        void this.#ended(worker.id, code, signal);
      });
    });
    // Its last messages may arrive after its exit.
    worker.on('disconnect', () => this.#metrics.leave(worker.id));
    worker.on('error', (error) => this.#options.log.error({ error: error.message }, 'worker'));
    const started = { worker, at: performance.now(), stopping: false, ready };
    this.#workers.set(worker.id, started);
    return started;
  }

  async #ended(id: number, code: number | null, signal: string | null): Promise<void> {
    const ended = this.#workers.get(id);
    this.#workers.delete(id);
    if (ended === undefined || ended.stopping || this.#ending || !(await ended.ready)) return;
    this.#failures = performance.now() - ended.at < STABLE_MS ? this.#failures + 1 : 0;
    const waitMs = this.#failures === 0 ? 0 : Math.min(MAX_WAIT_MS, 500 * 2 ** this.#failures);
    this.#options.log.error(
      { alert: 'worker-ended', worker: ended.worker.process.pid, code, signal, waitMs },
      'a worker ended: it is started again',
    );
    await this.#restart(waitMs);
  }

  /** Starts a worker after this time, again and again until it accepts requests. */
  async #restart(waitMs: number): Promise<void> {
    await this.#wait(waitMs);
    while (!this.#ending && !(await this.#fork().ready)) await this.#wait(MAX_WAIT_MS);
  }

  /** Resolves after this time, or when all workers must end: the primary ends with them. */
  async #wait(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#end.signal }).catch(() => undefined);
  }

  #receive(id: number, message: WorkerMessage): void {
    switch (message.type) {
      case 'ready':
        return;
      case 'collect':
        return void this.#collect(id, message.number);
      case 'own':
        return this.#collecting.get(message.number)?.(message.text);
      case 'last-metrics':
        return this.#metrics.said(id, message.text);
      case 'sign-in':
        for (const peer of this.#workers.keys()) if (peer !== id) this.#send(peer, message);
        return;
    }
  }

  /** Answers with the metrics of all workers, the last ones of those that do not answer in time. */
  async #collect(id: number, number: number): Promise<void> {
    await Promise.all([...this.#workers.keys()].map((each) => this.#askForMetrics(each)));
    this.#send(id, { type: 'collected', number, texts: [...(await this.#metrics.all())] });
  }

  async #askForMetrics(id: number): Promise<void> {
    this.#number += 1;
    const number = this.#number;
    const own = new Promise<string>((resolve) => this.#collecting.set(number, resolve));
    this.#send(id, { type: 'collect', number, subject: 'metrics' });
    const found = await Promise.race([own, sleep(COLLECT_MS, undefined, { ref: false })]);
    this.#collecting.delete(number);
    if (found !== undefined) this.#metrics.said(id, found);
  }

  #send(id: number, message: PrimaryMessage): void {
    const worker = this.#workers.get(id)?.worker;
    // A worker may end at any time.
    if (worker?.isConnected() === true) worker.send(message, () => undefined);
  }
}
