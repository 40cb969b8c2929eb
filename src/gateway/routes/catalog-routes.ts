import { splitWords } from '../../base/split-words.ts';
import { withoutTrailing } from '../../base/text.ts';
import type { Model, Provider } from '../../catalog/model.ts';
import type { OrganizationSettings } from '../../config/settings/settings.ts';
import type { KeyCheck } from '../access/authentication.ts';
import { optionalKey } from '../access/authentication.ts';
import { allows, requestedOrganization } from '../access/organization.ts';
import { exactAliases, unknownModel } from '../dispatch/model-names.ts';
import type { Models } from '../dispatch/models.ts';
import { findModel } from '../dispatch/requested-model.ts';

import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import { codexList } from './codex-models.ts';

/** The dependencies of the lists. */
interface Catalog extends Models {
  readonly keys: KeyCheck;
}

/** The lists (spec 2.3, 4.1). A key is optional. An organization's policy filters the lists (spec 4.2.5). */
export function catalogRoutes(deps: Catalog): Route[] {
  const list = <T>(
    path: string,
    items: (organization: OrganizationSettings | undefined) => T[],
    write: (items: T[], context: RequestContext) => unknown = openAIList,
  ): Route => ({
    method: 'GET',
    path,
    handle: async (context) => {
      const organization = viewer(deps, context);
      await deps.listing.whenListed();
      context.sendJson(200, write(items(organization), context));
    },
  });
  return [
    list('/models', (organization) => offered(deps, organization), writeModels),
    { method: 'GET', path: '/models/*', handle: (context, params) => retrieve(deps, context, params['*'] ?? '') },
    list('/providers', (organization) => providers(deps, organization)),
    list('/embedding-models', (organization) => embeddingModels(deps, organization)),
    list('/transcription-models', (organization) => transcriptionModels(deps, organization)),
  ];
}

/** In the form that the client expects. */
function writeModels(models: readonly Model[], context: RequestContext): unknown {
  if (wantsAnthropic(context)) return anthropicList(models);
  return context.query.has('client_version') ? codexList(models) : openAIList(models.map(modelItem));
}

function openAIList(data: unknown[]): unknown {
  return { object: 'list', data };
}

/** Anthropic's API requires this header, and its SDK and Claude Code send it. */
function wantsAnthropic(context: RequestContext): boolean {
  return context.header('anthropic-version') !== undefined;
}

/** All models on one page (Anthropic, "List Models"). */
function anthropicList(models: readonly Model[]): unknown {
  const data = models.map(anthropicModel);
  return { data, has_more: false, first_id: data.at(0)?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function anthropicModel({ ref, name, releaseDate, limit }: Model) {
  const released = new Date(releaseDate ?? 0);
  return {
    type: 'model',
    id: ref,
    display_name: name,
    // Anthropic's form for an unknown date.
    created_at: (Number.isNaN(released.getTime()) ? new Date(0) : released).toISOString(),
    max_input_tokens: limit.context || null,
    max_tokens: limit.output || null,
    capabilities: null,
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
  };
}

function viewer(deps: Catalog, context: RequestContext): OrganizationSettings | undefined {
  return requestedOrganization(context, optionalKey(context, deps.keys), deps.settings());
}

/** The models that can be called, aliases last. Models of a provider with a configuration problem are omitted. */
function offered(deps: Models, organization: OrganizationSettings | undefined): Model[] {
  const pools = [...deps.pools.all.values()].map(({ model }) => model);
  const models = [...deps.registry().models.values()].filter(({ ref }) => deps.pools.find(ref) === undefined);
  const callable = [...pools, ...models].filter(
    (model) => model.endpoint.problem === undefined && allows(organization, model.ref),
  );
  const aliases = offeredAliases(deps, organization);
  return [...callable.filter(({ ref }) => !aliases.has(ref)), ...aliases.values()];
}

/** The models behind aliases, under the names of the aliases. Patterns can't be listed. */
function offeredAliases(deps: Models, organization: OrganizationSettings | undefined): ReadonlyMap<string, Model> {
  const listed = new Map<string, Model>();
  for (const [alias] of exactAliases(deps)) {
    const model = findModel(deps, alias)?.model;
    if (model === undefined || model.endpoint.problem !== undefined || !allows(organization, model.ref)) continue;
    listed.set(alias, { ...model, ref: alias });
  }
  return listed;
}

/** The items of a special list, and the aliases of its models. */
function withAliases<T extends { readonly id: string }>(deps: Models, items: readonly T[]): T[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const aliases = exactAliases(deps).flatMap(([alias, target]) => {
    const item = byId.get(target);
    return item === undefined ? [] : [{ ...item, id: alias }];
  });
  return [...items, ...aliases];
}

async function retrieve(deps: Catalog, context: RequestContext, ref: string): Promise<void> {
  const organization = viewer(deps, context);
  await deps.listing.whenListed();
  const model = findModel(deps, ref)?.model;
  if (model === undefined || !allows(organization, model.ref)) {
    throw unknownModel(deps, ref, organization).with({ status: 404 });
  }
  // Clients look for the name that they asked for.
  const named = ref.startsWith(`${model.ref}:`) ? model : { ...model, ref };
  context.sendJson(200, wantsAnthropic(context) ? anthropicModel(named) : modelItem(named));
}

/** A model as an item of the list. Fields that are not in the spec are those of OpenAI's and OpenRouter's lists. */
function modelItem(model: Model): Record<string, unknown> {
  const { limit, cost, modalities } = model;
  return {
    id: model.ref,
    object: 'model',
    created: model.releaseDate ? Math.floor(Date.parse(model.releaseDate) / 1000) || 0 : 0,
    owned_by: model.provider,
    name: model.name,
    context_length: limit.context,
    pricing: {
      prompt: perToken(cost?.input),
      completion: perToken(cost?.output),
      ...(cost?.cacheRead === undefined ? {} : { input_cache_read: perToken(cost.cacheRead) }),
      ...(cost?.cacheWrite === undefined ? {} : { input_cache_write: perToken(cost.cacheWrite) }),
      ...(cost?.cacheWrite1h === undefined ? {} : { input_cache_write_1h: perToken(cost.cacheWrite1h) }),
    },
    architecture: { input_modalities: modalities.input, output_modalities: modalities.output },
    supported_parameters: supportedParameters(model),
    top_provider: { context_length: limit.context, max_completion_tokens: limit.output },
    ...(model.variants.size === 0 ? {} : { variants: [...model.variants.keys()] }),
  };
}

/** Converts USD per million tokens to USD per token, as a decimal string without an exponent. */
function perToken(perMillion: number | undefined): string {
  const digits = withoutTrailing(((perMillion ?? 0) / 1_000_000).toFixed(15), '0');
  return withoutTrailing(digits, '.');
}

function supportedParameters(model: Model): string[] {
  return [
    ...splitWords('max_tokens stop top_p seed response_format'),
    ...(model.temperature ? ['temperature'] : []),
    ...(model.toolCall ? ['tools', 'tool_choice', 'parallel_tool_calls'] : []),
    ...(model.reasoning ? ['reasoning', 'reasoning_effort'] : []),
    ...(model.structuredOutput ? ['structured_outputs'] : []),
  ];
}

function providers(deps: Models, organization: OrganizationSettings | undefined): unknown[] {
  return [...deps.registry().providers.values()]
    .filter(({ endpoint }) => endpoint.problem === undefined)
    .map((provider) => ({
      id: provider.id,
      name: provider.name,
      api: listFormats(provider),
      models: [...provider.models.values()].filter(({ ref }) => allows(organization, ref)).length,
      byok: organization?.byok.has(provider.id) === true,
    }));
}

/** The formats that the provider supports. Clients may use any format. */
function listFormats({ endpoint, models }: Provider): string[] {
  const formats = [...models.values()].map((model) => model.endpoint.format);
  return [...new Set(formats.length > 0 ? formats : [endpoint.format])];
}

function embeddingModels(deps: Models, organization: OrganizationSettings | undefined): unknown[] {
  const registry = deps.registry();
  const models = [...deps.settings().gateway.embeddingModels]
    .filter(([ref]) => allows(organization, ref))
    .map(([ref, { name, dimensions, context }]) => {
      const known = registry.models.get(ref);
      return {
        id: ref,
        object: 'model',
        name: name ?? known?.name ?? ref.slice(ref.indexOf('/') + 1),
        dimensions: dimensions ?? null,
        context_length: context ?? known?.limit.context ?? 0,
        pricing: { prompt: perToken(known?.cost?.input), completion: '0' },
      };
    });
  return withAliases(deps, models);
}

function transcriptionModels(deps: Models, organization: OrganizationSettings | undefined): unknown[] {
  const models = [...deps.settings().gateway.transcriptionModels]
    .filter(([ref]) => allows(organization, ref))
    .map(([ref, { name }]) => ({
      id: ref,
      object: 'model',
      name: name ?? deps.registry().models.get(ref)?.name ?? ref.slice(ref.indexOf('/') + 1),
    }));
  return withAliases(deps, models);
}
