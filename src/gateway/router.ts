import findMyWay, { type HTTPMethod } from 'find-my-way';
import { GatewayError } from '../wire/errors.ts';
import type { FormatName } from '../wire/format.ts';
import type { Exchange } from './exchange.ts';

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Under the base path, with and without `/v1` (spec 9). */
  readonly path: string;
  /** Whose error shape the route's clients read. */
  readonly format?: FormatName;
  readonly handle: (exchange: Exchange, params: Readonly<Record<string, string | undefined>>) => void | Promise<void>;
}

/** Finds the route of a request. Paths that need decoding or normalising name no route of ours. */
export class Router {
  readonly #router = findMyWay({ caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false });
  readonly #methods = new Map<string, Set<string>>();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      for (const path of [route.path, `/v1${route.path}`]) {
        this.#router.on(route.method, path, () => undefined, route);
        const methods = this.#methods.get(path) ?? new Set();
        this.#methods.set(path, methods.add(route.method));
      }
    }
  }

  /** @throws GatewayError 404 invalid_path, 405 method_not_allowed. */
  find(exchange: Exchange): { readonly route: Route; readonly params: Readonly<Record<string, string | undefined>> } {
    const { path } = exchange;
    const method = exchange.request.method ?? 'GET';
    const found = this.#router.find(method as HTTPMethod, path);
    if (found && !path.includes('//') && !path.includes('\\')) return { route: found.store, params: found.params };
    const allowed = this.#methods.get(path);
    if (allowed) {
      throw new GatewayError({
        status: 405,
        errorType: 'method_not_allowed',
        message: `${path} takes ${[...allowed].join(', ')}, not ${method.slice(0, 20)}.`,
      });
    }
    throw new GatewayError({
      status: 404,
      errorType: 'invalid_path',
      message: `There is no ${path.slice(0, 200)} at this gateway.`,
      action: 'See /openapi.json for what there is.',
    });
  }
}
