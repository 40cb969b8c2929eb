import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import * as z from 'zod';
import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';

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

/** A tab keeps its secret while it is reloaded. The storage of an origin has a port, which a cookie does not have. */
const SECRET = 'svc.admin.secret';

/** The calls of the admin API. Each carries the secret of the session. */
export class AdminApi {
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

  /** Empty without a session. */
  get secret(): string {
    return sessionStorage.getItem(SECRET) ?? '';
  }

  set secret(secret: string) {
    if (secret === '') sessionStorage.removeItem(SECRET);
    else sessionStorage.setItem(SECRET, secret);
  }

  /** @throws ApiError, or TypeError while the connection is lost. */
  async call<S extends z.ZodType>(endpoint: Endpoint & { readonly answer: S }, call: Call = {}): Promise<z.infer<S>> {
    return endpoint.answer.parse(await this.#send(endpoint, call));
  }

  async endSession(): Promise<void> {
    await this.#send(ENDPOINTS.endSession, {});
    this.#end();
  }

  /** The answer of an endpoint that sends no JSON. @throws as `call`. */
  open(endpoint: Endpoint, { body, signal, ...rest }: Call = {}): Promise<Response> {
    const { method } = endpoint;
    const { secret } = this;
    const init: RequestInit = {
      method,
      headers: {
        ...(secret === '' ? {} : { 'x-session-secret': secret }),
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
      ...(signal ? { signal } : {}),
    };
    return this.#accepted(endpointUrl(endpoint, rest), init);
  }

  async #send(endpoint: Endpoint, call: Call): Promise<unknown> {
    const response = await this.open(endpoint, call);
    return response.status === 204 ? undefined : response.json().catch(() => undefined);
  }

  async #accepted(url: string, init: RequestInit): Promise<Response> {
    const response = await this.#fetch(url, init);
    if (response.ok) return response;
    if (response.status === 401) this.#end();
    const error = ERROR_BODY.safeParse(await response.json().catch(() => undefined));
    throw new ApiError(response.status, error.success ? error.data.message : response.statusText);
  }

  #end(): void {
    this.secret = '';
    this.#ended();
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', ...init });
      // A proxy answers so while the gateway can’t be reached.
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
