import { type ParseError, parse } from 'jsonc-parser';
import { nonEmptyString, ownEntry } from '../../base/json.ts';
import { withoutTrailing } from '../../base/text.ts';
import {
  API_PACKAGES,
  EMPTY_FORM,
  type KeyChoice,
  type ProviderApi,
  type ProviderForm,
  proposedId,
} from './provider-form.ts';

/** Other tools whose providers can be imported. */
export type ImportTool = 'continue' | 'opencode' | 'kilo' | 'cline' | 'vscode';

export interface Imported {
  readonly providers: readonly ProviderForm[];
  /** Messages about entries that could not be imported. */
  readonly notes: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Imports the providers in a file of another tool. Writes nothing and reads no other file. */
export function importProviders(tool: ImportTool, text: string): Imported {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  if (errors.length > 0) return { providers: [], notes: ['The file is not valid JSON.'] };
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
  }
}

/** Vendor names of other tools and their addresses, for providers without their own address. */
const BASES: Readonly<Record<string, { readonly id: string; readonly baseURL: string; readonly api?: ProviderApi }>> = {
  openai: { id: 'openai', baseURL: 'https://api.openai.com/v1' },
  anthropic: { id: 'anthropic', baseURL: 'https://api.anthropic.com/v1', api: 'messages' },
  mistral: { id: 'mistral', baseURL: 'https://api.mistral.ai/v1' },
  codestral: { id: 'codestral', baseURL: 'https://codestral.mistral.ai/v1' },
  deepseek: { id: 'deepseek', baseURL: 'https://api.deepseek.com' },
  openrouter: { id: 'openrouter', baseURL: 'https://openrouter.ai/api/v1' },
  groq: { id: 'groq', baseURL: 'https://api.groq.com/openai/v1' },
  xai: { id: 'xai', baseURL: 'https://api.x.ai/v1' },
  together: { id: 'togetherai', baseURL: 'https://api.together.xyz/v1' },
  gemini: { id: 'google', baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai' },
  ollama: { id: 'ollama', baseURL: 'http://127.0.0.1:11434/v1' },
  lmstudio: { id: 'lmstudio', baseURL: 'http://127.0.0.1:1234/v1' },
  'llama.cpp': { id: 'llamacpp', baseURL: 'http://127.0.0.1:8080/v1' },
  vllm: { id: 'vllm', baseURL: 'http://127.0.0.1:8000/v1' },
};

/** docs.continue.dev, "config.json reference": a list of models, each with its provider. */
function fromContinue(config: Fields): Imported {
  const notes: string[] = [];
  const providers = new Map<string, ProviderForm>();
  const completion = listOffered(config.tabAutocompleteModel ?? []);
  for (const entry of [...listOffered(config.models), ...completion]) {
    const { title, provider, model, apiKey, apiBase, requestOptions } = readFields(entry);
    const vendor = ownEntry(BASES, nonEmptyString(provider) ?? '');
    const baseURL = nonEmptyString(apiBase) ?? vendor?.baseURL;
    const id = nonEmptyString(model);
    if (baseURL === undefined || id === undefined || id === 'AUTODETECT') {
      notes.push(
        `${nonEmptyString(title) ?? nonEmptyString(provider) ?? 'A model'}: its address or its model is not in the file.`,
      );
      continue;
    }
    add(providers, {
      ...EMPTY_FORM,
      id: vendor?.id ?? proposedId(nonEmptyString(provider) ?? 'imported'),
      name: vendor === undefined || apiBase !== undefined ? (nonEmptyString(provider) ?? '') : '',
      api: vendor?.api ?? 'chat-completions',
      baseURL: local(vendor?.id, baseURL),
      key: readKeyChoice(apiKey),
      models: [{ id, name: nonEmptyString(title) ?? '' }],
      headers: readHeaders(readFields(requestOptions).headers),
    });
  }
  return { providers: [...providers.values()], notes };
}

/** Other tools write the Ollama address without `/v1`. */
function local(id: string | undefined, baseURL: string): string {
  const trimmed = withoutTrailing(baseURL, '/');
  return id === 'ollama' && !/\/v1$/.test(trimmed) ? `${trimmed}/v1` : trimmed;
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
    for (const entry of listOffered(group.models)) {
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

/** Adds a provider. Providers with the same address, format and key are combined. */
function add(providers: Map<string, ProviderForm>, form: ProviderForm): void {
  const same = JSON.stringify([form.id, form.api, form.baseURL, form.key, form.headers]);
  const before = providers.get(same);
  if (before === undefined) {
    const ids = [...providers.values()].map(({ id }) => id);
    const id = ids.includes(form.id)
      ? `${form.id}-${ids.filter((each) => each.startsWith(form.id)).length + 1}`
      : form.id;
    providers.set(same, { ...form, id });
  } else if (!before.models.some(({ id }) => id === form.models[0]?.id)) {
    providers.set(same, { ...before, models: [...before.models, ...form.models] });
  }
}

/** A key in the file. The key stores of VS Code and other tools are not read. */
function readKeyChoice(value: unknown): KeyChoice {
  const text = nonEmptyString(value)?.trim();
  if (text === undefined || text === '') return { kind: 'none' };
  const variable = /^\{env:([^}]+)\}$/.exec(text)?.[1] ?? /^\$\{?env:(\w+)\}$/.exec(text)?.[1];
  if (variable !== undefined) return { kind: 'env', name: variable };
  // `${input:…}` and `${{ secrets.X }}` refer to a store of the other tool, `{file:…}` to a file.
  return /^(\$\{|\{file:)/.test(text) ? { kind: 'none' } : { kind: 'typed', value: text };
}

function readHeaders(value: unknown): ProviderForm['headers'] {
  return Object.entries(readFields(value)).flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' ? [{ name, value: text }] : [],
  );
}

function listOffered(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}
