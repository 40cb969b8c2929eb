import { SCOPES, type Scope } from '../../protocol/admin-api/schemas.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { hashKey, type KeyCheck, optionalKey, type Principal, unauthorized } from '../access/authentication.ts';
import type { SessionProof } from '../access/sessions.ts';
import type { SignInLimit } from '../access/sign-in-limit.ts';
import { isLocal } from '../http/local-request.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Actor } from '../state/audit-log.ts';
import type { StateAdmin } from '../state-admin.ts';

/** Name of a caller that signed in with a one-time link. */
export const LOCAL = 'local';

/** Keys and sessions of callers. */
export interface SignIns {
  readonly keys: KeyCheck;
  /** The state, for the operator's requests. */
  readonly admin: StateAdmin;
  readonly signIns: SignInLimit;
}

/** Who calls the admin API. */
export interface Viewer {
  /** Name of the key, or `local`. */
  readonly name: string;
  readonly scope: Scope;
  /** Absent for a request with a key. */
  readonly session?: SessionProof & { readonly keyHash: string; readonly expiresAt: number };
}

/** The header with the secret of a session. */
const SECRET_HEADER = 'x-session-secret';

/**
 * The caller, by its key, or by the cookie and the secret of its session.
 *
 * @throws SvcError 401 without a valid key or session.
 */
export async function identifyViewer(deps: SignIns, context: RequestContext): Promise<Viewer> {
  const principal = optionalKey(context, deps.keys);
  if (principal !== undefined) return { name: principal.name, scope: scopeOf(principal) };
  const secret = context.header(SECRET_HEADER);
  const token = secret === undefined ? undefined : readCookie(context, await cookieName(deps));
  const viewer = secret && token ? await sessionViewer(deps, { token, secret }) : undefined;
  if (viewer === undefined) {
    throw unauthorized('No valid session or API key was sent.', 'Sign in, or send “Authorization: Bearer KEY”.');
  }
  context.logFields.key = viewer.name;
  return viewer;
}

/** The viewer of a session that is still valid: its key is not revoked, expired or rotated. */
export async function sessionViewer(deps: SignIns, proof: SessionProof): Promise<Viewer | undefined> {
  const stored = await deps.admin.findSession(proof);
  if (stored === undefined) return undefined;
  const { token, secret } = proof;
  const session = { token, secret, ...stored };
  if (stored.keyHash === '') return { name: LOCAL, scope: 'all', session };
  const principal = deps.keys.find(stored.keyHash);
  return principal && { name: principal.name, scope: scopeOf(principal), session };
}

/**
 * Signs in with a key, or with the token of a one-time link. @returns undefined if it is not valid.
 *
 * @throws SvcError 403 for a one-time link on another machine, 429 for too many sign-ins with one key.
 */
export async function signIn(
  deps: SignIns,
  context: RequestContext,
  input: { readonly key: string } | { readonly token: string },
  expiresAt: number,
): Promise<Viewer | undefined> {
  const byKey = 'key' in input;
  if (!byKey && !isLocal(context)) {
    throw denied('A one-time link works only on the machine of the gateway.', 'Sign in with a key.');
  }
  const keyHash = byKey ? hashKey(input.key) : '';
  const principal = byKey ? deps.keys.find(keyHash) : undefined;
  if (principal) deps.signIns.succeeded(principal.name);
  else if (byKey || !(await deps.admin.useLink(input.token))) return undefined;
  const known = readCookie(context, await cookieName(deps));
  return sessionViewer(deps, await deps.admin.startSession(keyHash, expiresAt, known));
}

/**
 * For actions that outlast the session, and so need more than it: the caller types its key again.
 *
 * @throws SvcError 403 without it, 429 after too many wrong ones.
 */
export function confirmKey(deps: SignIns, context: RequestContext, viewer: Viewer, key: string | undefined): void {
  if (viewer.session === undefined) return;
  if (key === undefined) {
    throw denied('A session may do this only with the key.', 'Send the key as “confirm_key”.');
  }
  const found = deps.keys.find(hashKey(key));
  const same = viewer.session.keyHash === '' || found?.name === viewer.name;
  if (found !== undefined && same && scopeOf(found) === 'all') return;
  deps.signIns.failed(addressOf(context));
  throw denied('This is not the key of the session.', 'Type the key that you signed in with.');
}

/** @throws SvcError 403 for a session. */
export function requireKeyItself({ session }: Viewer): void {
  if (session) throw denied('A session can’t create a link.', 'Send “Authorization: Bearer KEY”.');
}

export function addressOf(context: RequestContext): string {
  return context.request.socket.remoteAddress ?? '';
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

/** Sets the cookie of a session, or removes it. */
export async function setCookie(
  deps: SignIns,
  context: RequestContext,
  token: string,
  maxAgeMs: number,
): Promise<void> {
  const secure = context.header('origin')?.startsWith('https:') || context.header('x-forwarded-proto') === 'https';
  const attributes = ['Path=/admin', 'HttpOnly', 'SameSite=Strict', `Max-Age=${Math.floor(maxAgeMs / 1000)}`];
  const cookie = [`${await cookieName(deps)}=${token}`, ...attributes, ...(secure ? ['Secure'] : [])].join('; ');
  context.addHeaders({ 'set-cookie': cookie });
}

function readCookie(context: RequestContext, name: string): string | undefined {
  for (const part of (context.header('cookie') ?? '').split(';')) {
    const equals = part.indexOf('=');
    if (part.slice(0, equals).trim() === name) return part.slice(equals + 1).trim();
  }
  return undefined;
}

/**
 * Each state has a cookie of its own: browsers do not separate the ports of a host, and a balancer sends the requests
 * of one page to several ports.
 */
async function cookieName({ admin }: Pick<SignIns, 'admin'>): Promise<string> {
  return `svc_admin_${await admin.stateId()}`;
}

function scopeOf({ operator, admin }: Principal): Scope {
  return operator ? 'all' : (admin ?? 'own');
}

function denied(message: string, action: string): SvcError {
  return new SvcError({ errorType: 'permission_denied', message, action });
}
