import { parseArgs } from 'node:util';
import { parseDuration } from '../../base/duration.ts';
import { KeyStore, type StoredGatewayKey } from '../../gateway/access/key-store.ts';
import { toNano, toUsd } from '../../gateway/accounting/money.ts';
import { openState, stateFile } from '../../gateway/state/state-database.ts';
import { openContext } from '../cli-context.ts';
import { parseDecimal, parseMoment } from '../input/option-values.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { table } from '../output/output.ts';

/** How long a rotated key stays valid. */
const GRACE = '24h';
/** Names of keys and users. */
const NAME = /^[\w.@-]{1,100}$/;

/** `svc keys create|list|rotate|revoke`: manages the gateway's keys. A key is shown once and stored as a hash. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS.keys });
  const [action, ...names] = positionals;
  const database = await openState(stateFile(io));
  try {
    const store = new KeyStore(database);
    switch (action) {
      case 'create':
        await create(store, { ...values, name: values.name ?? names[0] }, io);
        return 0;
      case 'list':
        await list(store, values.json === true, io);
        return 0;
      case 'rotate': {
        const grace = parseDuration(values.grace ?? GRACE);
        if (grace === undefined) throw new UsageError('--grace must be a duration such as 0, 30m, 24h or 7d.');
        const key = store.rotate(requireName(names, values.name), grace);
        await io.out(
          `The old key remains valid for ${values.grace ?? GRACE}. The new key is shown only once:\n${key}\n`,
        );
        return 0;
      }
      case 'revoke': {
        const name = requireName(names, values.name);
        store.revoke(name);
        await io.out(`${name} is revoked. A running gateway rejects it within a second.\n`);
        return 0;
      }
      default:
        throw new UsageError('Use svc keys create, list, rotate NAME or revoke NAME.');
    }
  } finally {
    database.close();
  }
}

interface NewKey {
  readonly name?: string | undefined;
  readonly org?: string | undefined;
  readonly user?: string | undefined;
  readonly budget?: string | undefined;
  readonly rpm?: string | undefined;
  readonly expires?: string | undefined;
}

async function create(store: KeyStore, { name, org, user, budget, rpm, expires }: NewKey, io: Io): Promise<void> {
  if (name === undefined || !NAME.test(name) || name === 'operator') {
    throw new UsageError(
      '--name must be 1 to 100 letters, digits, dots, hyphens, underscores or @, and not “operator”.',
    );
  }
  if (user !== undefined && !NAME.test(user)) {
    throw new UsageError('--user must be 1 to 100 letters, digits, dots, hyphens, underscores or @.');
  }
  if (org !== undefined) await requireOrganization(org, io);
  const expiresAt = expires === undefined ? undefined : parseMoment(expires);
  if (expires !== undefined && (expiresAt === undefined || expiresAt <= Date.now())) {
    throw new UsageError('--expires must be a date in the future (2027-01-31) or a duration from now (30d).');
  }
  const key = store.create({
    name,
    organization: org,
    user,
    budget: parseBudget(budget),
    rpm: parseAmount(rpm, '--rpm', 1),
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

function parseAmount(text: string | undefined, option: string, least: number): number | undefined {
  if (text === undefined) return undefined;
  const amount = parseDecimal(text);
  const whole = option !== '--rpm' || Number.isInteger(amount);
  if (amount !== undefined && amount >= least && whole) return amount;
  throw new UsageError(`${option} must be a number that is at least ${least}.`);
}

function parseBudget(text: string | undefined): number | undefined {
  const usd = parseAmount(text, '--budget', 0);
  return usd === undefined ? undefined : toNano(usd);
}

function requireName(names: readonly string[], option: string | undefined): string {
  const name = option ?? names[0];
  if (name === undefined || names.length > 1) throw new UsageError('Specify the name of one key.');
  return name;
}

async function list(store: KeyStore, json: boolean, io: Io): Promise<void> {
  const keys = store.list();
  if (json) {
    await io.out(`${JSON.stringify(keys.map(described), null, 2)}\n`);
    return;
  }
  const rows = keys.map((key) => [
    key.name,
    key.organization ?? '',
    key.user ?? '',
    describeState(key),
    toUsd(key.spent).toFixed(4) + (key.budget === undefined ? '' : ` of ${toUsd(key.budget)}`),
    key.rpm === undefined ? '' : String(key.rpm),
    day(key.createdAt),
    key.expiresAt === undefined ? '' : day(key.expiresAt),
  ]);
  await io.out(table(['NAME', 'ORGANIZATION', 'USER', 'STATE', 'SPENT USD', 'RPM', 'CREATED', 'EXPIRES'], rows));
}

function describeState(key: StoredGatewayKey): string {
  if (key.revokedAt !== undefined) return 'revoked';
  if (key.expiresAt !== undefined && key.expiresAt <= Date.now()) return 'expired';
  // The hashes were deleted when the key expired, and the clock was set back after that.
  if (key.hashes.length === 0) return 'expired';
  return key.hashes.length > 1 ? 'rotating' : 'valid';
}

function described(key: StoredGatewayKey) {
  const { name, organization, user, budget, spent, rpm, createdAt, expiresAt } = key;
  return {
    name,
    organization: organization ?? null,
    user: user ?? null,
    state: describeState(key),
    spent: toUsd(spent),
    budget: budget === undefined ? null : toUsd(budget),
    rpm: rpm ?? null,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  };
}

function day(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}
