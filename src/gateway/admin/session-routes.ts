import { unauthorized } from '../access/authentication.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { ENDPOINTS } from './api/endpoints.ts';
import type { Session } from './api/schemas.ts';
import { type AdminRoute, route } from './call.ts';
import { isoTime } from './key-view.ts';
import { actorOf, LOCAL, setCookie, signIn, type Viewer } from './viewer.ts';

/** Sign in, sign out, and who is signed in. */
export function sessionRoutes(): AdminRoute[] {
  return [
    route(ENDPOINTS.createSession, async ({ deps, context, body }) => {
      const address = context.request.socket.remoteAddress ?? '';
      deps.signIns.check(address);
      const { sessionMs } = adminSettings(deps);
      const viewer = await signIn(deps, context, body, Date.now() + sessionMs);
      if (viewer?.session === undefined) {
        deps.signIns.failed(address);
        const what = 'key' in body ? 'The key is not valid.' : 'The link was used already, or it has expired.';
        throw unauthorized(what, 'Sign in with a valid key, or open a new link.');
      }
      context.logFields.key = viewer.name;
      await deps.admin.record(actorOf(viewer, context), { action: 'session.start', target: viewer.name });
      setCookie(context, viewer.session.token, sessionMs);
      return describe(deps, viewer);
    }),
    route(ENDPOINTS.getSession, async ({ deps, viewer }) => describe(deps, viewer)),
    route(ENDPOINTS.endSession, async ({ deps, context, viewer }) => {
      if (viewer.session) await deps.admin.endSession(viewer.session.token);
      setCookie(context, '', 0);
      return undefined;
    }),
    route(ENDPOINTS.createLink, async ({ deps, context, viewer }) => {
      const { token, expiresAt } = await deps.admin.createLink();
      await deps.admin.record(actorOf(viewer, context), { action: 'link.create', target: LOCAL });
      return { token, path: `/admin#${token}`, expires_at: new Date(expiresAt).toISOString() };
    }),
  ];
}

function describe(deps: GatewayDeps, { name, scope, session }: Viewer): Session {
  return {
    name,
    scope,
    version: deps.version,
    time_zone: adminSettings(deps).timeZone,
    csrf: session?.csrf ?? null,
    expires_at: isoTime(session?.expiresAt),
  };
}

function adminSettings(deps: GatewayDeps) {
  const { admin } = deps.settings().gateway;
  // The settings may change between two steps of a request.
  return admin ?? { sessionMs: 0, timeZone: 'UTC' };
}
