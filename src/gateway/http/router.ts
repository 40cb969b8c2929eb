import { SvcError } from '../../wire/errors/svc-error.ts';
import type { FormatName } from '../../wire/format-name.ts';
import type { RequestContext } from './request-context.ts';

export type RouteParams = Readonly<Record<string, string | undefined>>;

export interface Route {
  readonly method: (typeof METHODS)[number];
  /**
   * Path with or without `/v1` in front (spec 9). `{name}` matches one segment that is not empty, `*` at the end matches
   * a name that may contain slashes. A path without them comes first.
   */
  readonly path: string;
  /** The path does not exist with `/v1` in front. */
  readonly withoutVersion?: true;
  /** The format of error bodies that clients of the route expect. */
  readonly format?: FormatName;
  readonly handle: (context: RequestContext, params: RouteParams) => void | Promise<void>;
}

/** Routes whose code is loaded with the first request to one of them. */
export interface LazyRoutes {
  /** The beginning of all their paths, with a slash at the end. */
  readonly prefix: string;
  /** Called for each request. @throws SvcError if they are turned off. */
  readonly load: (context: RequestContext) => Promise<Router>;
}

interface FoundRoute {
  readonly route: Route;
  readonly params: RouteParams;
}

const NO_PARAMS: RouteParams = {};
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** Finds the route of a request. A path that needs decoding or normalising matches no route. */
export class Router {
  readonly #exact = byMethod<Map<string, Route>>(() => new Map());
  /** Routes with parameters, by the segments of their paths. */
  readonly #patterns = byMethod<{ readonly segments: readonly string[]; readonly route: Route }[]>(() => []);
  readonly #lazy: readonly LazyRoutes[];

  constructor(routes: readonly Route[], lazy: readonly LazyRoutes[] = []) {
    this.#lazy = lazy;
    for (const route of routes) {
      for (const path of route.withoutVersion ? [route.path] : [route.path, `/v1${route.path}`]) {
        if (/[{*]/.test(path)) this.#patterns[route.method].push({ segments: path.split('/'), route });
        else this.#exact[route.method].set(path, route);
      }
    }
  }

  /** @throws SvcError 404 invalid_path, 405 method_not_allowed (426 for a WebSocket). */
  find(context: RequestContext): FoundRoute | Promise<FoundRoute> {
    const { path } = context;
    const method = context.request.method ?? 'GET';
    // Node sends no body as the answer to HEAD.
    const own = method === 'HEAD' ? 'GET' : METHODS.find((each) => each === method);
    const found = own && this.#match(own, path);
    if (found !== undefined) return found;
    const lazy = this.#lazy.find(({ prefix }) => path.startsWith(prefix));
    if (lazy !== undefined) return findLazily(lazy, context);
    const others = METHODS.flatMap((other) => this.#match(other, path) ?? []);
    const [other] = others;
    if (other === undefined) throw unknownPath(path);
    const allowed = others.map(({ route }) => route.method).join(', ');
    context.format = other.route.format;
    context.addHeaders({ allow: allowed });
    if (wantsWebSocket(context)) {
      throw new SvcError({
        errorType: 'method_not_allowed',
        status: 426,
        message: `The gateway has no WebSocket. ${path} takes ${allowed}, and streams its answer as server-sent events.`,
      });
    }
    throw new SvcError({
      errorType: 'method_not_allowed',
      message: `${path} takes ${allowed}, not ${method.slice(0, 20)}.`,
    });
  }

  #match(method: Route['method'], path: string): FoundRoute | undefined {
    const route = this.#exact[method].get(path);
    if (route !== undefined) return { route, params: NO_PARAMS };
    if (this.#patterns[method].length === 0 || !isPlain(path)) return undefined;
    const given = path.split('/');
    for (const { segments, route } of this.#patterns[method]) {
      const params = matchSegments(segments, given, path);
      if (params !== undefined) return { route, params };
    }
    return undefined;
  }
}

/**
 * Codex tries a WebSocket first: after 426 it sends the request as POST at once, after another status only when it has
 * tried five times (openai/codex#43353, #19821). Not all proxies forward `Upgrade`.
 */
function wantsWebSocket({ request: { headers } }: RequestContext): boolean {
  return /^websocket$/i.test(headers.upgrade ?? '') || headers['sec-websocket-key'] !== undefined;
}

async function findLazily({ prefix, load }: LazyRoutes, context: RequestContext): Promise<FoundRoute> {
  // For the log line of a request that matches no route.
  context.logFields.route = `${prefix}*`;
  const router = await load(context);
  return router.find(context);
}

function byMethod<T>(create: () => T): Record<Route['method'], T> {
  return { GET: create(), POST: create(), PATCH: create(), DELETE: create() };
}

/** False for paths that servers and proxies interpret differently: `//`, `\`, `.` and `..` segments, also encoded. */
function isPlain(path: string): boolean {
  return !/\/\/|\\|;|\/\.{1,2}(\/|$)|%(?:2e|5c|00|25)/i.test(path);
}

function matchSegments(pattern: readonly string[], given: readonly string[], path: string): RouteParams | undefined {
  const params: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    const text = given[index];
    if (text === undefined) return undefined;
    if (segment === '*') return { ...params, '*': decodeName(given.slice(index).join('/'), path) };
    if (segment.startsWith('{') && text !== '') params[segment.slice(1, -1)] = decodeName(text, path);
    else if (segment !== text) return undefined;
  }
  return given.length === pattern.length ? params : undefined;
}

/** A name in a path. Clients send the slash in it plain or encoded. */
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
