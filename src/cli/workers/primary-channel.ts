import { setTimeout as sleep } from 'node:timers/promises';
import type { SignInLimit } from '../../gateway/access/sign-in-limit.ts';
import type { Metrics } from '../../gateway/accounting/metrics.ts';
import { PRIMARY_MESSAGE, type WorkerMessage } from '../../gateway/workers/messages.ts';
import type { Io } from '../io.ts';

/** Signals reach all processes of a terminal or a service. The primary tells its workers when to stop. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;

/** Milliseconds for the metrics of all workers. The primary waits a shorter time for each. */
const COLLECT_MS = 2_000;

/** How a worker must stop. */
export interface StopOrder {
  /** Milliseconds for which requests are still accepted. */
  readonly delayMs: number;
  /** Another worker takes over, so balancers must notice nothing. */
  readonly replaced: boolean;
}

/** The parts of a worker that its primary reads and tells changes. */
interface Served {
  readonly metrics: Metrics;
  readonly signIns: SignInLimit;
  /** Writes the rows of the ledger before the process ends. */
  readonly lastWrite: () => void;
}

/** The connection of a worker to its primary. */
export class PrimaryChannel {
  /** `io` of the worker: it stops when the primary sends the order. Only the first worker prints texts that all would print. */
  readonly io: Io;
  readonly first: boolean;
  /** Number of workers when all have started. */
  readonly workers: number;
  stopOrder: StopOrder | undefined;
  #metrics: Metrics | undefined;
  #signIns: SignInLimit | undefined;
  readonly #stop = new AbortController();
  readonly #collecting = new Map<number, (texts: readonly string[]) => void>();
  #number = 0;
  #hurry: () => void = () => undefined;

  constructor(io: Io, first: boolean, workers: number) {
    this.first = first;
    this.workers = workers;
    for (const signal of SIGNALS) process.on(signal, () => undefined);
    process.on('message', (message) => this.#receive(message));
    this.io = {
      ...io,
      signal: this.#stop.signal,
      onFurtherSignals: (listener) => {
        this.#hurry = listener;
      },
    };
  }

  /** This worker accepts requests. */
  serving({ metrics, signIns, lastWrite }: Served): void {
    this.#metrics = metrics;
    metrics.ofAllWorkers = () => this.#collectMetrics(metrics);
    this.#signIns = signIns;
    signIns.tellWorkers = (of) => send({ type: 'sign-in', of });
    // Node ends a worker whose primary has ended.
    process.once('exit', lastWrite);
    send({ type: 'ready' });
  }

  /** The metrics of all workers, or those of this one if the primary does not answer. */
  async #collectMetrics(own: Metrics): Promise<readonly string[]> {
    this.#number += 1;
    const number = this.#number;
    const all = new Promise<readonly string[]>((resolve) => this.#collecting.set(number, resolve));
    send({ type: 'collect', number, subject: 'metrics' });
    const found = await Promise.race([all, sleep(COLLECT_MS, undefined, { ref: false })]);
    this.#collecting.delete(number);
    return found ?? [await own.toJson()];
  }

  /** The process may end. Hands over its metrics. */
  async close(): Promise<void> {
    const text = await this.#metrics?.toJson();
    if (text !== undefined) send({ type: 'last-metrics', text });
    process.channel?.unref();
  }

  #receive(raw: unknown): void {
    const { success, data: message } = PRIMARY_MESSAGE.safeParse(raw);
    if (!success) return;
    switch (message.type) {
      case 'collected':
        return this.#collecting.get(message.number)?.(message.texts);
      case 'collect':
        return void this.#sendOwn(message.number);
      case 'sign-in':
        return this.#signIns?.count(message.of);
      case 'stop':
        this.stopOrder = message;
        return this.#stop.abort();
      case 'hurry':
        return this.#hurry();
    }
  }

  async #sendOwn(number: number): Promise<void> {
    // A worker that does not accept requests yet has counted nothing.
    send({ type: 'own', number, text: (await this.#metrics?.toJson()) ?? '[]' });
  }
}

function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message);
}
