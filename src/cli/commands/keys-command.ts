import { parseArgs } from 'node:util';
import { parseDuration } from '../../base/duration.ts';
import { toUsd } from '../../base/money.ts';
import type { BudgetSettings, LimitSettings, RateSettings } from '../../config/settings/settings.ts';
import { keyState, type StoredGatewayKey } from '../../gateway/access/key-store.ts';
import { adminScope, KEY_NAME } from '../../gateway/admin/api/schemas.ts';
import { budgetId, budgetRule } from '../../gateway/limits/limit-rules.ts';
import type { StateAdmin } from '../../gateway/state-admin.ts';
import { openContext } from '../cli-context.ts';
import { changeLimits, type LimitOptions, parseLimits } from '../input/limit-options.ts';
import { parseMoment } from '../input/option-values.ts';
import { terminalActor } from '../input/terminal-actor.ts';
import { type Io, UsageError } from '../io.ts';
import { withState } from '../open-state.ts';
import { OPTIONS } from '../options.ts';
import { table } from '../output/output.ts';

/** How long a rotated key stays valid. */
const GRACE = '24h';

/** `svc keys create|list|update|rotate|revoke`: manages the gateway's keys. A key is shown once and stored as a hash. */
export async function run(args: string[], io: Io): Promise<number> {
  const parsed = parseArgs({ args, allowPositionals: true, options: OPTIONS.keys });
  return withState(io, (state) => runAction(state, parsed, io));
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
  };
  readonly positionals: readonly string[];
}

async function runAction(state: StateAdmin, { values, positionals }: Parsed, io: Io): Promise<number> {
  const [action, ...names] = positionals;
  switch (action) {
    case 'create':
      await create(state, { ...values, name: values.name ?? names[0], limits: parseLimits(values) }, io);
      return 0;
    case 'list':
      await list(state, values.json === true, io);
      return 0;
    case 'update':
      await update(state, requireName(names, values.name), values, io);
      return 0;
    case 'rotate': {
      const grace = parseDuration(values.grace ?? GRACE);
      if (grace === undefined) throw new UsageError('--grace must be a duration such as 0, 30m, 24h or 7d.');
      const key = await state.rotateKey(terminalActor(io), requireName(names, values.name), grace);
      await io.out(`The old key remains valid for ${values.grace ?? GRACE}. The new key is shown only once:\n${key}\n`);
      return 0;
    }
    case 'revoke': {
      const name = requireName(names, values.name);
      await state.revokeKey(terminalActor(io), name, values.cut);
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
  readonly limits: Partial<LimitSettings>;
}

async function create(state: StateAdmin, { name, org, user, admin, expires, limits }: NewKey, io: Io): Promise<void> {
  if (name === undefined || !KEY_NAME.test(name) || name === 'operator') {
    throw new UsageError(
      '--name must be 1 to 100 letters, digits, dots, hyphens, underscores or @, and not “operator”.',
    );
  }
  if (user !== undefined && !KEY_NAME.test(user)) {
    throw new UsageError('--user must be 1 to 100 letters, digits, dots, hyphens, underscores or @.');
  }
  if (org !== undefined) await requireOrganization(org, io);
  const scope = adminScope.optional().safeParse(admin);
  if (!scope.success) throw new UsageError('--admin must be read, keys or all.');
  const expiresAt = expires === undefined ? undefined : parseMoment(expires);
  if (expires !== undefined && (expiresAt === undefined || expiresAt <= Date.now())) {
    throw new UsageError('--expires must be a date in the future (2027-01-31) or a duration from now (30d).');
  }
  const key = await state.createKey(terminalActor(io), {
    name,
    organization: org,
    user,
    admin: scope.data,
    limits: { budgets: [], rates: [], ...limits },
    expiresAt,
  });
  await io.out(`The key ${name} is shown only once; only its hash is stored:\n${key}\n`);
}

/** The gateway rejects every request with a key of an organization that is not configured. */
async function requireOrganization(org: string, io: Io): Promise<void> {
  const { settings } = await openContext(io);
  if (settings.gateway.organizations.has(org)) return;
  const known = [...settings.gateway.organizations.keys()].join(', ') || 'none';
  throw new UsageError(`The organization ${org} is not in gateway.organizations of svc.jsonc (configured: ${known}).`);
}

async function update(state: StateAdmin, name: string, options: LimitOptions, io: Io): Promise<void> {
  const before = (await state.listKeys()).find((key) => key.name === name)?.limits ?? { budgets: [], rates: [] };
  const limits = changeLimits(before, options);
  if (limits.budgets === undefined && limits.rates === undefined) {
    throw new UsageError('Specify what to change: --budget, --rpm, --tpm or --parallel. “none” removes it.');
  }
  await state.updateKey(terminalActor(io), name, limits);
  await io.out(`The limits of ${name} are changed. A running gateway uses them within a second.\n`);
}

function requireName(names: readonly string[], option: string | undefined): string {
  const name = option ?? names[0];
  if (name === undefined || names.length > 1) throw new UsageError('Specify the name of one key.');
  return name;
}

async function list(state: StateAdmin, json: boolean, io: Io): Promise<void> {
  const keys = await state.listKeys();
  const spentOf = await readSpent(state, keys);
  if (json) {
    await io.out(
      `${JSON.stringify(
        keys.map((key) => described(key, spentOf)),
        null,
        2,
      )}\n`,
    );
    return;
  }
  const rows = keys.map((key) => [
    key.name,
    key.organization ?? '',
    key.user ?? '',
    keyState(key),
    describeSpent(key, spentOf),
    key.limits.rates.map(describeRate).join(', '),
    day(key.createdAt),
    key.expiresAt === undefined ? '' : day(key.expiresAt),
  ]);
  await io.out(table(['NAME', 'ORGANIZATION', 'USER', 'STATE', 'SPENT USD', 'RATE', 'CREATED', 'EXPIRES'], rows));
}

/** What was spent of a budget of a key in its current window, in USD. */
type SpentOf = (key: StoredGatewayKey, budget: BudgetSettings) => number;

async function readSpent(state: StateAdmin, keys: readonly StoredGatewayKey[]): Promise<SpentOf> {
  const ruleOf = (key: StoredGatewayKey, budget: BudgetSettings) => budgetRule(budget, { key: key.name });
  const spent = await state.spent(keys.flatMap((key) => key.limits.budgets.map((budget) => ruleOf(key, budget))));
  return (key, budget) => toUsd(spent.get(budgetId(ruleOf(key, budget))) ?? 0);
}

function describeSpent(key: StoredGatewayKey, spentOf: SpentOf): string {
  const { budgets } = key.limits;
  if (budgets.length === 0) return toUsd(key.spent).toFixed(4);
  return budgets
    .map((budget) => {
      const period = budget.period === 'total' ? '' : `/${budget.period}`;
      const models = budget.model === '*' ? '' : `:${budget.model}`;
      const mode = budget.mode === 'hard' ? ' hard' : '';
      return `${spentOf(key, budget).toFixed(4)} of ${budget.usd}${period}${models}${mode}`;
    })
    .join(', ');
}

function describeRate({ requests, tokens, parallel, model }: RateSettings): string {
  const models = model === '*' ? '' : `:${model}`;
  const parts = [
    requests === undefined ? [] : [`${requests} rpm`],
    tokens === undefined ? [] : [`${tokens} tpm`],
    parallel === undefined ? [] : [`${parallel} parallel`],
  ];
  return parts.flat().join(' ') + models;
}

function described(key: StoredGatewayKey, spentOf: SpentOf) {
  const { name, organization, user, spent, limits, createdAt, expiresAt } = key;
  return {
    name,
    organization: organization ?? null,
    user: user ?? null,
    admin: key.admin ?? null,
    state: keyState(key),
    spent: toUsd(spent),
    budget: limits.budgets.find(({ period, model }) => period === 'total' && model === '*')?.usd ?? null,
    rpm: limits.rates.find(({ model }) => model === '*')?.requests ?? null,
    budgets: limits.budgets.map((budget) => {
      const { usd, period, timeZone, mode, model } = budget;
      return { usd, spent: spentOf(key, budget), period, time_zone: timeZone, mode, model };
    }),
    rates: limits.rates,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  };
}

function day(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}
