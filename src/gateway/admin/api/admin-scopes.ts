/** What an admin key may do (schemas.ts). In a file of its own, because a gateway starts without the schemas. */
export const ADMIN_SCOPES = ['read', 'keys', 'all'] as const;
export type AdminScope = (typeof ADMIN_SCOPES)[number];

export function isAdminScope(value: unknown): value is AdminScope {
  return ADMIN_SCOPES.some((scope) => scope === value);
}
