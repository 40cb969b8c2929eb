import type { Ledger } from '../../gateway/accounting/ledger.ts';
import type { Metrics } from '../../gateway/accounting/metrics.ts';
import { type Answers, PRIMARY_MESSAGE, type Questions, type WorkerMessage } from '../../gateway/workers/messages.ts';
import { WorkerShares } from '../../gateway/workers/worker-shares.ts';
import type { Io } from '../io.ts';

/** Signals reach all processes of a terminal or a service. The primary tells its workers what to do. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;

/** How a worker must stop. */
export interface StopOrder {
  /** Milliseconds for which requests are still accepted. */
  readonly delayMs: number;
  /** Another worker takes over, so balancers must notice nothing. */
  readonly replaced: boolean;
}

/** The connection of a worker to its primary. */
export class PrimaryChannel {
  /** `io` of the worker: it stops when the primary says so. Only the first worker prints what all would print. */
  readonly io: Io;
  readonly shares = new WorkerShares((questions) => this.#ask(questions));
  readonly first: boolean;
  stopOrder: StopOrder | undefined;
  #ownMetrics: (() => Promise<string>) | undefined;
  readonly #stop = new AbortController();
  readonly #answers = new Map<number, (answers: Answers) => void>();
  readonly #metrics = new Map<number, (metrics: readonly string[]) => void>();
  #number = 0;
  #hurry: () => void = () => undefined;

  constructor(io: Io, first: boolean) {
    this.first = first;
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
  serving(metrics: Metrics, ledger: Ledger): void {
    this.#ownMetrics = () => metrics.toJson();
    metrics.ofAllWorkers = () => this.#allMetrics();
    // Node ends a worker whose primary has ended.
    process.once('exit', () => ledger.flush());
    send({ type: 'ready' });
  }

  /** The metrics of all workers. */
  #allMetrics(): Promise<readonly string[]> {
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve) => {
      this.#metrics.set(number, resolve);
      send({ type: 'metrics', number });
    });
  }

  /** The process may end. */
  close(): void {
    process.channel?.unref();
  }

  #ask({ rates, budgets }: Questions): Promise<Answers> {
    if (rates.length + budgets.length === 0) return Promise.resolve({ workers: 1, rates: [], budgets: [] });
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve) => {
      this.#answers.set(number, resolve);
      send({ type: 'ask', number, rates: [...rates], budgets: [...budgets] });
    });
  }

  #receive(raw: unknown): void {
    const { success, data: message } = PRIMARY_MESSAGE.safeParse(raw);
    if (!success) return;
    switch (message.type) {
      case 'answer':
        this.#answers.get(message.number)?.(message);
        this.#answers.delete(message.number);
        return;
      case 'metrics':
        this.#metrics.get(message.number)?.(message.metrics);
        this.#metrics.delete(message.number);
        return;
      case 'own-metrics':
        return void this.#sendMetrics(message.number);
      case 'wanted':
        return this.shares.wanted(message);
      case 'stop':
        this.stopOrder = message;
        return this.#stop.abort();
      case 'hurry':
        return this.#hurry();
    }
  }

  async #sendMetrics(number: number): Promise<void> {
    send({ type: 'own-metrics', number, metrics: (await this.#ownMetrics?.()) ?? '[]' });
  }
}

function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message);
}
