import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import * as z from 'zod';
import { ENDPOINTS } from '../../../gateway/admin/api/endpoints.ts';

/** An answer of the gateway that is not a success. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A part of `ENDPOINTS`. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
}

export interface Call {
  /** The values of `{name}` and `{id}` in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

const ERROR_BODY = z.object({ message: z.string() });
/** Times between attempts while the connection is lost, in milliseconds. */
const FIRST_RETRY = 1_000;
const LAST_RETRY = 10_000;

/** The calls of the admin API. Changes carry the token of the session, which is only in memory. */
export class AdminApi {
  csrf = '';
  readonly #lost = signal(false);
  readonly #ended: () => void;
  /** Increases when data must be loaded again: the connection is back, or the user asked for it. */
  readonly revision: Signal<number> = signal(0);

  /** @param ended is called when the gateway no longer accepts the session. */
  constructor(ended: () => void) {
    this.#ended = ended;
  }

  /** The gateway does not answer. */
  get lost(): ReadonlySignal<boolean> {
    return this.#lost;
  }

  /** @throws ApiError, or TypeError while the connection is lost. */
  async call<S extends z.ZodType>(endpoint: Endpoint & { readonly answer: S }, call: Call = {}): Promise<z.infer<S>> {
    return endpoint.answer.parse(await this.#send(endpoint, call));
  }

  async endSession(): Promise<void> {
    await this.#send(ENDPOINTS.endSession, {});
    this.#ended();
  }

  async #send(endpoint: Endpoint, { body, signal, ...rest }: Call): Promise<unknown> {
    const { method } = endpoint;
    const init: RequestInit = { method, ...(signal ? { signal } : {}) };
    if (method !== 'GET') {
      init.headers = { 'content-type': 'application/json', ...(this.csrf === '' ? {} : { 'x-csrf-token': this.csrf }) };
      init.body = JSON.stringify(body ?? {});
    }
    const response = await this.#fetch(endpointUrl(endpoint, rest), init);
    const answer: unknown = response.status === 204 ? undefined : await response.json().catch(() => undefined);
    if (response.ok) return answer;
    if (response.status === 401) this.#ended();
    const error = ERROR_BODY.safeParse(answer);
    throw new ApiError(response.status, error.success ? error.data.message : response.statusText);
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init });
      // A proxy answers so while the gateway is away.
      if (response.status === 502 || response.status === 504) throw new TypeError(response.statusText);
      return response;
    } catch (thrown) {
      if (!init.signal?.aborted) void this.#reconnect();
      throw thrown;
    }
  }

  /** Tries until the gateway answers. */
  async #reconnect(): Promise<void> {
    if (this.#lost.value) return;
    this.#lost.value = true;
    for (let wait = FIRST_RETRY; ; wait = Math.min(LAST_RETRY, wait * 2)) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      const answered = await fetch('/healthz', { cache: 'no-store' }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (!answered) continue;
      this.#lost.value = false;
      this.revision.value += 1;
      return;
    }
  }
}

export function endpointUrl({ path }: Pick<Endpoint, 'path'>, { params = {}, query = {} }: Call = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const text = new URLSearchParams(given).toString();
  return `/admin/v1${filled}${text === '' ? '' : `?${text}`}`;
}
