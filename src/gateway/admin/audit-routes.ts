import { ENDPOINTS } from '../../protocol/admin-api/endpoints.ts';
import { invalidRequest } from '../../wire/errors/svc-error.ts';
import type { Route } from '../http/router.ts';
import { readCursor, route, writeCursor } from './call.ts';
import type { SignIns } from './viewer.ts';

/** Changes, with their authors and addresses. */
export function auditRoutes(deps: SignIns): Route[] {
  return [
    route(deps, ENDPOINTS.listAudit, async ({ query }) => {
      const { cursor, limit, ...filter } = query;
      const rows = await deps.admin.audit({ ...filter, before: readNumber(cursor), limit: limit + 1 });
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      return {
        data: page.map(({ at, details, ...row }) => ({
          ...row,
          at: new Date(at).toISOString(),
          details: { ...details },
        })),
        next: rows.length > limit && last ? writeCursor(String(last.id)) : null,
      };
    }),
  ];
}

function readNumber(cursor: string | undefined): number | undefined {
  const text = readCursor(cursor);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw invalidRequest('cursor', 'The cursor is not one of this gateway.');
}
