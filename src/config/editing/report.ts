import { upToFirst } from '../../base/text.ts';
import type { ModelSettings } from '../settings/configured-model.ts';
import type { Credential, Located, Origin } from '../settings/origin.ts';
import { Secret } from '../settings/secret.ts';
import type { ProviderSettings, Settings } from '../settings/settings.ts';
import { LOOKS_SECRET } from '../settings/values.ts';

/** The replacement for a credential. */
export interface Masked {
  readonly set: boolean;
  readonly from?: string;
}

/** The settings for display and printing. Every credential is replaced by `{set, from}`. */
export function reportSettings(settings: Settings) {
  return {
    sources: settings.sources.map(({ path, kind, trusted, status }) => ({ path, kind, trusted, status })),
    diagnostics: settings.diagnostics.map(({ severity, path, line, column, key, code, message }) => ({
      severity,
      path,
      line,
      column,
      key,
      code,
      message,
    })),
    model: shown(settings.model) ?? null,
    completionModel: shown(settings.completionModel) ?? null,
    nextEditModel: shown(settings.nextEditModel) ?? null,
    providers: Object.fromEntries(
      [...settings.providers].map(([id, provider]) => [id, reportProvider(provider, settings)]),
    ),
    disabledProviders: [...settings.disabledProviders],
    origins: Object.fromEntries(
      settings.values.all().map(({ path, origin }) => [path.join('.'), sourceLocation(origin)]),
    ),
  };
}

function reportProvider(provider: ProviderSettings, settings: Settings) {
  const { apiKey, timeout, chunkTimeout, headers } = provider;
  const own = (key: string, value: unknown) => withoutSecrets(settings, ['provider', provider.id, key], value);
  const fields = {
    name: own('name', provider.name),
    npm: shown(provider.npm),
    api: address(provider.api),
    fim: shown(provider.fim),
    env: own('env', provider.env),
    options: withoutUndefined({
      apiKey: masked(apiKey),
      baseURL: address(provider.baseURL),
      fimURL: address(provider.fimURL),
      resourceName: shown(provider.resourceName),
      timeout,
      chunkTimeout,
      simulated: provider.simulated,
      headers: headers.size === 0 ? undefined : maskedHeaders(headers),
      ...freeForm(provider.options),
    }),
    whitelist: own('whitelist', provider.whitelist),
    blacklist: own('blacklist', provider.blacklist),
    models: Object.fromEntries(
      [...provider.models].map(([key, model]) => [key, reportModel(model, provider.id, settings)]),
    ),
    trust: provider.trust ?? 'trusted',
    problem: provider.problem,
    source: describePlace(provider.origin),
  };
  return withoutUndefined(fields);
}

function reportModel(model: ModelSettings, provider: string, settings: Settings) {
  if (model.off) return null;
  const { cost, headers } = model;
  const own = (key: string, value: unknown) =>
    withoutSecrets(settings, ['provider', provider, 'models', model.key, key], value);
  const fields = {
    id: own('id', model.id),
    name: own('name', model.name),
    tool_call: model.toolCall,
    reasoning: model.reasoning,
    temperature: model.temperature,
    attachment: model.attachment,
    modalities: model.modalities,
    limit: model.limit,
    cost:
      cost === undefined
        ? undefined
        : withoutUndefined({
            input: cost.input,
            output: cost.output,
            cache_read: cost.cacheRead,
            cache_write: cost.cacheWrite,
            cache_write_1h: cost.cacheWrite1h,
          }),
    options: model.options === undefined ? undefined : freeForm(model.options),
    headers: headers === undefined ? undefined : maskedHeaders(headers),
    provider:
      model.provider === undefined
        ? undefined
        : withoutUndefined({ npm: shown(model.provider.npm), api: address(model.provider.api) }),
    variants:
      model.variants === undefined
        ? undefined
        : Object.fromEntries(
            [...model.variants].map(([name, fields]) => [name, fields === null ? null : freeForm(fields)]),
          ),
    source: describePlace(model.origin),
  };
  return withoutUndefined(fields);
}

/** The value at a path. It is masked if any part of it is from a reference, because that part may be a secret. */
function withoutSecrets(settings: Settings, path: readonly string[], value: unknown): unknown {
  if (value === undefined) return undefined;
  const secret = settings.values.at(path).find((each) => each.secret);
  return secret === undefined ? value : { set: true, from: describePlace(secret.origin) };
}

function maskedHeaders(headers: ReadonlyMap<string, Credential>): Record<string, Masked> {
  return Object.fromEntries([...headers].map(([name, credential]) => [name, masked(credential)]));
}

function masked(credential: Credential | undefined): Masked {
  return credential === undefined ? { set: false } : { set: true, from: describePlace(credential.origin) };
}

/** `file:line:column`. Sources without a file have a name instead of a path. */
export function sourceLocation({ source, line, column }: Origin): string {
  return `${source.path}:${line}:${column}`;
}

function describePlace({ source, line }: Credential['origin']): string {
  return `${source.path}:${line}`;
}

function shown(located: Located<string> | undefined): string | Masked | undefined {
  if (located === undefined) return undefined;
  return located.reference ? { set: true, from: describePlace(located.origin) } : located.value;
}

/** Masks the query of an address: some users put a key there. */
function address(located: Located<string> | undefined): string | Masked | undefined {
  const text = shown(located);
  if (typeof text !== 'string') return text;
  const plain = upToFirst(text, ['?', '#']);
  return plain === text ? text : `${plain}?…`;
}

function freeForm(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const hide = (key: string, value: unknown) =>
    typeof value === 'string' && LOOKS_SECRET.test(key) ? HIDDEN : plain(value);
  return Object.fromEntries(Object.entries(options).map(([key, value]) => [key, hide(key, value)]));
}

const HIDDEN: Masked = { set: true };

function plain(value: unknown): unknown {
  if (value instanceof Secret) return HIDDEN;
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'object' && value !== null ? freeForm({ ...value }) : value;
}

function withoutUndefined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
