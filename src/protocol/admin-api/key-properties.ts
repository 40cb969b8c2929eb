/**
 * Values of a key that the admin API and the page know too. In a file without imports, because a gateway starts without
 * the schemas, and the page without zod.
 */

/** Rights of an admin key (`schemas.ts`). */
export const ADMIN_SCOPES = ['read', 'keys', 'all'] as const;
export type AdminScope = (typeof ADMIN_SCOPES)[number];

export function isAdminScope(value: unknown): value is AdminScope {
  return ADMIN_SCOPES.some((scope) => scope === value);
}

export const KEY_STATES = ['valid', 'rotating', 'expired', 'revoked'] as const;
export type KeyState = (typeof KEY_STATES)[number];
