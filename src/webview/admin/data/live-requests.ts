import { type Signal, signal } from '@preact/signals';
import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import { liveSample, type Request, request } from '../../../protocol/admin-api/schemas.ts';
import { SseDecoder } from '../../../wire/stream/sse.ts';
import type { AdminApi, Call } from './admin-api.ts';

/** Requests in the list. Older ones are in the history. */
const SHOWN = 200;
const RETRY_MS = 2_000;
/** With many requests a second, the list is drawn this often, in milliseconds. */
const DRAW_MS = 200;

/** Requests as they end, newest first. While it is paused, new ones wait. */
export class LiveRequests {
  readonly list: Signal<readonly Request[]> = signal([]);
  readonly paused = signal(false);
  readonly waiting: Signal<readonly Request[]> = signal([]);
  /** Set while the gateway sends a sample, because there are too many requests. */
  readonly sample: Signal<{ readonly shown: number; readonly total: number } | undefined> = signal(undefined);
  readonly connected = signal(false);
  readonly #api: AdminApi;
  readonly #query: NonNullable<Call['query']>;
  readonly #closing = new AbortController();
  /** Not drawn yet. */
  #arrived: readonly Request[] = [];
  #drawing: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #sampleEnds: ReturnType<typeof setTimeout> | undefined;

  constructor(api: AdminApi, query: NonNullable<Call['query']>) {
    this.#api = api;
    this.#query = query;
    void this.#follow();
  }

  togglePause(): void {
    this.paused.value = !this.paused.value;
    if (this.paused.value) return;
    this.list.value = [...this.waiting.value, ...this.list.value].slice(0, SHOWN);
    this.waiting.value = [];
  }

  close(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#drawing);
    clearTimeout(this.#sampleEnds);
    this.#closing.abort();
  }

  /** `EventSource` can't send the secret of the session. */
  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    try {
      const { body } = await this.#api.open(ENDPOINTS.followRequests, { query: this.#query, signal });
      if (body !== null) await this.#read(body.getReader());
    } catch {
      // The page shows a lost connection, and an ended session.
    }
    this.connected.value = false;
    if (!signal.aborted) this.#retry = setTimeout(() => void this.#follow(), RETRY_MS);
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    this.connected.value = true;
    const decoder = new SseDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (const { event, data } of decoder.push(value)) {
        if (event === 'request') this.#add(data);
        else if (event === 'sample') this.#showSample(data);
      }
    }
  }

  #add(data: string): void {
    const parsed = request.safeParse(JSON.parse(data));
    if (!parsed.success) return;
    this.#arrived = [parsed.data, ...this.#arrived].slice(0, SHOWN);
    this.#drawing ??= setTimeout(() => this.#draw(), DRAW_MS);
  }

  #draw(): void {
    this.#drawing = undefined;
    const target = this.paused.value ? this.waiting : this.list;
    target.value = [...this.#arrived, ...target.value].slice(0, SHOWN);
    this.#arrived = [];
  }

  #showSample(data: string): void {
    const parsed = liveSample.safeParse(JSON.parse(data));
    if (!parsed.success) return;
    this.sample.value = parsed.data;
    clearTimeout(this.#sampleEnds);
    this.#sampleEnds = setTimeout(() => {
      this.sample.value = undefined;
    }, 3_000);
  }
}
