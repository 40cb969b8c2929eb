import { SvcError } from '../../wire/errors/svc-error.ts';
import { hashKey, optionalKey, type Principal, unauthorized } from '../access/authentication.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { isLocal } from '../http/local-request.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Actor } from '../state/audit-log.ts';
import { SCOPES, type Scope } from './api/schemas.ts';
import { csrfToken, isCsrfToken } from './sessions.ts';

/** Name of a caller that signed in with a one-time link. */
export const LOCAL = 'local';

/** Who calls the admin API. */
export interface Viewer {
  /** Name of the key, or `local`. */
  readonly name: string;
  readonly scope: Scope;
  /** Absent for a request with a key. */
  readonly session?: { readonly token: string; readonly csrf: string; readonly expiresAt: number };
}

/**
 * The caller, by its key or by the cookie of its session.
 *
 * @throws SvcError 401 without a valid key or session, 403 for a change with a session but without its CSRF token.
 */
export async function identifyViewer(deps: GatewayDeps, context: RequestContext): Promise<Viewer> {
  const principal = optionalKey(context, deps.keys);
  if (principal !== undefined) return { name: principal.name, scope: scopeOf(principal) };
  const token = readCookie(context);
  const viewer = token === undefined ? undefined : await sessionViewer(deps, token);
  if (viewer?.session === undefined) {
    throw unauthorized('No valid session or API key was sent.', 'Sign in, or send “Authorization: Bearer KEY”.');
  }
  context.logFields.key = viewer.name;
  const { method } = context.request;
  const reads = method === 'GET' || method === 'HEAD';
  if (!reads && !isCsrfToken(context.header('x-csrf-token'), viewer.session.token)) {
    throw denied('The request lacks the CSRF token of the session.', 'Send it as X-CSRF-Token.');
  }
  return viewer;
}

/** The viewer of a session that is still valid: its key is not revoked, expired or rotated. */
export async function sessionViewer(deps: GatewayDeps, token: string): Promise<Viewer | undefined> {
  const stored = await deps.admin.findSession(token);
  if (stored === undefined) return undefined;
  const session = { token, csrf: csrfToken(token), expiresAt: stored.expiresAt };
  if (stored.keyHash === '') return { name: LOCAL, scope: 'all', session };
  const principal = deps.keys.find(stored.keyHash);
  return principal && { name: principal.name, scope: scopeOf(principal), session };
}

/**
 * Signs in with a key, or with the token of a one-time link. @returns undefined if it is not valid.
 *
 * @throws SvcError 403 for a one-time link on another machine.
 */
export async function signIn(
  deps: GatewayDeps,
  context: RequestContext,
  input: { readonly key: string } | { readonly token: string },
  expiresAt: number,
): Promise<Viewer | undefined> {
  const byKey = 'key' in input;
  if (!byKey && !isLocal(context)) {
    throw denied('A one-time link works only on the machine of the gateway.', 'Sign in with a key.');
  }
  const keyHash = byKey ? hashKey(input.key) : '';
  const valid = byKey ? deps.keys.find(keyHash) !== undefined : await deps.admin.useLink(input.token);
  return valid ? sessionViewer(deps, await deps.admin.startSession(keyHash, expiresAt)) : undefined;
}

/** @throws SvcError 403 if the caller's scope is not enough. */
export function requireScope({ scope }: Viewer, needed: Scope): void {
  if (SCOPES.indexOf(scope) >= SCOPES.indexOf(needed)) return;
  throw denied(
    `This needs an admin key with the scope ${needed}; yours is ${scope === 'own' ? 'not an admin key' : scope}.`,
    `Create one with “svc keys create --admin ${needed}”.`,
  );
}

/**
 * The key that a list is filtered by: a caller that is not an admin sees its own key only.
 *
 * @throws SvcError 403 if it names another one.
 */
export function ownFilter({ name, scope }: Viewer, key: string | undefined): string | undefined {
  if (scope !== 'own') return key;
  if (key === undefined || key === name) return name;
  throw denied('Your key may see its own usage only.', 'Use an admin key with the scope read.');
}

export function actorOf(viewer: Viewer, context: RequestContext): Actor {
  return { who: viewer.name, source: context.request.socket.remoteAddress ?? 'unknown' };
}

/** Sets the cookie of a session, or removes it. Each port has a cookie of its own: browsers do not separate ports. */
export function setCookie(context: RequestContext, token: string, maxAgeMs: number): void {
  const secure = context.header('origin')?.startsWith('https:') || context.header('x-forwarded-proto') === 'https';
  const attributes = ['Path=/admin', 'HttpOnly', 'SameSite=Strict', `Max-Age=${Math.floor(maxAgeMs / 1000)}`];
  const cookie = [`${cookieName(context)}=${token}`, ...attributes, ...(secure ? ['Secure'] : [])].join('; ');
  context.addHeaders({ 'set-cookie': cookie });
}

function readCookie(context: RequestContext): string | undefined {
  const name = cookieName(context);
  for (const part of (context.header('cookie') ?? '').split(';')) {
    const equals = part.indexOf('=');
    if (part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}

function cookieName(context: RequestContext): string {
  return `svc_admin_${context.request.socket.localPort}`;
}

function scopeOf({ operator, admin }: Principal): Scope {
  return operator ? 'all' : (admin ?? 'own');
}

export function denied(message: string, action: string): SvcError {
  return new SvcError({ errorType: 'permission_denied', message, action });
}
