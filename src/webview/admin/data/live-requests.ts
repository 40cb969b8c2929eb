import { type Signal, signal } from '@preact/signals';
import { ENDPOINTS } from '../../../gateway/admin/api/endpoints.ts';
import { liveSample, type Request, request } from '../../../gateway/admin/api/schemas.ts';
import { type Call, endpointUrl } from './admin-api.ts';

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
  readonly #url: string;
  readonly #closed: () => void;
  #source: EventSource | undefined;
  /** Not drawn yet. */
  #arrived: readonly Request[] = [];
  #drawing: ReturnType<typeof setTimeout> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #sampleEnds: ReturnType<typeof setTimeout> | undefined;

  /** @param closed is called when the gateway has ended the stream: the session may have ended, too. */
  constructor(query: NonNullable<Call['query']>, closed: () => void) {
    this.#closed = closed;
    this.#url = endpointUrl(ENDPOINTS.followRequests, { query });
    this.#open();
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
    this.#source?.close();
  }

  #open(): void {
    const source = new EventSource(this.#url);
    this.#source = source;
    source.addEventListener('open', () => {
      this.connected.value = true;
    });
    source.addEventListener('request', ({ data }) => this.#add(data));
    source.addEventListener('sample', ({ data }) => this.#showSample(data));
    source.addEventListener('error', () => {
      this.connected.value = false;
      // After some failures the browser does not try again by itself.
      if (source.readyState !== EventSource.CLOSED) return;
      this.#retry = setTimeout(() => this.#open(), RETRY_MS);
      this.#closed();
    });
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
