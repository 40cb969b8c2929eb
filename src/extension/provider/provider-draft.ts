import * as vscode from 'vscode';
import { defined } from '../../base/json.ts';
import { upToFirst } from '../../base/text.ts';
import { findTemplate } from '../../catalog/fim-ability.ts';
import type { Model } from '../../catalog/model.ts';
import { selectCompletionModel, selectModel } from '../../catalog/model-selection.ts';
import { EMPTY_CATALOG } from '../../catalog/public/catalog.ts';
import { buildRegistry, type Registry } from '../../catalog/registry/registry.ts';
import { API_PACKAGES, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import { readGateway } from '../../config/settings/gateway-settings.ts';
import type { Credential, Located, Origin } from '../../config/settings/origin.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { ProviderSettings, Settings } from '../../config/settings/settings.ts';
import { SetValues } from '../../config/settings/values.ts';
import type {
  DialogFailure,
  FoundServer,
  OfferedModel,
  ProviderPreset,
  TestedModel,
  ToDialog,
} from '../../protocol/provider-dialog.ts';
import { completeCode } from '../../provider/complete-code.ts';
import { converse } from '../../provider/converse.ts';
import { type ListedModel, listModels } from '../../provider/list-models.ts';
import { upstreamURL } from '../../provider/request/url.ts';
import { ServedWindows } from '../../provider/served-window.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import type { Conversation } from '../../wire/conversation.ts';
import { asSvcError } from '../../wire/errors/svc-error.ts';
import { translate } from '../error-text.ts';

const HERE: Origin = {
  source: { kind: 'built-in', path: 'dialog', trusted: true, status: 'loaded' },
  line: 1,
  column: 1,
};

/** A form with its secrets, which only the host has. */
export interface ProviderDraft {
  readonly form: ProviderForm;
  readonly key: Secret | undefined;
  readonly headers: ReadonlyMap<string, Secret>;
}

const located = <T>(value: T): Located<T> => ({ value, origin: HERE });
const credential = (secret: Secret): Credential => ({ secret, origin: HERE, trusted: true });

/** The registry with only this provider, as it would be after saving. Nothing is stored. */
function draftRegistry(draft: ProviderDraft, models: readonly string[]): DraftRegistry {
  const { form, key, headers } = draft;
  const id = form.id === '' ? 'draft' : form.id;
  const settings: ProviderSettings = {
    id,
    npm: located(API_PACKAGES[form.api]),
    baseURL: located(form.baseURL),
    ...(form.fim === '' ? {} : { fim: located(form.fim) }),
    ...(form.edit === '' ? {} : { edit: form.edit }),
    ...(form.fimURL === '' ? {} : { fimURL: located(form.fimURL) }),
    ...(key === undefined ? {} : { apiKey: credential(key) }),
    headers: new Map([...headers].map(([name, secret]) => [name, credential(secret)])),
    timeout: TRY_TIMEOUT_MS,
    options: {},
    models: new Map(models.map((key) => [key, { key, origin: HERE }])),
    origin: HERE,
  };
  const all = alone(settings);
  return { id, settings: all, registry: buildRegistry({ settings: all, catalog: EMPTY_CATALOG, env: {} }) };
}

interface DraftRegistry {
  readonly id: string;
  readonly settings: Settings;
  readonly registry: Registry;
}

function alone(provider: ProviderSettings): Settings {
  return {
    sources: [],
    diagnostics: [],
    providers: new Map([[provider.id, provider]]),
    disabledProviders: new Set(),
    values: new SetValues(),
    gateway: readGateway(undefined),
    catalog: { refresh: false },
  };
}

/** Time limit for listing and testing from the dialog. */
const TRY_TIMEOUT_MS = 20_000;

/** Records the URL and the status of the last request. */
function recordLast(transport: Transport) {
  const last: { url?: string; status?: number } = {};
  const recording: Transport = {
    send: async (request) => {
      last.url = request.url;
      delete last.status;
      const response = await transport.send(request);
      last.status = response.status;
      return response;
    },
  };
  return { last, transport: recording };
}

/** The models that a provider lists, sorted by id, and the base URL if the list was at another one. @throws SvcError */
export async function listOffered(
  draft: ProviderDraft,
  transport: Transport,
  signal: AbortSignal,
): Promise<{ readonly models: readonly OfferedModel[]; readonly baseURL?: string }> {
  const { id, registry } = draftRegistry(draft, []);
  const provider = registry.providers.get(id);
  if (!provider) return { models: [] };
  const { last, transport: recording } = recordLast(transport);
  const listed = await listModels(provider.endpoint, { transport: recording, signal, provider: provider.name });
  const found = last.url === undefined ? undefined : withoutModels(last.url);
  const expected = withoutModels(upstreamURL(provider.endpoint, '/models'));
  return { models: offered(listed), ...(found === undefined || found === expected ? {} : { baseURL: found }) };
}

function withoutModels(url: string): string {
  const path = upToFirst(url, ['?']);
  return path.endsWith('/models') ? path.slice(0, -'/models'.length) : url;
}

function offered(listed: readonly ListedModel[]): readonly OfferedModel[] {
  const byId = new Map(
    listed.map(({ id, name = '', contextLength }) => [id, { id, name, ...defined({ contextLength }) }]),
  );
  return [...byId.values()].sort((a, b) => a.id.localeCompare(b.id));
}

/**
 * The models to test, chosen as Svc chooses them: one for chat, and one for code completion if there is one. A server
 * of an unknown kind may complete code with the template of a model, which only a request can tell.
 */
export function modelsToTest(draft: ProviderDraft, offered: readonly string[]): readonly TestedModel[] {
  const chosen = draft.form.models.map(({ id }) => id);
  const keys = chosen.length > 0 ? chosen : offered;
  const { settings, registry } = draftRegistry(draft, keys);
  const chat = selectModel({ settings, registry }).model;
  const completion = selectCompletionModel({ settings, registry }).model;
  const tried = completion === undefined ? keys.find((key) => findTemplate(key) !== undefined) : undefined;
  const fim = tried === undefined ? undefined : findTemplate(tried);
  return [
    ...(chat === undefined ? [] : [{ use: 'chat' as const, model: chat.key }]),
    ...(completion === undefined ? [] : [{ use: 'completion' as const, model: completion.key }]),
    ...(tried === undefined || fim === undefined ? [] : [{ use: 'completion' as const, model: tried, fim }]),
  ];
}

/** Sends a test request to a model and reports its first answer. Rejects only if the signal fires. */
export async function tryModel(
  draft: ProviderDraft,
  { use, model: key, fim }: TestedModel,
  transport: Transport,
  signal: AbortSignal,
): Promise<Omit<Extract<ToDialog, { type: 'tested' }>, 'type' | 'request' | 'use'>> {
  const tested = fim === undefined ? draft : { ...draft, form: { ...draft.form, fim } };
  const { id, registry } = draftRegistry(tested, [key]);
  const model = registry.find(`${id}/${key}`);
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  if (!model) return { ok: false, milliseconds: 0, reason: { message: vscode.l10n.t('There is no model {0}.', key) } };
  const { last, transport: recording } = recordLast(transport);
  const status = () => (last.status === undefined ? {} : { status: last.status });
  const options = { transport: recording, signal, retry: { limit: 0 } };
  const events = use === 'chat' ? converse(model, question(model), options) : completeCode(model, FIM_TEST, options);
  for await (const event of events) {
    if (event.type === 'error') {
      return { ok: false, ...status(), milliseconds: since(), reason: failureReason(event.error) };
    }
    if (event.type === 'reasoning' && event.text.trim() !== '') return { ok: true, ...status(), milliseconds: since() };
    if (event.type === 'text' && event.text.trim() !== '') {
      return { ok: true, ...status(), milliseconds: since(), answer: event.text.trim().slice(0, MAX_SHOWN) };
    }
  }
  signal.throwIfAborted();
  return { ok: true, ...status(), milliseconds: since() };
}

function question(model: Model): Conversation {
  return {
    model: model.ref,
    system: [],
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'Answer with one word: ready' }] }],
    tools: [],
    sampling: {},
    maxTokens: MAX_TOKENS,
    stream: true,
  };
}

/** Reasoning models need some tokens before their answer. The Responses API requires at least 16. */
const MAX_TOKENS = 64;
const MAX_SHOWN = 80;
const FIM_TEST = { prefix: 'function add(a, b) {\n  return ', suffix: ';\n}\n', maxTokens: 16, temperature: 0 };

export function failureReason(thrown: unknown): DialogFailure {
  const { text, actionText } = asSvcError(thrown);
  return { message: translate(text), ...(actionText && { action: translate(actionText) }) };
}

/** Finds the servers on this machine that answer with a list of models. */
export async function findServers(
  presets: readonly ProviderPreset[],
  transport: Transport,
  signal: AbortSignal,
): Promise<readonly FoundServer[]> {
  const local = presets.filter((preset) => preset.local);
  const answers = await Promise.all(local.map((preset) => serverAt(preset, transport, signal)));
  return answers.filter((server) => server !== undefined);
}

async function serverAt(
  preset: ProviderPreset,
  transport: Transport,
  signal: AbortSignal,
): Promise<FoundServer | undefined> {
  const models = await modelsAt(preset, transport, signal);
  return models && { ...preset, models: models.length };
}

/** The ids of the models that a server without a key lists. Undefined: no server, or not a model server. */
export async function modelsAt(
  { api, baseURL }: Pick<ProviderPreset, 'api' | 'baseURL'>,
  transport: Transport,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    return (await listModels(endpointAt(api, baseURL), { transport, signal, timeout: LOOK_TIMEOUT_MS })).map(
      ({ id }) => id,
    );
  } catch {
    return undefined;
  }
}

/** The smallest window of the models that a running Ollama has in memory; 0: it has none. */
export function loadedWindow(
  { api, baseURL }: Pick<ProviderPreset, 'api' | 'baseURL'>,
  transport: Transport,
): Promise<number> {
  return new ServedWindows(transport).smallestLoaded(endpointAt(api, baseURL), new AbortController().signal);
}

function endpointAt(format: ProviderPreset['api'], baseURL: string) {
  const headers = new Map<string, Credential>();
  return { kind: 'openai-compatible', format, baseURL, headers, timeout: LOOK_TIMEOUT_MS, options: {} } as const;
}

const LOOK_TIMEOUT_MS = 1500;
