import { ENDPOINTS } from '../../protocol/admin-api/endpoints.ts';
import type { Session } from '../../protocol/admin-api/schemas.ts';
import { unauthorized } from '../access/authentication.ts';
import type { Route } from '../http/router.ts';
import { type Administration, route } from './call.ts';
import { isoTime } from './key-view.ts';
import { actorOf, addressOf, LOCAL, requireKeyItself, type SignIns, setCookie, signIn, type Viewer } from './viewer.ts';

/** Sign in, sign out, and who is signed in. */
export function sessionRoutes(deps: SignIns & Pick<Administration, 'settings' | 'version'>): Route[] {
  return [
    route(deps, ENDPOINTS.createSession, async ({ context, body }) => {
      const { sessionMs } = adminSettings(deps);
      const viewer = await signIn(deps, context, body, Date.now() + sessionMs);
      if (viewer?.session === undefined) {
        // A valid key is never refused because of wrong ones: behind a proxy, all clients have one address.
        deps.signIns.failed(addressOf(context));
        const what = 'key' in body ? 'The key is not valid.' : 'The link was used already, or it has expired.';
        throw unauthorized(what, 'Sign in with a valid key, or open a new link.');
      }
      context.logFields.key = viewer.name;
      // Any key can sign in. Only those that can change something are worth a place in the audit log.
      if (viewer.scope !== 'own') {
        await deps.admin.record(actorOf(viewer, context), { action: 'session.start', target: viewer.name });
      }
      await setCookie(deps, context, viewer.session.token, sessionMs);
      return { ...describe(deps, viewer), secret: viewer.session.secret };
    }),
    route(deps, ENDPOINTS.getSession, async ({ viewer }) => describe(deps, viewer)),
    route(deps, ENDPOINTS.endSession, async ({ context, viewer }) => {
      if (viewer.session) await deps.admin.endSession(viewer.session);
      await setCookie(deps, context, '', 0);
      return undefined;
    }),
    route(deps, ENDPOINTS.createLink, async ({ context, viewer }) => {
      requireKeyItself(viewer);
      const { token, expiresAt } = await deps.admin.createLink();
      await deps.admin.record(actorOf(viewer, context), { action: 'link.create', target: LOCAL });
      return { token, path: `/admin#${token}`, expires_at: new Date(expiresAt).toISOString() };
    }),
  ];
}

function describe(deps: Pick<Administration, 'settings' | 'version'>, { name, scope, session }: Viewer): Session {
  return {
    name,
    scope,
    version: deps.version,
    time_zone: adminSettings(deps).timeZone,
    secret: null,
    expires_at: isoTime(session?.expiresAt),
  };
}

function adminSettings(deps: Pick<Administration, 'settings'>) {
  const { admin } = deps.settings().gateway;
  // The settings may change between two steps of a request.
  return admin ?? { sessionMs: 0, timeZone: 'UTC' };
}
