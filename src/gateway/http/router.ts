import { SvcError } from '../../wire/errors/svc-error.ts';
import type { FormatName } from '../../wire/format-name.ts';
import type { RequestContext } from './request-context.ts';

export type RouteParams = Readonly<Record<string, string | undefined>>;

export interface Route {
  readonly method: (typeof METHODS)[number];
  /** Path with or without `/v1` in front (spec 9). A `*` at the end matches a name that may contain slashes. */
  readonly path: string;
  /** The path does not exist with `/v1` in front. */
  readonly withoutVersion?: true;
  /** The format of error bodies that clients of the route expect. */
  readonly format?: FormatName;
  readonly handle: (context: RequestContext, params: RouteParams) => void | Promise<void>;
}

const NO_PARAMS: RouteParams = {};
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** Finds the route of a request. A path that needs decoding or normalising matches no route. */
export class Router {
  readonly #exact = byMethod();
  /** Routes that end with `*`, by the path before it. */
  readonly #prefixes = byMethod();

  constructor(routes: readonly Route[]) {
    for (const route of routes) {
      for (const path of route.withoutVersion ? [route.path] : [route.path, `/v1${route.path}`]) {
        if (path.endsWith('/*')) this.#prefixes[route.method].set(path.slice(0, -1), route);
        else this.#exact[route.method].set(path, route);
      }
    }
  }

  /** @throws SvcError 404 invalid_path, 405 method_not_allowed. */
  find(context: RequestContext): { readonly route: Route; readonly params: RouteParams } {
    const { path } = context;
    const method = context.request.method ?? 'GET';
    // Node sends no body as the answer to HEAD.
    const own = method === 'HEAD' ? 'GET' : METHODS.find((each) => each === method);
    const found = own && this.#match(own, path);
    if (found !== undefined) return found;
    const allowed = METHODS.filter((other) => this.#match(other, path) !== undefined);
    const [other] = allowed;
    if (other !== undefined && !path.includes('%')) {
      context.format = this.#match(other, path)?.route.format;
      context.addHeaders({ allow: allowed.join(', ') });
      throw new SvcError({
        errorType: 'method_not_allowed',
        message: `${path} takes ${allowed.join(', ')}, not ${method.slice(0, 20)}.`,
      });
    }
    throw unknownPath(path);
  }

  #match(method: Route['method'], path: string): { readonly route: Route; readonly params: RouteParams } | undefined {
    const route = this.#exact[method].get(path);
    if (route !== undefined) return { route, params: NO_PARAMS };
    if (!isPlain(path)) return undefined;
    for (const [prefix, route] of this.#prefixes[method]) {
      if (path.startsWith(prefix)) return { route, params: { '*': decodeName(path.slice(prefix.length), path) } };
    }
    return undefined;
  }
}

function byMethod(): Record<Route['method'], Map<string, Route>> {
  return { GET: new Map(), POST: new Map(), PATCH: new Map(), DELETE: new Map() };
}

/** False for paths that servers and proxies interpret differently: `//`, `\`, `.` and `..` segments, also encoded. */
function isPlain(path: string): boolean {
  return !/\/\/|\\|;|\/\.{1,2}(\/|$)|%(?:2e|5c|00|25)/i.test(path);
}

/** The name at the end of a path. Clients send the slash in it plain or encoded. */
function decodeName(name: string, path: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw unknownPath(path);
  }
}

export function unknownPath(path: string): SvcError {
  return new SvcError({
    errorType: 'invalid_path',
    message: `There is no ${path.slice(0, 200)} at this gateway.`,
    action: 'See /openapi.json for the available paths.',
  });
}
