import type * as z from 'zod';
import { defined, isObject, nonEmptyString } from '../../base/json.ts';
import { withoutTrailing } from '../../base/text.ts';
import type { LimitSettings, LocalOnly } from '../../config/settings/settings.ts';
import type { NewKey } from '../../gateway/access/key-store.ts';
import type { UsageQuery } from '../../gateway/reports/usage-query.ts';
import type { UsageReport } from '../../gateway/reports/usage-report.ts';
import { ENDPOINTS, type Endpoint } from '../../protocol/admin-api/endpoints.ts';
import type { Key } from '../../protocol/admin-api/schemas.ts';
import { type UndiciTransport, undiciTransport } from '../../provider/transport/undici-transport.ts';
import { ERROR_TYPES, SvcError } from '../../wire/errors/svc-error.ts';
import { type Io, UsageError } from '../io.ts';

/** Actions of commands on the keys and the usage of a gateway. */
export interface GatewayAccess {
  listKeys(): Promise<readonly Key[]>;
  /** @returns the key, which can't be read again. */
  createKey(key: NewKey): Promise<string>;
  updateKey(name: string, limits: Partial<LimitSettings>): Promise<void>;
  /** @returns the new key. */
  rotateKey(name: string, graceMs: number): Promise<string>;
  revokeKey(name: string, cut: boolean): Promise<void>;
  usage(query: UsageQuery): Promise<UsageReport>;
}

/** The admin key. Not an argument, because `ps` shows arguments. */
const KEY_VARIABLE = 'SVC_ADMIN_KEY';
const TIMEOUT_MS = 60_000;
const PAGE = '200';

interface Request {
  /** The value of `{name}` in the path. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** The admin API of a gateway elsewhere. */
export class AdminClient implements GatewayAccess {
  readonly #base: string;
  readonly #key: string;
  readonly #signal: AbortSignal;
  readonly #transport: UndiciTransport;

  /** @throws UsageError for an address that is none, and without a key. */
  constructor(address: string, { env, signal }: Io, localOnly?: LocalOnly) {
    const url = URL.parse(address);
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '') {
      throw new UsageError('--gateway must be an address such as https://ai.example.com.');
    }
    const key = nonEmptyString(env[KEY_VARIABLE]?.trim());
    if (key === undefined) {
      throw new UsageError(`Set ${KEY_VARIABLE} to an admin key of the gateway (svc keys create --admin SCOPE).`);
    }
    this.#base = withoutTrailing(url.origin + url.pathname.replace(/\/(v1|admin)\/?$/, ''), '/');
    this.#key = key;
    this.#signal = signal;
    this.#transport = undiciTransport({ env, localOnly });
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  async listKeys(): Promise<readonly Key[]> {
    const keys: Key[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#call(ENDPOINTS.listKeys, { query: { limit: PAGE, cursor } });
      keys.push(...page.data);
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
    return keys.sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
  }

  async createKey({ name, organization, user, admin, limits, expiresAt }: NewKey): Promise<string> {
    const expires_at = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
    const body = { ...defined({ organization, user, admin, expires_at }), name, ...writeLimits(limits ?? {}) };
    return (await this.#call(ENDPOINTS.createKey, { body })).secret;
  }

  async updateKey(name: string, limits: Partial<LimitSettings>): Promise<void> {
    await this.#call(ENDPOINTS.changeKey, { name, body: writeLimits(limits) });
  }

  async rotateKey(name: string, graceMs: number): Promise<string> {
    const grace = graceMs === 0 ? '0' : `${Math.ceil(graceMs / 1000)}s`;
    return (await this.#call(ENDPOINTS.rotateKey, { name, body: { grace } })).secret;
  }

  async revokeKey(name: string, cut: boolean): Promise<void> {
    await this.#call(ENDPOINTS.revokeKey, { name, body: { cut } });
  }

  async usage({ since, until, by, zone, key, user, organization, reasons }: UsageQuery): Promise<UsageReport> {
    const time = (at: number | undefined) => (at === undefined || at <= 0 ? undefined : new Date(at).toISOString());
    const times = { since: time(since), until: time(until), tz: zone?.name };
    const query = {
      ...times,
      by: by.join(','),
      key,
      user,
      organization,
      reasons: reasons === true ? 'true' : undefined,
    };
    const { rows, total } = await this.#call(ENDPOINTS.getUsage, { query });
    // The labels come first, as in a local report.
    const labels = (row: (typeof rows)[number]) => Object.fromEntries(by.map((each) => [each, row[each] ?? null]));
    return { rows: rows.map((row) => ({ ...labels(row), ...row })), total: { ...total } };
  }

  async #call<Answer extends z.ZodType>(
    { method, path, answer }: Endpoint<z.ZodType, z.ZodType, Answer>,
    { name = '', query = {}, body }: Request,
  ): Promise<z.output<Answer>> {
    const place = path.replace(/\{\w+\}/, encodeURIComponent(name));
    const parameters = Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
    const response = await this.#send(`/admin/v1${place}?${new URLSearchParams(parameters)}`, method, body);
    const value: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw readError(response.status, value, this.#base);
    const parsed = answer.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new SvcError({
      errorType: 'upstream_invalid_response',
      message: `The gateway at ${this.#base} sent an answer that this release of svc does not understand.`,
      action: 'Use the release of svc that the gateway runs.',
    });
  }

  async #send(path: string, method: string, body: unknown): Promise<Response> {
    try {
      return await this.#transport.fetch(this.#base + path, {
        method,
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        redirect: 'error',
        signal: AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
    } catch (thrown) {
      const reason = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
      throw new SvcError({
        errorType: 'network_error',
        message: `The gateway at ${this.#base} can’t be reached: ${reason instanceof Error ? reason.message : reason}.`,
        action: 'Check the address. It must not redirect.',
        cause: thrown,
      });
    }
  }
}

/** The error of the gateway, or the meaning of its absence. */
function readError(status: number, value: unknown, base: string): SvcError {
  const type = isObject(value) ? ERROR_TYPES.find((each) => each === value.error_type) : undefined;
  const message = isObject(value) ? nonEmptyString(value.message) : undefined;
  if (type === undefined || message === undefined || type === 'invalid_path') {
    return new SvcError({
      errorType: 'configuration_error',
      message: `There is no admin API at ${base} (status ${status}).`,
      action: 'Check the address, and whether the gateway has "admin": true in its svc.jsonc.',
    });
  }
  return new SvcError({ status, errorType: type, message });
}

function writeLimits({ budgets, rates }: Partial<LimitSettings>) {
  return defined({
    budgets: budgets?.map(({ usd, period, timeZone, mode, model }) => ({
      usd,
      period,
      time_zone: timeZone,
      mode,
      model,
    })),
    rates: rates?.map(({ requests, tokens, parallel, model }) => ({
      ...defined({ requests, tokens, parallel }),
      model,
    })),
  });
}
