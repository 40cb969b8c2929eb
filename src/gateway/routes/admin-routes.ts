import type { GatewayDeps } from '../gateway-deps.ts';
import { type Route, unknownPath } from '../http/router.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** The admin API. Loaded with the first request, because most gateways do not turn it on. */
export function adminRoutes(deps: GatewayDeps): Route[] {
  return METHODS.map((method) => ({
    method,
    path: '/admin/v1/*',
    withoutVersion: true,
    handle: async (context) => {
      if (deps.settings().gateway.admin === undefined) throw unknownPath(context.path);
      const { handleAdmin } = await import('../admin/admin.ts');
      await handleAdmin(deps, context);
    },
  }));
}
