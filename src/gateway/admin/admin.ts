import type { Route } from '../http/router.ts';
import { auditRoutes } from './audit-routes.ts';
import type { Administration } from './call.ts';
import { concernRoutes } from './concern-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { requestRoutes } from './request-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { usageRoutes } from './usage-routes.ts';

/** All endpoints with their handlers. */
export function adminRoutes(deps: Administration): readonly Route[] {
  return [
    ...sessionRoutes(deps),
    ...keyRoutes(deps),
    ...usageRoutes(deps),
    ...requestRoutes(deps),
    ...overviewRoutes(deps),
    ...concernRoutes(deps),
    ...auditRoutes(deps),
  ];
}
