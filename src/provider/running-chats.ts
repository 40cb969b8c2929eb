import { Emitter } from '../base/emitter.ts';
import { defined } from '../base/json.ts';
import type { Model } from '../catalog/model.ts';

/** Milliseconds for which a server is kept for a chat after a request: an agent soon sends the result of a tool. */
const KEPT_MS = 5_000;

type ServedModel = Pick<Model, 'id' | 'endpoint' | 'served'>;

/**
 * The chat requests of this process that run on servers of one user. Completions leave them their slots: behind the step
 * of an agent they would wait for minutes, and between two steps they would replace its prompt in the server's cache.
 */
export class RunningChats {
  readonly #keptMs: number;
  readonly #changed = new Emitter<[]>();
  /** Requests by server and model, with those that ended a moment ago. */
  readonly #running = new Map<string, number>();
  /** Models that their servers load. */
  readonly #loading = new Set<string>();
  /** The number of slots in use changed, or a load began or ended. */
  readonly onDidChange = this.#changed.event;

  constructor(keptMs = KEPT_MS) {
    this.#keptMs = keptMs;
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** Counts the request of a conversation as long as its events are read. */
  async *during<T>(model: ServedModel, events: AsyncIterable<T>): AsyncGenerator<T> {
    if (slotsOf(model) === undefined) {
      yield* events;
      return;
    }
    const key = keyOf(model);
    this.#add(key, 1);
    try {
      yield* events;
    } finally {
      setTimeout(() => this.#add(key, -1), this.#keptMs).unref();
    }
  }

  /** Keeps completions off a model while its server loads it. */
  async whileLoading(model: ServedModel, load: Promise<void>): Promise<void> {
    const key = keyOf(model);
    this.#loading.add(key);
    this.#changed.fire();
    await load;
    this.#loading.delete(key);
    this.#changed.fire();
  }

  /** What decides whether completions and next edits are requested. */
  serverState(model: ServedModel): { readonly slots?: number; readonly loading?: true } {
    return defined({ slots: this.freeSlots(model), loading: this.#loading.has(keyOf(model)) || undefined });
  }

  /** How many requests can be sent to the model's server before one waits there. Absent: many. */
  freeSlots(model: ServedModel): number | undefined {
    const slots = slotsOf(model);
    return slots === undefined ? undefined : Math.max(0, slots - (this.#running.get(keyOf(model)) ?? 0));
  }

  #add(key: string, count: number): void {
    const running = (this.#running.get(key) ?? 0) + count;
    if (running === 0) this.#running.delete(key);
    else this.#running.set(key, running);
    this.#changed.fire();
  }
}

/** Models of one server have slots of their own. */
function keyOf({ id, endpoint }: ServedModel): string {
  return `${endpoint.baseURL} ${id}`;
}

/** A server of one user has one slot if it does not tell, or shares its speed among several. */
function slotsOf({ endpoint: { kind, fim }, served }: ServedModel): number | undefined {
  const isLocal = kind === 'ollama' || kind === 'llamacpp' || kind === 'lmstudio' || fim === 'llamacpp-infill';
  return isLocal ? (served?.slots ?? 1) : undefined;
}
