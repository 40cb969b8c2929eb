import { type ParseError, parse } from 'jsonc-parser';
import { nonEmptyString, ownEntry } from '../../base/json.ts';
import { withoutTrailing } from '../../base/text.ts';
import { fromContinue } from './import-continue.ts';
import {
  add,
  asList,
  BASES,
  type Fields,
  type Imported,
  isFields,
  local,
  readFields,
  readHeaders,
  readKeyChoice,
} from './import-fields.ts';
import { fromLlamaVscode } from './import-llama-vscode.ts';
import { fromZed } from './import-zed.ts';
import { API_PACKAGES, EMPTY_FORM, type ProviderApi, type ProviderForm, proposedId } from './provider-form.ts';

/** Other tools whose providers can be imported. */
export type ImportTool = 'continue' | 'opencode' | 'kilo' | 'cline' | 'vscode' | 'zed' | 'llama-vscode';

/** Imports the providers in a file of another tool. Writes nothing and reads no other file. */
export function importProviders(tool: ImportTool, text: string): Imported {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  if (errors.length > 0) return { providers: [], notes: ['The file is not valid JSON.'] };
  return importValue(tool, value);
}

/** Larger files are not configuration. */
const MAX_YAML = 1024 * 1024;

/** Imports the providers in a YAML file of another tool. The parser is loaded only here. */
export async function importYaml(tool: ImportTool, text: string): Promise<Imported> {
  const { CORE_SCHEMA, load, mergeTag } = await import('js-yaml');
  try {
    if (text.length > MAX_YAML) return { providers: [], notes: ['The file is too large.'] };
    const value: unknown = load(text, { schema: CORE_SCHEMA.withTags(mergeTag) });
    return importValue(tool, value);
  } catch {
    return { providers: [], notes: ['The file is not valid YAML.'] };
  }
}

function importValue(tool: ImportTool, value: unknown): Imported {
  switch (tool) {
    case 'continue':
      return fromContinue(readFields(value));
    case 'opencode':
    case 'kilo':
      return fromOpencode(readFields(value));
    case 'cline':
      return fromCline(readFields(value));
    case 'vscode':
      return fromCustomEndpoints(Array.isArray(value) ? value : []);
    case 'zed':
      return fromZed(readFields(value));
    case 'llama-vscode':
      return fromLlamaVscode(readFields(value));
  }
}

/** opencode.ai/docs/providers: `provider.<id>` with `npm`, `name`, `options` and `models`, as in svc.jsonc. */
function fromOpencode(config: Fields): Imported {
  const notes: string[] = [];
  const providers: ProviderForm[] = [];
  for (const [id, value] of Object.entries(readFields(config.provider))) {
    const provider = readFields(value);
    const options = readFields(provider.options);
    const npm = nonEmptyString(provider.npm) ?? API_PACKAGES['chat-completions'];
    const api = findApi(npm);
    const vendor = ownEntry(BASES, id);
    const baseURL = nonEmptyString(options.baseURL) ?? nonEmptyString(provider.api) ?? vendor?.baseURL;
    if (api === undefined || baseURL === undefined) {
      notes.push(
        api === undefined ? `${id}: the format of ${npm} is not supported.` : `${id}: its address is not in the file.`,
      );
      continue;
    }
    const models = Object.entries(readFields(provider.models)).filter(([, model]) => isFields(model));
    providers.push({
      ...EMPTY_FORM,
      id: proposedId(id),
      name: nonEmptyString(provider.name) ?? '',
      api: nonEmptyString(provider.npm) === undefined ? (vendor?.api ?? api) : api,
      baseURL: withoutTrailing(baseURL, '/'),
      key: readKeyChoice(options.apiKey),
      models: models.map(([key, model]) => ({ id: key, name: nonEmptyString(readFields(model).name) ?? '' })),
      headers: readHeaders(options.headers),
    });
  }
  return { providers, notes };
}

function findApi(npm: string): ProviderApi | undefined {
  for (const api of ['chat-completions', 'responses', 'messages'] as const) if (API_PACKAGES[api] === npm) return api;
  return undefined;
}

/** Cline stores its settings as flat fields in `~/.cline/data/globalState.json`, and its keys in another place. */
function fromCline(state: Fields): Imported {
  const form = (
    id: string,
    name: string,
    baseURL: string,
    models: readonly unknown[],
    headers?: unknown,
  ): ProviderForm => ({
    ...EMPTY_FORM,
    id,
    name,
    baseURL: local(id, baseURL),
    models: [...new Set(models.map(nonEmptyString))].flatMap((model) =>
      model === undefined ? [] : [{ id: model, name: '' }],
    ),
    headers: readHeaders(headers),
  });
  const compatible = nonEmptyString(state.openAiBaseUrl);
  const ollama = nonEmptyString(state.ollamaBaseUrl);
  const studio = nonEmptyString(state.lmStudioBaseUrl);
  const chosen = (name: string) => [state[`planMode${name}`], state[`actMode${name}`]];
  const ids = [state.openAiModelId, ...chosen('OpenAiModelId')];
  const providers = [
    ...(compatible === undefined
      ? []
      : [form('cline-openai', 'OpenAI Compatible (Cline)', compatible, ids, state.openAiHeaders)]),
    ...(ollama === undefined ? [] : [form('ollama', 'Ollama', ollama, chosen('OllamaModelId'))]),
    ...(studio === undefined
      ? []
      : [form('lmstudio', 'LM Studio', `${studio.replace(/\/v1\/?$/, '')}/v1`, chosen('LmStudioModelId'))]),
  ];
  const notes = providers.length === 0 ? ['The file contains no custom address.'] : [];
  return { providers, notes };
}

/** chatLanguageModels.json: groups by vendor. A custom endpoint has an address for each model. */
function fromCustomEndpoints(groups: readonly unknown[]): Imported {
  const notes: string[] = [];
  const providers = new Map<string, ProviderForm>();
  for (const value of groups) {
    const group = readFields(value);
    const vendor = nonEmptyString(group.vendor) ?? '';
    if (!/^custom/i.test(vendor)) continue;
    const name = nonEmptyString(group.name) ?? vendor;
    for (const entry of asList(group.models)) {
      const model = readFields(entry);
      const id = nonEmptyString(model.id);
      const url = nonEmptyString(model.url);
      if (id === undefined || url === undefined) {
        notes.push(`${name}: a model without an id or an address.`);
        continue;
      }
      const { api, baseURL } = splitEndpoint(url, nonEmptyString(model.apiType) ?? nonEmptyString(group.apiType));
      add(providers, {
        ...EMPTY_FORM,
        id: proposedId(name) || 'imported',
        name,
        api,
        baseURL,
        key: readKeyChoice(group.apiKey),
        models: [{ id, name: nonEmptyString(model.name) ?? '' }],
        headers: readHeaders(model.requestHeaders),
      });
    }
  }
  return { providers: [...providers.values()], notes };
}

const ENDPOINTS: readonly (readonly [string, ProviderApi])[] = [
  ['/chat/completions', 'chat-completions'],
  ['/responses', 'responses'],
  ['/messages', 'messages'],
];

/**
 * Splits `https://…/v1/messages` into the base address and the format. `apiType` determines the format if the path does
 * not.
 */
function splitEndpoint(url: string, apiType: string | undefined): { api: ProviderApi; baseURL: string } {
  const bare = withoutTrailing(url, '/');
  const end = ENDPOINTS.find(([path]) => bare.endsWith(path));
  const named = ENDPOINTS.find(([, api]) => api === apiType)?.[1];
  const baseURL = end ? bare.slice(0, -end[0].length) : bare;
  return { api: named ?? end?.[1] ?? 'chat-completions', baseURL };
}
