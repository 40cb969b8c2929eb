import { ReferencedSecret, Secret } from './secret.ts';
import type {
  Credential,
  GatewaySettings,
  Located,
  Modality,
  ModelCost,
  ModelLimit,
  ModelSettings,
  OrganizationSettings,
  Origin,
  ProviderSettings,
  Settings,
} from './settings.ts';
import { child, entriesOf, isNull, type ObjectTree, type Tree } from './tree.ts';

/** Spec 8. */
export const DEFAULT_TIMEOUT_MS = 300_000;

/** Merged trees of one load: all sources, and the trusted and untrusted ones by themselves. */
export interface Views {
  readonly all: ObjectTree;
  readonly trusted: ObjectTree;
  readonly untrusted: ObjectTree;
  readonly trustedWorkspace: boolean;
}

type Content = Omit<Settings, 'sources' | 'diagnostics' | 'managedProblem'>;

/** Settings from merged trees. Reads only what has the right type, so it cannot fail. */
export function buildSettings(views: Views): Content {
  const effective = views.trustedWorkspace ? views.all : views.trusted;
  const providers = new Map<string, ProviderSettings>();
  const disabled = new Set<string>();
  for (const id of new Set([...providerIds(views.all), ...providerIds(views.trusted)])) {
    const provider = buildProvider(id, views);
    if (provider === null) disabled.add(id);
    else if (provider !== undefined) providers.set(id, provider);
  }
  const model = located(child(effective, 'model'));
  const completionModel = located(child(effective, 'completionModel'));
  return {
    ...(model === undefined ? {} : { model }),
    ...(completionModel === undefined ? {} : { completionModel }),
    providers,
    disabledProviders: disabled,
    gateway: buildGateway(child(views.trusted, 'gateway')),
    catalog: { refresh: flag(child(child(effective, 'catalog'), 'refresh')) ?? true },
  };
}

function providerIds(tree: ObjectTree): Iterable<string> {
  return entriesOf(child(tree, 'provider')).keys();
}

const providerIn = (tree: ObjectTree, id: string) => child(child(tree, 'provider'), id);

/** `null`: switched off. What trusted sources switch off, an untrusted one cannot switch on. */
function buildProvider(id: string, views: Views): ProviderSettings | null | undefined {
  const trustedNode = providerIn(views.trusted, id);
  if (isNull(trustedNode)) return null;
  const trusted = trustedNode?.type === 'object' ? readProvider(id, trustedNode) : undefined;
  const touched = providerIn(views.untrusted, id) !== undefined;
  if (!touched) return trusted;
  if (!views.trustedWorkspace && trusted !== undefined) return trusted;
  const node = providerIn(views.all, id);
  if (isNull(node)) return null;
  if (node?.type !== 'object') return trusted;
  const provider = readProvider(id, node);
  if (trusted === undefined) {
    const problem = 'The workspace is not trusted, so nothing is sent to a provider that it brings.';
    return { ...provider, trust: 'untrusted', ...(views.trustedWorkspace ? {} : { problem }) };
  }
  const address = trusted.baseURL ?? trusted.api;
  return {
    ...provider,
    trust: 'mixed',
    trusted,
    ...(address === undefined ? {} : { trustedBaseURL: address.value }),
    ...(trusted.fimURL === undefined ? {} : { trustedFimURL: trusted.fimURL.value }),
  };
}

const OWN_OPTIONS: ReadonlySet<string> = new Set([
  'apiKey',
  'baseURL',
  'fimURL',
  'resourceName',
  'timeout',
  'chunkTimeout',
  'headers',
  'simulated',
]);

function readProvider(id: string, node: ObjectTree): ProviderSettings {
  const options = child(node, 'options');
  const timeout = child(options, 'timeout');
  return {
    id,
    ...optional({
      name: text(child(node, 'name')),
      npm: located(child(node, 'npm')),
      api: located(child(node, 'api')),
      env: texts(child(node, 'env')),
      fim: located(child(node, 'fim')),
      apiKey: credential(child(options, 'apiKey')),
      baseURL: located(child(options, 'baseURL')),
      fimURL: located(child(options, 'fimURL')),
      resourceName: located(child(options, 'resourceName')),
      chunkTimeout: number(child(options, 'chunkTimeout')),
      whitelist: texts(child(node, 'whitelist')),
      blacklist: texts(child(node, 'blacklist')),
      simulated: flag(child(options, 'simulated')),
      problem: brokenAddress(node, options),
    }),
    headers: readHeaders(child(options, 'headers')),
    timeout: flag(timeout) === false ? false : (number(timeout) ?? DEFAULT_TIMEOUT_MS),
    options: freeForm(options, OWN_OPTIONS),
    models: readModels(child(node, 'models')),
    origin: originOf(node),
  };
}

/** `null` stands where an address was that cannot be used (source-rules.ts). */
function brokenAddress(node: ObjectTree, options: Tree | undefined): string | undefined {
  const named: readonly (readonly [string, Tree | undefined])[] = [
    ['npm', child(node, 'npm')],
    ['api', child(node, 'api')],
    ['options.baseURL', child(options, 'baseURL')],
    ['options.fimURL', child(options, 'fimURL')],
    ['options.resourceName', child(options, 'resourceName')],
  ];
  const broken = named.find(([, value]) => isNull(value));
  if (broken?.[1] === undefined) return undefined;
  const { source, line } = broken[1].place;
  return `\`${broken[0]}\` cannot be used (${source.path}, line ${line}), so nothing is sent.`;
}

function readModels(node: Tree | undefined): ReadonlyMap<string, ModelSettings> {
  const models = new Map<string, ModelSettings>();
  for (const [key, { value }] of entriesOf(node)) {
    if (value.type === 'object') models.set(key, readModel(key, value));
    else if (isNull(value)) models.set(key, { key, origin: originOf(value), off: true });
  }
  return models;
}

function readModel(key: string, node: ObjectTree): ModelSettings {
  const provider = child(node, 'provider');
  const variants = readVariants(child(node, 'variants'));
  const options = freeForm(child(node, 'options'));
  const headers = readHeaders(child(node, 'headers'));
  const place = optional({ npm: located(child(provider, 'npm')), api: located(child(provider, 'api')) });
  return {
    key,
    ...optional({
      id: text(child(node, 'id')),
      name: text(child(node, 'name')),
      toolCall: flag(child(node, 'tool_call')),
      reasoning: flag(child(node, 'reasoning')),
      temperature: flag(child(node, 'temperature')),
      attachment: flag(child(node, 'attachment')),
      modalities: readModalities(child(node, 'modalities')),
      limit: readLimit(child(node, 'limit')),
      cost: readCost(child(node, 'cost')),
    }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    ...(headers.size === 0 ? {} : { headers }),
    ...(Object.keys(place).length === 0 ? {} : { provider: place }),
    ...(variants === undefined ? {} : { variants }),
    origin: originOf(node),
  };
}

function readModalities(node: Tree | undefined): ModelSettings['modalities'] | undefined {
  const input = child(node, 'input');
  const output = child(node, 'output');
  if (input === undefined || output === undefined) return undefined;
  return { input: modalities(input), output: modalities(output) };
}

const MODALITIES: readonly Modality[] = ['text', 'image', 'audio', 'video', 'pdf'];

function modalities(node: Tree): readonly Modality[] {
  const written = texts(node) ?? [];
  return MODALITIES.filter((modality) => written.includes(modality));
}

function readLimit(node: Tree | undefined): ModelLimit | undefined {
  if (node?.type !== 'object') return undefined;
  return optional({
    context: number(child(node, 'context')),
    output: number(child(node, 'output')),
    input: number(child(node, 'input')),
  });
}

function readCost(node: Tree | undefined): Partial<ModelCost> | undefined {
  if (node?.type !== 'object') return undefined;
  return optional({
    input: number(child(node, 'input')),
    output: number(child(node, 'output')),
    cacheRead: number(child(node, 'cache_read')),
    cacheWrite: number(child(node, 'cache_write')),
  });
}

function readVariants(node: Tree | undefined): ModelSettings['variants'] | undefined {
  if (node?.type !== 'object') return undefined;
  const variants = new Map<string, Readonly<Record<string, unknown>> | null>();
  for (const [name, { value }] of node.entries) {
    const off = value.type !== 'object' || flag(child(value, 'disabled')) === true;
    variants.set(name, off ? null : freeForm(value, new Set(['disabled'])));
  }
  return variants;
}

function readHeaders(node: Tree | undefined): ReadonlyMap<string, Credential> {
  const headers = new Map<string, Credential>();
  for (const [name, { value }] of entriesOf(node)) {
    const header = credential(value);
    if (header !== undefined) headers.set(name, header);
  }
  return headers;
}

function buildGateway(node: Tree | undefined): GatewaySettings {
  const listen = child(node, 'listen');
  const embedding = entriesOf(child(node, 'embeddingModels'));
  const transcription = entriesOf(child(node, 'transcriptionModels'));
  return {
    listen: { host: text(child(listen, 'host')) ?? '127.0.0.1', port: number(child(listen, 'port')) ?? 4180 },
    maxBodyBytes: number(child(node, 'maxBodyBytes')) ?? 25_165_824,
    allowedOrigins: texts(child(node, 'allowedOrigins')) ?? [],
    allowedHosts: texts(child(node, 'allowedHosts')) ?? [],
    organizations: new Map(
      [...entriesOf(child(node, 'organizations'))].map(([id, { value }]) => [id, readOrganization(id, value)]),
    ),
    embeddingModels: new Map(
      [...embedding].map(([ref, { value }]) => [
        ref,
        optional({
          name: text(child(value, 'name')),
          dimensions: number(child(value, 'dimensions')),
          context: number(child(value, 'context')),
        }),
      ]),
    ),
    transcriptionModels: new Map(
      [...transcription].map(([ref, { value }]) => [ref, optional({ name: text(child(value, 'name')) })]),
    ),
    fallback: new Map([...entriesOf(child(node, 'fallback'))].map(([ref, { value }]) => [ref, texts(value) ?? []])),
  };
}

function readOrganization(id: string, node: Tree): OrganizationSettings {
  const policy = child(node, 'policy');
  return {
    id,
    name: text(child(node, 'name')) ?? id,
    policy: { ...optional({ allow: texts(child(policy, 'allow')) }), deny: texts(child(policy, 'deny')) ?? [] },
    byok: readHeaders(child(node, 'byok')),
  };
}

function originOf(node: Tree): Origin {
  return node.place;
}

function text(node: Tree | undefined): string | undefined {
  return node?.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}

function number(node: Tree | undefined): number | undefined {
  return node?.type === 'scalar' && typeof node.value === 'number' ? node.value : undefined;
}

function flag(node: Tree | undefined): boolean | undefined {
  return node?.type === 'scalar' && typeof node.value === 'boolean' ? node.value : undefined;
}

function texts(node: Tree | undefined): readonly string[] | undefined {
  return node?.type === 'array' ? node.items.map(text).filter((item) => item !== undefined) : undefined;
}

function located(node: Tree | undefined): Located<string> | undefined {
  const value = text(node);
  if (node?.type !== 'scalar' || value === undefined || value === '') return undefined;
  if (node.reference === undefined) return { value, origin: node.place };
  const hidden: Located<string> = { value, origin: node.place, reference: true };
  return Object.defineProperty(hidden, 'value', { enumerable: false });
}

function credential(node: Tree | undefined): Credential | undefined {
  const value = text(node);
  if (node === undefined || value === undefined || value === '') return undefined;
  return { secret: new Secret(value), origin: node.place, trusted: node.place.source.trusted };
}

/** Free-form options as plain values; text that came through a reference stays wrapped. */
function freeForm(node: Tree | undefined, except?: ReadonlySet<string>): Readonly<Record<string, unknown>> {
  const plain: Record<string, unknown> = {};
  for (const [key, { value }] of entriesOf(node)) {
    if (except?.has(key)) continue;
    // A plain assignment to `__proto__` would change the prototype.
    Object.defineProperty(plain, key, {
      value: freeValue(value),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return plain;
}

function freeValue(node: Tree): unknown {
  if (node.type === 'object') return freeForm(node);
  if (node.type === 'array') return node.items.map(freeValue);
  if (node.reference === undefined || typeof node.value !== 'string') return node.value;
  return new ReferencedSecret(node.value, node.place.source.trusted);
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The object without its undefined fields (`exactOptionalPropertyTypes`). Not by `delete`: that makes objects slow. */
function optional<T extends object>(fields: T): Present<T> {
  const present: Partial<T> = {};
  for (const key in fields) if (fields[key] !== undefined) present[key] = fields[key];
  return present as Present<T>;
}
