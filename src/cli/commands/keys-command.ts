import { parseArgs } from 'node:util';
import { parseDuration } from '../../base/duration.ts';
import { nearMisses } from '../../base/near-miss.ts';
import { textTable } from '../../base/text-table.ts';
import type { LimitSettings } from '../../config/settings/settings.ts';
import { adminScope, KEY_NAME, type Key, type RateInput } from '../../protocol/admin-api/schemas.ts';
import { openContext, withConfig } from '../cli-context.ts';
import { changeLimits, type LimitOptions, parseLimits } from '../input/limit-options.ts';
import { parseMoment } from '../input/option-values.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import type { GatewayAccess } from '../remote/admin-client.ts';
import { withGateway } from '../remote/gateway-access.ts';

/** How long a rotated key stays valid. */
const GRACE = '24h';

/** `svc keys create|list|update|rotate|revoke`: manages the gateway's keys. A key is shown once and stored as a hash. */
export async function run(args: string[], outer: Io): Promise<number> {
  const parsed = parseArgs({ args, allowPositionals: true, options: OPTIONS.keys });
  const io = withConfig(outer, parsed.values.config);
  return withGateway(io, parsed.values.gateway, (gateway) => runAction(gateway, parsed, io));
}

interface Parsed {
  readonly values: LimitOptions & {
    readonly name?: string;
    readonly org?: string;
    readonly user?: string;
    readonly admin?: string;
    readonly expires?: string;
    readonly grace?: string;
    readonly cut?: boolean;
    readonly json?: boolean;
    readonly gateway?: string;
  };
  readonly positionals: readonly string[];
}

async function runAction(gateway: GatewayAccess, { values, positionals }: Parsed, io: Io): Promise<number> {
  const [action, ...names] = positionals;
  switch (action) {
    case 'create':
      if (values.org !== undefined && values.gateway === undefined) await requireOrganization(values.org, io);
      await create(gateway, { ...values, name: values.name ?? names[0], limits: parseLimits(values) }, io);
      if (values.gateway === undefined) await warnOfUnknownModels(parseLimits(values), io);
      return 0;
    case 'list':
      await list(gateway, values.json === true, io);
      return 0;
    case 'update':
      await update(gateway, requireName(names, values.name), values, io);
      if (values.gateway === undefined) await warnOfUnknownModels(parseLimits(values), io);
      return 0;
    case 'rotate': {
      const grace = parseDuration(values.grace ?? GRACE);
      if (grace === undefined) throw new UsageError('--grace must be a duration such as 0, 30m, 24h or 7d.');
      const name = requireName(names, values.name);
      const key = await gateway.rotateKey(name, grace);
      if (values.json) await printJson(io, { name, key });
      else
        await io.out(
          `The old key remains valid for ${values.grace ?? GRACE}. The new key is shown only once:\n${key}\n`,
        );
      return 0;
    }
    case 'revoke': {
      const name = requireName(names, values.name);
      await gateway.revokeKey(name, values.cut === true);
      if (values.json) return await printJson(io, { name, state: 'revoked' });
      const running = values.cut ? ' and ends its running requests' : '';
      await io.out(`${name} is revoked. A running gateway rejects it${running} within a second.\n`);
      return 0;
    }
    default:
      throw new UsageError('Use svc keys create, list, update NAME, rotate NAME or revoke NAME.');
  }
}

interface NewKey {
  readonly name?: string | undefined;
  readonly org?: string | undefined;
  readonly user?: string | undefined;
  readonly admin?: string | undefined;
  readonly expires?: string | undefined;
  readonly json?: boolean | undefined;
  readonly limits: Partial<LimitSettings>;
}

async function create(
  gateway: GatewayAccess,
  { name, org, user, admin, expires, limits, json }: NewKey,
  io: Io,
): Promise<void> {
  if (name === undefined || !KEY_NAME.test(name) || name === 'operator') {
    throw new UsageError(
      '--name must be 1 to 100 letters, digits, dots, hyphens, underscores or @, and not “operator”.',
    );
  }
  if (user !== undefined && !KEY_NAME.test(user)) {
    throw new UsageError('--user must be 1 to 100 letters, digits, dots, hyphens, underscores or @.');
  }
  const scope = adminScope.optional().safeParse(admin);
  if (!scope.success) throw new UsageError('--admin must be read, keys or all.');
  const expiresAt = expires === undefined ? undefined : parseMoment(expires);
  if (expires !== undefined && (expiresAt === undefined || expiresAt <= Date.now())) {
    throw new UsageError('--expires must be a date in the future (2027-01-31) or a duration from now (30d).');
  }
  const key = await gateway.createKey({
    name,
    organization: org,
    user,
    admin: scope.data,
    limits: { budgets: [], rates: [], ...limits },
    expiresAt,
  });
  if (json) await printJson(io, { name, key });
  else await io.out(`The key ${name} is shown only once; only its hash is stored:\n${key}\n`);
}

/** The gateway rejects every request with a key of an organization that is not configured. */
async function requireOrganization(org: string, io: Io): Promise<void> {
  const { settings } = await openContext(io);
  if (settings.gateway.organizations.has(org)) return;
  const known = [...settings.gateway.organizations.keys()].join(', ') || 'none';
  throw new UsageError(`The organization ${org} is not in gateway.organizations of svc.jsonc (configured: ${known}).`);
}

/** A limit for models that do not exist limits nothing. */
async function warnOfUnknownModels({ budgets = [], rates = [] }: Partial<LimitSettings>, io: Io): Promise<void> {
  const models = new Set([...budgets, ...rates].map(({ model }) => model).filter((model) => model !== '*'));
  if (models.size === 0) return;
  const { registry } = await openContext(io);
  for (const model of models) {
    const slash = model.indexOf('/');
    const id = model.slice(0, slash);
    if (slash < 0 || id.includes('*') || registry.providers.has(id)) continue;
    const [near] = nearMisses(id, registry.providers.keys());
    const hint = near === undefined ? '' : ` Did you mean “${near}${model.slice(slash)}”?`;
    await io.err(`warning: There is no provider “${id}”, so “${model}” limits nothing.${hint}\n`);
  }
}

/** For other programs: nothing else is printed. */
async function printJson(io: Io, value: unknown): Promise<number> {
  await io.out(`${JSON.stringify(value, null, 2)}\n`);
  return 0;
}

async function update(
  gateway: GatewayAccess,
  name: string,
  options: LimitOptions & { readonly json?: boolean },
  io: Io,
): Promise<void> {
  const before = (await gateway.listKeys()).find((key) => key.name === name);
  const limits = changeLimits(before?.rates ?? [], options);
  if (limits.budgets === undefined && limits.rates === undefined) {
    throw new UsageError('Specify what to change: --budget, --rpm, --tpm or --parallel. “none” removes it.');
  }
  await gateway.updateKey(name, limits);
  if (options.json) await printJson(io, { name, ...limits });
  else await io.out(`The limits of ${name} are changed. A running gateway uses them within a second.\n`);
}

function requireName(names: readonly string[], option: string | undefined): string {
  const name = option ?? names[0];
  if (name === undefined || names.length > 1) throw new UsageError('Specify the name of one key.');
  return name;
}

async function list(gateway: GatewayAccess, json: boolean, io: Io): Promise<void> {
  const keys = await gateway.listKeys();
  if (json) return io.out(`${JSON.stringify(keys.map(described), null, 2)}\n`);
  const rows = keys.map((key) => [
    key.name,
    key.organization ?? '',
    key.user ?? '',
    key.state,
    describeSpent(key),
    key.rates.map(describeRate).join(', '),
    key.created_at.slice(0, 10),
    key.expires_at?.slice(0, 10) ?? '',
  ]);
  await io.out(textTable(['NAME', 'ORGANIZATION', 'USER', 'STATE', 'SPENT USD', 'RATE', 'CREATED', 'EXPIRES'], rows));
}

function describeSpent({ budgets, spent }: Key): string {
  if (budgets.length === 0) return spent.toFixed(4);
  return budgets
    .map((budget) => {
      const period = budget.period === 'total' ? '' : `/${budget.period}`;
      const models = budget.model === '*' ? '' : `:${budget.model}`;
      const mode = budget.mode === 'hard' ? ' hard' : '';
      return `${budget.spent.toFixed(4)} of ${budget.usd}${period}${models}${mode}`;
    })
    .join(', ');
}

function describeRate({ requests, tokens, parallel, model }: RateInput): string {
  const models = model === '*' ? '' : `:${model}`;
  const parts = [
    requests === undefined ? [] : [`${requests} rpm`],
    tokens === undefined ? [] : [`${tokens} tpm`],
    parallel === undefined ? [] : [`${parallel} parallel`],
  ];
  return parts.flat().join(' ') + models;
}

function described({ name, organization, user, admin, state, spent, budgets, rates, created_at, expires_at }: Key) {
  return {
    name,
    organization,
    user,
    admin,
    state,
    spent,
    budget: budgets.find(({ period, model }) => period === 'total' && model === '*')?.usd ?? null,
    rpm: rates.find(({ model }) => model === '*')?.requests ?? null,
    budgets: budgets.map(({ usd, spent, period, time_zone, mode, model }) => {
      return { usd, spent, period, time_zone, mode, model };
    }),
    rates,
    created_at,
    expires_at,
  };
}
