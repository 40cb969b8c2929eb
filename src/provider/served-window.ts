import { aborted } from '../base/concurrency.ts';
import { defined, isObject, type JsonObject, objectOrEmpty, parseJson, tokenCount } from '../base/json.ts';
import { isLocalHost } from '../base/public-address.ts';
import { upToFirst } from '../base/text.ts';
import type { Endpoint, Model, ProviderKind, ServedWindow } from '../catalog/model.ts';
import { chosenWindow } from '../catalog/ollama-model.ts';
import { type WindowReader, withServedWindow } from '../catalog/served-window.ts';
import { withOllamaOptions } from '../wire/ollama-options.ts';
import { upstreamHeaders } from './request/headers.ts';
import { withOptions } from './request/model-options.ts';
import { joinURL, requireBase, upstreamURL, withoutVersion } from './request/url.ts';
import { textUpTo } from './send-and-stream.ts';
import type { Transport } from './transport/transport.ts';

/** Milliseconds for each question. */
const TIMEOUT_MS = 2_000;
/** Milliseconds in which a server that did not answer in time, or has no such path, gets no further question. */
const SILENCE_MS = 60_000;
/** Names of models that run in Ollama's cloud. Nothing is loaded for them. */
const CLOUD = /[:-]cloud$/;
/** Milliseconds for the load of a model. */
const LOAD_MS = 1_800_000;
/** Milliseconds for which typing does not ask again whether a model is loaded. Other programs may have it unloaded. */
const LOADED_MS = 30_000;
/** Milliseconds for which a load that failed is not begun again. Requests go out meanwhile, and report Ollama's error. */
const FAILED_MS = 60_000;
/** Milliseconds after which a window that was too large may be asked for again: other models may have left the memory. */
const GIVEN_MS = 600_000;
const MAX_BYTES = 4 * 1024 * 1024;

/** Asks one path of a server. `undefined`: it has no such path, or answers with something else than an object. */
type Ask = (path: string, body?: JsonObject) => Promise<JsonObject | undefined>;
type Partly =
  | {
      readonly context?: number | undefined;
      readonly trained?: number | undefined;
      readonly slots?: number | undefined;
      readonly think?: ServedWindow['think'] | undefined;
    }
  | undefined;

/** Lets a server load a model. */
type Load = () => Promise<void>;

/** One way in which servers tell the window. */
interface Source {
  readonly kinds: readonly ProviderKind[];
  read(ask: Ask, model: Model, load: Load | undefined): Promise<Partly>;
}

/** vLLM and SGLang: `max_model_len`. llama.cpp: `meta`. `n_ctx_train` is not served. */
async function readList(ask: Ask, { id }: Model): Promise<Partly> {
  const item = find((await ask('/models'))?.data, id);
  const meta = objectOrEmpty(item?.meta);
  return { context: count(item?.max_model_len) ?? count(meta.n_ctx), trained: count(meta.n_ctx_train) };
}

/** llama.cpp. A router needs the model, and must not load it for this. */
async function readProps(ask: Ask, { id }: Model): Promise<Partly> {
  const props = await ask(`/props?model=${encodeURIComponent(id)}&autoload=false`);
  const context = count(objectOrEmpty(props?.default_generation_settings).n_ctx) ?? count(props?.n_ctx);
  return { context, slots: count(props?.total_slots) };
}

/**
 * Ollama knows the window of loaded models. Before, only a Modelfile with `num_ctx` tells it. A window of the options loads
 * the model again. A model of Ollama's cloud has all that it was trained for.
 */
async function readOllama(ask: Ask, model: Model, load: Load | undefined): Promise<Partly> {
  const { id } = model;
  const own = chosenWindow(model);
  const loaded = async () => count(find((await ask('/api/ps'))?.models, id)?.context_length);
  const shown = ask('/api/show', { model: id });
  const running = own === undefined ? await loaded() : undefined;
  const { parameters, model_info: info, remote_host: cloud, thinking } = (await shown) ?? {};
  const think = thinkValues(thinking);
  const trained = Object.entries(objectOrEmpty(info)).find(([name]) => name.endsWith('.context_length'))?.[1];
  if (cloud !== undefined) return { context: count(trained), trained: count(trained), think };
  const chosen = /^num_ctx\s+(\d+)$/m.exec(typeof parameters === 'string' ? parameters : '')?.[1];
  // Ollama does not load a model with more than it was trained for.
  if (own !== undefined) return { context: Math.min(own, count(trained) ?? own), trained: count(trained), think };
  let context = running ?? (chosen === undefined ? undefined : count(Number(chosen)));
  if (context === undefined && load && info !== undefined) {
    await load();
    context = await loaded();
  }
  return { context, trained: count(trained), think };
}

/** LM Studio since 0.4, then before. `max_context_length` is the largest possible one. */
async function readLmStudio(ask: Ask, { id }: Model): Promise<Partly> {
  const item = find((await ask('/api/v1/models'))?.models, id);
  const instances = Array.isArray(item?.loaded_instances) ? item.loaded_instances : [];
  const instance = instances.find((each) => isObject(each) && each.id === id) ?? instances[0];
  const context = count(objectOrEmpty(objectOrEmpty(instance).config).context_length);
  if (item !== undefined) return { context, trained: count(item.max_context_length) };
  const older = find((await ask('/api/v0/models'))?.data, id);
  return { context: count(older?.loaded_context_length), trained: count(older?.max_context_length) };
}

/** TabbyAPI: the loaded model. */
async function readTabby(ask: Ask): Promise<Partly> {
  return { context: count(objectOrEmpty((await ask('/v1/model'))?.parameters).max_seq_len) };
}

/** LocalAI: the configuration of the model (docs of LocalAI, "Read model config"). */
async function readLocalAi(ask: Ask, { id }: Model): Promise<Partly> {
  return { context: count((await ask(`${LOCALAI_CONFIG}${encodeURIComponent(id)}`))?.context_size) };
}

const LOCALAI_CONFIG = '/api/models/config-json/';

async function readKobold(ask: Ask): Promise<Partly> {
  return { context: count((await ask('/api/extra/true_max_context_length'))?.value) };
}

const SOURCES: readonly Source[] = [
  { kinds: ['llamacpp'], read: readProps },
  { kinds: ['vllm', 'llamacpp'], read: readList },
  { kinds: ['ollama'], read: readOllama },
  { kinds: ['lmstudio'], read: readLmStudio },
  { kinds: [], read: readTabby },
  { kinds: [], read: readKobold },
  { kinds: [], read: readLocalAi },
];

/** Finds the window of a model in a process that keeps no registry. */
export function servedModel(windows: WindowReader) {
  return async (model: Model, signal: AbortSignal): Promise<Model> => {
    const window = windows.mayTell(model) ? await windows.read(model, signal) : undefined;
    return window === undefined ? model : withServedWindow(model, window);
  };
}

export interface ServedWindowsOptions {
  /** Called when a server begins to load a model. The promise never rejects. */
  readonly loading?: ((model: Model, load: Promise<void>) => void) | undefined;
  readonly loadMs?: number;
  readonly givenMs?: number;
}

/** Maximum number of models of one list whose windows are read. */
const MOST_LISTED = 50;

/** Reads the windows of local servers from their own APIs. */
export class ServedWindows implements WindowReader {
  readonly #transport: Transport;
  /** How a server of an unknown kind told its window, by address. */
  readonly #found = new Map<string, Source>();
  /** When a server did not answer in time, of the monotonic clock, by address. */
  readonly #silentSince = new Map<string, number>();
  /** When a server of an unknown kind was found to have no such path, of the monotonic clock, by address and path. */
  readonly #missingSince = new Map<string, number>();

  readonly #loading: ServedWindowsOptions['loading'];
  readonly #loadMs: number;
  /** Loads that run, by address and model. */
  readonly #loads = new Map<string, Promise<void>>();
  /** Loads that did not end in their time. They are not begun again, and no request waits for them. */
  readonly #endless = new Set<string>();
  /** When a load failed, of the monotonic clock, by address and model. */
  readonly #failedAt = new Map<string, number>();
  /** When a model was last known to be loaded, of the monotonic clock, by address and model. */
  readonly #loadedAt = new Map<string, number>();
  readonly #givenMs: number;
  /** The smaller windows that Ollama gave for those of options, and when, by address, model and window. */
  readonly #given = new Map<string, { readonly context: number; readonly at: number }>();

  constructor(transport: Transport, { loading, loadMs = LOAD_MS, givenMs = GIVEN_MS }: ServedWindowsOptions = {}) {
    this.#transport = transport;
    this.#loading = loading;
    this.#loadMs = loadMs;
    this.#givenMs = givenMs;
  }

  mayTell(model: Model): boolean {
    const { kind, baseURL = '', problem } = model.endpoint;
    if (problem !== undefined || !URL.canParse(baseURL)) return false;
    if (SOURCES.some(({ kinds }) => kinds.includes(kind))) return true;
    // Servers of unknown kinds are asked only in the own network, and if nothing is configured.
    const configured = (model.served?.own ?? model.limit).context > 0;
    return kind === 'openai-compatible' && !configured && isLocalHost(new URL(baseURL).hostname);
  }

  async readAll(models: readonly Model[], signal: AbortSignal): Promise<ReadonlyMap<string, ServedWindow>> {
    // Most servers tell the windows of all models in one answer.
    const answers = new Map<string, ReturnType<Ask>>();
    const windows = new Map<string, ServedWindow>();
    const read = async (model: Model) => {
      const window = await this.#read(model, this.#sources(model), undefined, (path, body) => {
        const key = `${model.endpoint.baseURL} ${path} ${JSON.stringify(body)}`;
        const answer = answers.get(key) ?? this.#ask(model.endpoint, path, body, signal);
        answers.set(key, answer);
        return answer;
      });
      if (window !== undefined) windows.set(model.ref, window);
    };
    const listed = models.slice(0, MOST_LISTED);
    // What a server does not have for its first model is not asked for the others.
    const first = [...new Map(listed.toReversed().map((model) => [model.endpoint.baseURL, model])).values()];
    await Promise.all(first.map(read));
    await Promise.all(listed.filter((model) => !first.includes(model)).map(read));
    return windows;
  }

  async read(model: Model, signal: AbortSignal): Promise<ServedWindow | undefined> {
    const isKnown = SOURCES.some(({ kinds }) => kinds.includes(model.endpoint.kind));
    // A server that told nothing when its models were listed is not asked with each request.
    if (!isKnown && !this.#found.has(model.endpoint.baseURL ?? '')) return undefined;
    // Its window is known before, but a request to a model that is not loaded waits no longer than its time limit.
    if (chosenWindow(model) !== undefined && isLoadable(model)) await this.#require(model, signal);
    const load = () => this.#load(model, signal);
    return this.#read(model, this.#sources(model), load, (path, body) => this.#ask(model.endpoint, path, body, signal));
  }

  async load(model: Model, signal: AbortSignal): Promise<void> {
    if (!isLoadable(model)) return;
    const key = keyOf(model);
    if (this.#loads.has(key)) return this.#load(model, signal);
    const at = this.#loadedAt.get(key);
    if (at === undefined || performance.now() - at > LOADED_MS) await this.#require(model, signal);
  }

  /**
   * The smallest window of the models that an Ollama has in memory; 0: it has none. A larger one may be that of another
   * program's request.
   */
  async smallestLoaded(endpoint: Endpoint, signal: AbortSignal): Promise<number> {
    const models = (await this.#ask(endpoint, '/api/ps', undefined, signal))?.models;
    const windows = Array.isArray(models) ? models.map((each) => count(objectOrEmpty(each).context_length) ?? 0) : [];
    return windows.length === 0 ? 0 : Math.min(...windows);
  }

  failed(model: Model): void {
    this.#loadedAt.delete(keyOf(model));
  }

  /** Asks whether the model is loaded, and loads it if it is not, or with another window than that of the options. */
  async #require(model: Model, signal: AbortSignal): Promise<void> {
    const { endpoint, id } = model;
    const key = keyOf(model);
    const models = (await this.#ask(endpoint, '/api/ps', undefined, signal))?.models;
    // Another server that is called Ollama.
    if (!Array.isArray(models) || signal.aborted) return;
    const loaded = find(models, id);
    const [has, own] = [count(loaded?.context_length), chosenWindow(model)];
    const given = this.#given.get(`${key} ${own}`);
    if (has === own) this.#given.delete(`${key} ${own}`);
    const isGiven = has === given?.context && performance.now() - (given?.at ?? 0) < this.#givenMs;
    const isOther = own !== undefined && has !== undefined && has !== own && !isGiven;
    if (loaded === undefined || isOther) return this.#load(model, signal);
    this.#endless.delete(key);
    this.#failedAt.delete(key);
    this.#loadedAt.set(key, performance.now());
  }

  /**
   * Lets Ollama load a model with the options of its requests: without a prompt, nothing else is done (docs/api.md). Ollama
   * ends a load whose client goes away ("client connection closed before server finished loading"), and the next request
   * begins it again. So no signal of a request ends it, and all that need the model wait for the same one.
   */
  async #load(model: Model, signal: AbortSignal): Promise<void> {
    const key = keyOf(model);
    if (this.#endless.has(key) || performance.now() - (this.#failedAt.get(key) ?? -FAILED_MS) < FAILED_MS) return;
    let load = this.#loads.get(key);
    if (load === undefined) {
      load = this.#runLoad(model, key).finally(() => this.#loads.delete(key));
      this.#loads.set(key, load);
      this.#loading?.(model, load);
    }
    await Promise.race([load, aborted(signal)]);
  }

  async #runLoad(model: Model, key: string): Promise<void> {
    const { endpoint, id } = model;
    // It may take the memory of the other models.
    for (const each of this.#loadedAt.keys()) {
      if (each.startsWith(`${endpoint.baseURL} `)) this.#loadedAt.delete(each);
    }
    const body = withOllamaOptions(withOptions(model, { model: id, stream: false }));
    const late = AbortSignal.timeout(this.#loadMs);
    const answer = await this.#ask(endpoint, '/api/generate', body, late);
    if (late.aborted) this.#endless.add(key);
    const own = chosenWindow(model);
    if (answer === undefined) {
      this.#failedAt.set(key, performance.now());
      return;
    }
    this.#failedAt.delete(key);
    if (own !== undefined) {
      const loaded = find((await this.#ask(endpoint, '/api/ps', undefined, late))?.models, id);
      const has = count(loaded?.context_length);
      if (has === own) this.#given.delete(`${key} ${own}`);
      else if (has !== undefined) this.#given.set(`${key} ${own}`, { context: has, at: performance.now() });
    }
    this.#loadedAt.set(key, performance.now());
  }

  #sources({ endpoint: { kind, baseURL = '' } }: Model): readonly Source[] {
    const known = SOURCES.filter(({ kinds }) => kinds.includes(kind));
    const found = this.#found.get(baseURL);
    return known.length > 0 ? known : found ? [found] : SOURCES;
  }

  async #read(
    model: Model,
    sources: readonly Source[],
    load: Load | undefined,
    ask: Ask,
  ): Promise<ServedWindow | undefined> {
    const { endpoint } = model;
    let context: number | undefined;
    let trained: number | undefined;
    let slots: number | undefined;
    let think: ServedWindow['think'];
    for (const source of sources) {
      const read = await source.read(ask, model, load);
      context ??= read?.context;
      trained ??= read?.trained;
      slots ??= read?.slots;
      think ??= read?.think;
      if (context === undefined) continue;
      if (!source.kinds.includes(endpoint.kind)) this.#found.set(endpoint.baseURL ?? '', source);
      // llama.cpp has two sources.
      if (trained !== undefined || !source.kinds.includes(endpoint.kind)) break;
    }
    if (context === undefined) return undefined;
    const given = this.#given.get(`${keyOf(model)} ${chosenWindow(model)}`);
    return { context: Math.min(context, given?.context ?? context), ...defined({ trained, slots, think }) };
  }

  async #ask(
    endpoint: Endpoint,
    path: string,
    body: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    const address = endpoint.baseURL ?? '';
    const place = `${address} ${withoutModel(path)}`;
    const isRecent = (since = Number.NEGATIVE_INFINITY) => performance.now() - since < SILENCE_MS;
    if (isRecent(this.#silentSince.get(address)) || isRecent(this.#missingSince.get(place))) return undefined;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const { 'content-type': type, ...own } = upstreamHeaders(endpoint, endpoint.format);
      const headers = { accept: 'application/json', ...own, ...(body && type ? { 'content-type': type } : {}) };
      const url =
        path === '/models' ? upstreamURL(endpoint, path) : joinURL(withoutVersion(requireBase(endpoint)), path);
      // To load a model takes as long as it takes.
      const limit = path === '/api/generate' ? signal : AbortSignal.any([signal, timeout]);
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const request = { method: body ? ('POST' as const) : ('GET' as const), url, headers, ...sent, signal: limit };
      const response = await this.#transport.send(request);
      const text = await textUpTo(response.body, MAX_BYTES);
      const value = parseJson(text);
      // A server that has the path, but not the model, names the model.
      const missing = response.status === 404 && !text.replaceAll(path, '').toLowerCase().includes('model');
      if (missing && endpoint.kind === 'openai-compatible') this.#missingSince.set(place, performance.now());
      const refused =
        response.status !== 200 || !isObject(value) || (value.error !== undefined && value.error !== null);
      return refused ? undefined : value;
    } catch {
      // The request that follows reports that the server can't be reached.
      if (timeout.aborted && path !== '/api/generate') this.#silentSince.set(address, performance.now());
      return undefined;
    }
  }
}

/** Ollama states the levels of a model, or whether it can think or not (ollama/ollama#18473). */
function thinkValues(thinking: unknown): ServedWindow['think'] | undefined {
  const { values } = objectOrEmpty(thinking);
  return Array.isArray(values)
    ? values.filter((each) => typeof each === 'string' || typeof each === 'boolean')
    : undefined;
}

/** A path without the name of a model. */
function withoutModel(path: string): string {
  return path.startsWith(LOCALAI_CONFIG) ? LOCALAI_CONFIG : upToFirst(path, ['?']);
}

/** Loads and windows belong to a model of a server. */
function keyOf({ endpoint, id }: Model): string {
  return `${endpoint.baseURL} ${id}`;
}

function isLoadable({ endpoint, id }: Model): boolean {
  return endpoint.kind === 'ollama' && endpoint.problem === undefined && !CLOUD.test(id);
}

/** A server with one model answers for it whatever name it is given. Ollama adds `:latest`. */
function find(list: unknown, id: string): JsonObject | undefined {
  const items = (Array.isArray(list) ? list : []).map(objectOrEmpty);
  const names = [id, `${id}:latest`];
  const named = items.find(({ id: own, name, model, key }) =>
    [own, name, model, key].some((each) => typeof each === 'string' && names.includes(each)),
  );
  return named ?? (items.length === 1 && items[0]?.meta !== undefined ? items[0] : undefined);
}

/** A server without a loaded model reports 0. */
function count(value: unknown): number | undefined {
  return tokenCount(value) || undefined;
}
