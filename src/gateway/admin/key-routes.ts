import { parseDuration } from '../../base/duration.ts';
import { defined } from '../../base/json.ts';
import { isTimeZone } from '../../base/time-zone.ts';
import type { LimitSettings } from '../../config/settings/settings.ts';
import { ENDPOINTS } from '../../protocol/admin-api/endpoints.ts';
import type { BudgetInput, Key, RateInput } from '../../protocol/admin-api/schemas.ts';
import { invalidRequest } from '../../wire/errors/svc-error.ts';
import { type FoundKey, unknownKey } from '../access/key-store.ts';
import type { Route } from '../http/router.ts';
import { type Administration, readCursor, route, writeCursor } from './call.ts';
import { describeKey } from './key-view.ts';
import { actorOf, confirmKey, requireScope, type SignIns, type Viewer } from './viewer.ts';

/** Keys: list, create, change, rotate, revoke. */
export function keyRoutes(deps: SignIns & Pick<Administration, 'settings' | 'limits'>): Route[] {
  return [
    route(deps, ENDPOINTS.listKeys, async ({ query }) => {
      const { cursor, limit, ...filter } = query;
      const { keys, total } = await deps.admin.searchKeys({ ...filter, after: readCursor(cursor), limit: limit + 1 });
      const page = keys.slice(0, limit);
      const last = page.at(-1);
      const next = keys.length > limit && last ? writeCursor(last.name) : null;
      return { data: describeKeys(deps, page), next, total };
    }),
    route(deps, ENDPOINTS.getKey, ({ name }) => findDescribed(deps, name)),
    route(deps, ENDPOINTS.createKey, async ({ context, viewer, body }) => {
      const { name, organization, user, admin, expires_at } = body;
      if (admin !== undefined) {
        requireScope(viewer, 'all');
        confirmKey(deps, context, viewer, body.confirm_key);
      }
      if (organization !== undefined && !deps.settings().gateway.organizations.has(organization)) {
        throw invalidRequest('organization', `There is no organization “${organization}” at this gateway.`);
      }
      const secret = await deps.admin.createKey(actorOf(viewer, context), {
        ...defined({ name, organization, user, admin }),
        name,
        limits: { budgets: [], rates: [], ...readLimits(body) },
        expiresAt: expires_at === undefined ? undefined : readExpiry(expires_at),
      });
      return { key: await findDescribed(deps, name), secret };
    }),
    route(deps, ENDPOINTS.changeKey, async ({ context, viewer, body, name }) => {
      await requireChange(deps, viewer, name);
      await deps.admin.updateKey(actorOf(viewer, context), name, readLimits(body));
      return findDescribed(deps, name);
    }),
    route(deps, ENDPOINTS.rotateKey, async ({ context, viewer, body, name }) => {
      const graceMs = parseDuration(body.grace);
      if (graceMs === undefined) throw invalidRequest('grace', '“grace” must be a duration such as 0, 30m, 24h or 7d.');
      const { admin } = await requireChange(deps, viewer, name);
      // The new secret is as good as a new admin key.
      if (admin !== undefined) confirmKey(deps, context, viewer, body.confirm_key);
      const secret = await deps.admin.rotateKey(actorOf(viewer, context), name, graceMs);
      return { key: await findDescribed(deps, name), secret };
    }),
    route(deps, ENDPOINTS.revokeKey, async ({ context, viewer, body, name }) => {
      await requireChange(deps, viewer, name);
      await deps.admin.revokeKey(actorOf(viewer, context), name, body.cut);
      return findDescribed(deps, name);
    }),
  ];
}

/** Only the scope `all` may change admin keys: another scope could otherwise raise itself. @throws SvcError 403, 404. */
async function requireChange(deps: Pick<Administration, 'admin'>, viewer: Viewer, name: string): Promise<FoundKey> {
  const key = await deps.admin.findKey(name);
  if (key === undefined) throw unknownKey(name);
  if (key.admin !== undefined) requireScope(viewer, 'all');
  return key;
}

async function findDescribed(deps: Pick<Administration, 'admin' | 'limits'>, name: string): Promise<Key> {
  const key = await deps.admin.findKey(name);
  const [described] = key ? describeKeys(deps, [key]) : [];
  if (described) return described;
  throw unknownKey(name);
}

function describeKeys(deps: Pick<Administration, 'limits'>, keys: readonly FoundKey[]): Key[] {
  return keys.map((key) => describeKey(key, (id) => deps.limits.budget(id)?.spent() ?? 0));
}

function readLimits(body: {
  readonly budgets?: readonly BudgetInput[] | undefined;
  readonly rates?: readonly RateInput[] | undefined;
}): Partial<LimitSettings> {
  const budgets = body.budgets?.map(({ time_zone, ...budget }) => {
    if (!isTimeZone(time_zone)) throw invalidRequest('time_zone', `The time zone “${time_zone}” is unknown.`);
    return { ...budget, timeZone: time_zone };
  });
  const rates = body.rates?.map(({ model, ...numbers }) => ({ ...defined(numbers), model }));
  return defined({ budgets, rates });
}

function readExpiry(text: string): number {
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (at > Date.now()) return at;
  throw invalidRequest('expires_at', '“expires_at” must be a time in the future, such as 2027-01-31T00:00:00Z.');
}
