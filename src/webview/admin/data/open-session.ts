import { ENDPOINTS } from '../../../protocol/admin-api/endpoints.ts';
import type { Session } from '../../../protocol/admin-api/schemas.ts';
import type { AdminApi } from './admin-api.ts';

export type SessionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open'; readonly session: Session }
  /** `link`: the one-time link is no longer valid. `ended`: the gateway no longer accepts the session. */
  | { readonly kind: 'closed'; readonly reason?: 'ended' | 'link' };

/** Opens the session of this browser, with the one-time link of the address if it has one. */
export async function openSession(api: AdminApi): Promise<SessionState> {
  const token = /^#([\w-]{20,200})$/.exec(location.hash)?.[1];
  if (token !== undefined) {
    // A token must not stay in the browser's history.
    history.replaceState(null, '', location.pathname + location.search);
    const opened = await signIn(api, { token }).catch(() => undefined);
    if (opened !== undefined) return { kind: 'open', session: opened };
  }
  for (;;) {
    try {
      if (api.secret !== '') return { kind: 'open', session: await api.call(ENDPOINTS.getSession) };
    } catch (thrown) {
      if (thrown instanceof TypeError) {
        await connected(api);
        continue;
      }
    }
    return token === undefined ? { kind: 'closed' } : { kind: 'closed', reason: 'link' };
  }
}

/** @throws ApiError if the gateway refuses the key or the token. */
export async function signIn(api: AdminApi, input: { key: string } | { token: string }): Promise<Session> {
  const session = await api.call(ENDPOINTS.createSession, { body: input });
  api.secret = session.secret ?? '';
  return session;
}

/** Resolves when the gateway answers again. */
function connected(api: AdminApi): Promise<void> {
  return new Promise((resolve) => {
    const stop = api.lost.subscribe((lost) => {
      if (lost) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}
