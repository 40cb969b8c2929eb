import { hash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { AdminScope } from '../../protocol/admin-api/key-properties.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import type { RequestContext } from '../http/request-context.ts';

/** The owner of the key that a request presents. */
export interface Principal {
  /** The key's name, for logs and the ledger. */
  readonly name: string;
  /** The one organization that the key acts for. */
  readonly organization?: string;
  /** The user that the key belongs to. */
  readonly user?: string;
  /** The rights of the key in the admin API, beyond seeing its own usage. */
  readonly admin?: AdminScope;
  /** A fixed key of the operator. It may act for any organization. */
  readonly operator: boolean;
}

/** Milliseconds after which stale keys may be current again: changes are read each second. */
const AGAIN_MS = 1_000;

/** Name of the keys that are passed to the process at its start. */
export const OPERATOR = 'operator';

/** Looks up a key by its SHA-256 (hex). The time to compare hashes of random keys reveals nothing about a key. */
export interface KeyCheck {
  find(hash: string): Principal | undefined;
  /** Whether the stored keys are too old to be used, because their server did not answer for long. */
  readonly stale?: boolean;
}

export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** The last key header of a connection with its hash. Clients send the same header with each request. */
const PRESENTED = new WeakMap<Socket, { readonly bearer: boolean; readonly header: string; readonly hash: string }>();

/** The hash of the key in `Authorization: Bearer` or `x-api-key` (Anthropic's SDK). */
function presentedHash(context: RequestContext): string | undefined {
  const authorization = context.header('authorization');
  const header = authorization ?? context.header('x-api-key');
  if (header === undefined) return undefined;
  const bearer = authorization !== undefined;
  const { socket } = context.request;
  const last = PRESENTED.get(socket);
  if (last?.header === header && last.bearer === bearer) return last.hash;
  const key = bearer ? /^Bearer\s+(\S+)\s*$/i.exec(header)?.[1] : header;
  const hashed = hashKey(key ?? '');
  PRESENTED.set(socket, { bearer, header, hash: hashed });
  return hashed;
}

/** @throws SvcError 401 without a key or with an unknown key. */
export function requireKey(context: RequestContext, keys: KeyCheck): Principal {
  const principal = optionalKey(context, keys);
  if (principal) return principal;
  throw unauthorized('No API key was sent.', 'Send the gateway’s key as “Authorization: Bearer KEY”.');
}

/** As `requireKey` where a key is optional. A wrong key is refused and does not count as no key. */
export function optionalKey(context: RequestContext, keys: KeyCheck): Principal | undefined {
  const presented = presentedHash(context);
  if (presented === undefined) return undefined;
  const principal = keys.find(presented);
  if (keys.stale === true && principal?.operator !== true) throw staleKeys();
  if (principal === undefined) {
    throw unauthorized(
      'The API key is unknown to this gateway, or it has expired.',
      'Check the key, or create one with “svc keys create”.',
    );
  }
  context.logFields.key = principal.name;
  context.keyUser = principal.user;
  return principal;
}

export function unauthorized(message: string, action: string): SvcError {
  return new SvcError({ errorType: 'authentication_required', message, action });
}

function staleKeys(): SvcError {
  return new SvcError({
    errorType: 'temporarily_unavailable',
    message: 'The gateway can’t check keys, because the database of its state has been away for too long.',
    action: 'If you run this gateway, check the database that gateway.state names.',
    retryable: true,
    retryAfterMs: AGAIN_MS,
  });
}
