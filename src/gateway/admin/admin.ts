import { SvcError } from '../../wire/errors/svc-error.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { RequestContext } from '../http/request-context.ts';
import { unknownPath } from '../http/router.ts';
import { auditRoutes } from './audit-routes.ts';
import type { AdminRoute } from './call.ts';
import { concernRoutes } from './concern-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { requestRoutes } from './request-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { usageRoutes } from './usage-routes.ts';

const PREFIX = '/admin/v1';

/** All endpoints with their handlers. */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...sessionRoutes(),
  ...keyRoutes(),
  ...usageRoutes(),
  ...requestRoutes(),
  ...overviewRoutes(),
  ...concernRoutes(),
  ...auditRoutes(),
];

/** Answers a request to the admin API. @throws SvcError 401, 403, 404, 405. */
export async function handleAdmin(deps: GatewayDeps, context: RequestContext): Promise<void> {
  const method = context.request.method === 'HEAD' ? 'GET' : context.request.method;
  const matches = ADMIN_ROUTES.flatMap((route) => {
    const name = match(`${PREFIX}${route.endpoint.path}`, context.path);
    return name === undefined ? [] : [{ route, name }];
  });
  if (matches.length === 0) throw unknownPath(context.path);
  // `/requests/live` is also a match of `/requests/{id}`, which comes later.
  const found = matches.find(({ route }) => route.endpoint.method === method);
  context.addHeaders({ 'cache-control': 'no-store' });
  if (found === undefined) {
    const allowed = matches.map(({ route }) => route.endpoint.method).join(', ');
    throw new SvcError({ errorType: 'method_not_allowed', message: `${context.path} takes ${allowed}.` });
  }
  context.logFields.route = PREFIX + found.route.endpoint.path;
  await found.route.handle(deps, context, found.name);
}

/** The decoded value of the pattern's `{…}`, empty if it has none; undefined if the path does not match. */
function match(pattern: string, path: string): string | undefined {
  const [expected, actual] = [pattern.split('/'), path.split('/')];
  if (expected.length !== actual.length) return undefined;
  let name = '';
  for (const [index, segment] of expected.entries()) {
    const given = actual[index] ?? '';
    if (segment.startsWith('{')) name = decodeSegment(given);
    else if (segment !== given) return undefined;
    if (given === '' && segment !== '') return undefined;
  }
  return name;
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
