import findMyWay, { type HTTPMethod } from 'find-my-way';
import { GatewayError } from '../wire/errors.ts';
import type { FormatName } from '../wire/format-name.ts';
import type { Exchange } from './exchange.ts';

export type RouteParams = Readonly<Record<string, string | undefined>>;

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Under the base path, with and without `/v1` (spec 9). A `*` at its end is a name with any slashes. */
  readonly path: string;
  /** Whose error shape the route's clients read. */
  readonly format?: FormatName;
  readonly handle: (exchange: Exchange, params: RouteParams) => void | Promise<void>;
}

const NO_PARAMS: RouteParams = {};
const METHODS = ['GET', 'POST'] as const;

/** Finds the route of a request. Paths that need decoding or normalising name no route of ours. */
export class Router {
  /** Routes without a name in their path, by method and path as they come: most requests need no more. */
  readonly #plain = { GET: new Map<string, Route>(), POST: new Map<string, Route>() };
  readonly #router = findMyWay({ caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false });

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      for (const path of [route.path, `/v1${route.path}`]) {
        this.#router.on(route.method, path, () => undefined, route);
        if (!/[:*]/.test(path)) this.#plain[route.method].set(path, route);
      }
    }
  }

  /** @throws GatewayError 404 invalid_path, 405 method_not_allowed. */
  find(exchange: Exchange): { readonly route: Route; readonly params: RouteParams } {
    const { path } = exchange;
    const method = exchange.request.method ?? 'GET';
    const plain = method === 'POST' || method === 'GET' ? this.#plain[method].get(path) : undefined;
    if (plain !== undefined) return { route: plain, params: NO_PARAMS };
    const found = isPlain(path) ? this.#router.find(method as HTTPMethod, path) : null;
    const route: Route | undefined = found?.store;
    if (route !== undefined && found !== null) {
      if (route.path.endsWith('/*')) return { route, params: { '*': nameIn(path, route.path) } };
      if (!path.includes('%')) return { route, params: found.params };
    }
    const allowed = METHODS.filter((other) => isPlain(path) && this.#router.find(other, path) !== null);
    if (allowed.length > 0 && !path.includes('%')) {
      throw new GatewayError({
        errorType: 'method_not_allowed',
        message: `${path} takes ${allowed.join(', ')}, not ${method.slice(0, 20)}.`,
      });
    }
    throw unknownPath(path);
  }
}

/** Without what servers and proxies read in different ways: `//`, `\`, `.` and `..` segments, also encoded. */
function isPlain(path: string): boolean {
  return !/\/\/|\\|;|\/\.{1,2}(\/|$)|%(?:2e|5c|00|25)/i.test(path);
}

/** The name at the end of a path, decoded; clients write its slash either way. */
function nameIn(path: string, pattern: string): string {
  const start = path.indexOf(pattern.slice(0, -1)) + pattern.length - 1;
  try {
    return decodeURIComponent(path.slice(start));
  } catch {
    throw unknownPath(path);
  }
}

function unknownPath(path: string): GatewayError {
  return new GatewayError({
    errorType: 'invalid_path',
    message: `There is no ${path.slice(0, 200)} at this gateway.`,
    action: 'See /openapi.json for what there is.',
  });
}
