import { upToFirst } from '../../base/text.ts';
import type { Model, Provider } from '../../catalog/model.ts';
import { EMPTY_CATALOG } from '../../catalog/public/catalog.ts';
import { buildRegistry } from '../../catalog/registry/registry.ts';
import type {
  DialogFailure,
  FoundServer,
  OfferedModel,
  ProviderPreset,
  ToDialog,
} from '../../config/provider-form/provider-dialog.ts';
import { API_PACKAGES, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import type { Credential, Located, Origin } from '../../config/settings/origin.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { ProviderSettings, Settings } from '../../config/settings/settings.ts';
import { SetValues } from '../../config/settings/values.ts';
import { converse } from '../../provider/converse.ts';
import { type ListedModel, listModels } from '../../provider/list-models.ts';
import { upstreamURL } from '../../provider/request/url.ts';
import type { Transport } from '../../provider/transport/transport.ts';
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

/** The provider as it would be after saving, and one of its models. Nothing is stored. */
function draftProvider(draft: ProviderDraft, model?: string): { readonly provider?: Provider; readonly model?: Model } {
  const { form, key, headers } = draft;
  const id = form.id === '' ? 'draft' : form.id;
  const settings: ProviderSettings = {
    id,
    npm: located(API_PACKAGES[form.api]),
    baseURL: located(form.baseURL),
    ...(form.fim === '' ? {} : { fim: located(form.fim) }),
    ...(form.fimURL === '' ? {} : { fimURL: located(form.fimURL) }),
    ...(key === undefined ? {} : { apiKey: credential(key) }),
    headers: new Map([...headers].map(([name, secret]) => [name, credential(secret)])),
    timeout: TRY_TIMEOUT_MS,
    options: {},
    models: new Map(model === undefined ? [] : [[model, { key: model, origin: HERE }]]),
    origin: HERE,
  };
  const registry = buildRegistry({ settings: alone(settings), catalog: EMPTY_CATALOG, env: {} });
  const provider = registry.providers.get(id);
  const found = model === undefined ? undefined : registry.find(`${id}/${model}`);
  return { ...(provider ? { provider } : {}), ...(found ? { model: found } : {}) };
}

function alone(provider: ProviderSettings): Settings {
  return {
    sources: [],
    diagnostics: [],
    providers: new Map([[provider.id, provider]]),
    disabledProviders: new Set(),
    values: new SetValues(),
    gateway: {
      listen: { host: '127.0.0.1', port: 0 },
      maxBodyBytes: 0,
      maxBufferedBytes: 0,
      allowedOrigins: [],
      allowedHosts: [],
      organizations: new Map(),
      embeddingModels: new Map(),
      transcriptionModels: new Map(),
      fallback: new Map(),
    },
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
  const { provider } = draftProvider(draft);
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
    listed.map(({ id, name = '', contextLength }) => [
      id,
      { id, name, ...(contextLength === undefined ? {} : { contextLength }) },
    ]),
  );
  return [...byId.values()].sort((a, b) => a.id.localeCompare(b.id));
}

/** Sends a test request to a model. Rejects only if the signal fires. */
export async function tryModel(
  draft: ProviderDraft,
  id: string,
  transport: Transport,
  signal: AbortSignal,
): Promise<Omit<Extract<ToDialog, { type: 'tested' }>, 'type' | 'request'>> {
  const { model } = draftProvider(draft, id);
  const started = performance.now();
  const since = () => Math.round(performance.now() - started);
  if (!model) return { ok: false, milliseconds: 0, reason: { message: `There is no model ${id}.` } };
  const { last, transport: recording } = recordLast(transport);
  const status = () => (last.status === undefined ? {} : { status: last.status });
  const ask = {
    model: model.ref,
    system: [],
    turns: [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Answer with one word: ready' }] }],
    tools: [],
    sampling: {},
    maxTokens: MAX_TOKENS,
    stream: true,
  };
  let answer = '';
  for await (const event of converse(model, ask, { transport: recording, signal })) {
    if (event.type === 'error')
      return { ok: false, ...status(), milliseconds: since(), reason: failureReason(event.error) };
    if (event.type === 'text') answer += event.text;
    if (answer.length > 200) break;
  }
  signal.throwIfAborted();
  return { ok: true, ...status(), milliseconds: since(), answer: answer.trim().slice(0, 80) };
}

/** Reasoning models need some tokens before their answer. The Responses API requires at least 16. */
const MAX_TOKENS = 64;

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
  const endpoint = {
    kind: 'openai-compatible',
    format: preset.api,
    baseURL: preset.baseURL,
    headers: new Map<string, Credential>(),
    timeout: LOOK_TIMEOUT_MS,
    options: {},
  } as const;
  try {
    const models = await listModels(endpoint, { transport, signal, timeout: LOOK_TIMEOUT_MS });
    return { ...preset, models: models.length };
  } catch {
    // No server, or not a model server.
    return undefined;
  }
}

const LOOK_TIMEOUT_MS = 1500;
