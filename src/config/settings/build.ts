import { defined, type JsonObject, objectOrEmpty } from '../../base/json.ts';
import { runAtOnce, type SlicedWork } from '../../base/time-slices.ts';
import { catalogSchema, optionsSchema } from '../schema/schema.ts';
import { parseSection } from '../schema/valid-part.ts';
import { DEFAULT_TIMEOUT_MS } from './defaults.ts';
import { credential, credentials, flag, located, number, text, texts } from './fields.ts';
import { readGateway } from './gateway-settings.ts';
import { readModels } from './model-settings.ts';
import type { Credential } from './origin.ts';
import { splitProjectPart } from './project-part.ts';
import { Secret } from './secret.ts';
import type { LocalOnly, ModelChoices, ProviderSettings, Settings } from './settings.ts';
import { child, getEntries, isNull, mergeTrees, type ObjectTree, plain, type Tree } from './tree.ts';
import { SetValues } from './values.ts';

/** The merged trees of one load: all sources, only the trusted ones, and only the untrusted ones. */
export interface Views {
  readonly all: ObjectTree;
  readonly trusted: ObjectTree;
  readonly untrusted: ObjectTree;
  readonly trustedWorkspace: boolean;
}

type Content = Omit<Settings, 'sources' | 'diagnostics' | 'managedProblem'>;

/** Builds settings from merged trees. Ignores values of the wrong type, so it cannot fail. */
export function buildSettings(views: Views): Content {
  return runAtOnce(buildSteps(views));
}

/** Like `buildSettings`, but yields between providers. */
export function* buildSteps(views: Views): SlicedWork<Content> {
  const effective = views.trustedWorkspace ? views.all : views.trusted;
  const providers = new Map<string, ProviderSettings>();
  const restrictions = [views.trusted, views.untrusted].map(readRestriction);
  const isOffered = (id: string) => restrictions.every((restriction) => restriction(id));
  const disabled = new Set<string>();
  for (const id of new Set([...providerIds(views.all), ...providerIds(views.trusted)])) {
    yield;
    const provider = buildProvider(id, views);
    if (provider === null || !isOffered(id)) disabled.add(id);
    else if (provider !== undefined) providers.set(id, provider);
  }
  return {
    ...readChoices(effective),
    ownChoices: readChoices(views.trusted),
    providers,
    disabledProviders: disabled,
    offersProvider: isOffered,
    gateway: readGateway(child(views.trusted, 'gateway')),
    ...readLocalOnly(child(views.trusted, 'localOnly')),
    catalog: parseSection(catalogSchema, child(effective, 'catalog')),
    values: new SetValues(effective),
  };
}

function readChoices(tree: ObjectTree): ModelChoices {
  const model = located(child(tree, 'model'));
  const completionModel = located(child(tree, 'completionModel'));
  const nextEditModel = located(child(tree, 'nextEditModel'));
  return {
    ...defined({ model, completionModel, nextEditModel }),
  };
}

/** `enabled_providers` and `disabled_providers` of trusted sources, or of a project: both only restrict. */
function readRestriction(tree: ObjectTree): (id: string) => boolean {
  const list = (key: string) => {
    const node = child(tree, key);
    return node && texts(plain(node))?.map((id) => id.trim().toLowerCase());
  };
  const [enabled, disabled] = [list('enabled_providers'), list('disabled_providers')];
  // `OpenAI` must not leave `openai` in use.
  return (id) => (enabled?.includes(id.toLowerCase()) ?? true) && !disabled?.includes(id.toLowerCase());
}

/** A value that can't be read restricts, too. */
function readLocalOnly(node: Tree | undefined): { readonly localOnly?: LocalOnly } {
  const value = node && plain(node);
  if (value === undefined || value === null || value === false) return {};
  return { localOnly: { networks: texts(objectOrEmpty(value).networks) ?? [] } };
}

function providerIds(tree: ObjectTree): Iterable<string> {
  return getEntries(child(tree, 'provider')).keys();
}

const providerIn = (tree: ObjectTree, id: string) => child(child(tree, 'provider'), id);

/** `null` means disabled. An untrusted source cannot enable a provider that a trusted source disables. */
function buildProvider(id: string, views: Views): ProviderSettings | null | undefined {
  const trustedNode = providerIn(views.trusted, id);
  if (isNull(trustedNode)) return null;
  const trusted = trustedNode?.type === 'object' ? readProvider(id, trustedNode) : undefined;
  const project = providerIn(views.untrusted, id);
  if (project === undefined) return trusted;
  if (!views.trustedWorkspace && trusted !== undefined) return trusted;
  const node = providerIn(views.all, id);
  if (isNull(node)) return null;
  if (node?.type !== 'object') return trusted;
  const provider = { ...readProvider(id, node), ...readProject(id, project, node, trustedNode) };
  if (trusted === undefined) {
    const problem = 'The workspace is not trusted, so no requests are sent to providers that it adds.';
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

/** The provider without those changes of a project that wait for the user's answer. */
function readProject(
  id: string,
  project: Tree,
  effective: ObjectTree,
  own: Tree | undefined,
): Pick<ProviderSettings, 'permitted' | 'waiting'> {
  if (project.type !== 'object') return {};
  const { permitted, waiting } = splitProjectPart(id, project, effective, own);
  const merged = own?.type === 'object' ? mergeTrees(own, permitted) : permitted;
  return { permitted: readProvider(id, merged), waiting };
}

const NOTHING: JsonObject = {};

function readProvider(id: string, node: ObjectTree): ProviderSettings {
  const options = child(node, 'options');
  const own = objectOrEmpty(options && plain(options));
  const value = (key: string) => {
    const field = child(node, key);
    return field && plain(field);
  };
  return {
    id,
    name: text(value('name')),
    npm: located(child(node, 'npm')),
    api: located(child(node, 'api')),
    env: texts(value('env')),
    fim: located(child(node, 'fim')),
    edit: text(value('edit')),
    apiKey: credential(child(options, 'apiKey')),
    baseURL: located(child(options, 'baseURL')),
    fimURL: located(child(options, 'fimURL')),
    resourceName: located(child(options, 'resourceName')),
    chunkTimeout: number(own.chunkTimeout),
    whitelist: texts(value('whitelist')),
    blacklist: texts(value('blacklist')),
    reasoningTags: flag(own.reasoningTags),
    toolCallsInText: flag(own.toolCallsInText),
    simulated: flag(own.simulated),
    problem: brokenAddress(node, options),
    headers: new Map([...optionHeaders(options), ...credentials(child(options, 'headers'))]),
    timeout: time(own.timeout) ?? time(own.headerTimeout) ?? DEFAULT_TIMEOUT_MS,
    options: unknownMembers(own),
    models: readModels(child(node, 'models')),
    origin: node.place,
  };
}

/** Milliseconds, or `false` for no limit. */
function time(value: unknown): number | false | undefined {
  return value === false ? false : number(value);
}

/** Options that other tools have instead of a header (`CONNECTION_OPTIONS`). */
const HEADER_OPTIONS: readonly (readonly [option: string, header: string, scheme: string])[] = [
  ['authToken', 'authorization', 'Bearer '],
  ['organization', 'openai-organization', ''],
  ['project', 'openai-project', ''],
];

/** The options that are read here. */
const OWN_OPTIONS: ReadonlySet<string> = new Set([
  ...Object.keys(optionsSchema.omit({ apiVersion: true }).shape),
  ...HEADER_OPTIONS.map(([option]) => option),
  'headerTimeout',
]);

function optionHeaders(options: Tree | undefined): [string, Credential][] {
  return HEADER_OPTIONS.flatMap(([option, header, scheme]) => {
    const given = credential(child(options, option));
    return given === undefined ? [] : [[header, { ...given, secret: new Secret(scheme + given.secret.reveal()) }]];
  });
}

/** The options that are passed on unchanged. */
function unknownMembers(options: JsonObject): JsonObject {
  const keys = Object.keys(options).filter((key) => !OWN_OPTIONS.has(key));
  return keys.length === 0 ? NOTHING : Object.fromEntries(keys.map((key) => [key, options[key]]));
}

/** The message for an invalid address, which source-rules.ts replaces with `null`. */
function brokenAddress(node: ObjectTree, options: Tree | undefined): string | undefined {
  const places = [
    ...['npm', 'api'].map((key) => ({ name: key, value: child(node, key) })),
    ...['baseURL', 'fimURL', 'resourceName'].map((key) => ({ name: `options.${key}`, value: child(options, key) })),
  ];
  const broken = places.find(({ value }) => isNull(value));
  if (broken?.value === undefined) return undefined;
  const { source, line } = broken.value.place;
  return `The address (\`${broken.name}\`) cannot be used (${source.path}, line ${line}), so nothing is sent.`;
}
