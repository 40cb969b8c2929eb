import { defined, isObject, nonEmptyString, objectOrEmpty, parseJson, tokenCount } from '../base/json.ts';
import type { ListModels } from '../catalog/live-registry.ts';
import type { Endpoint } from '../catalog/model.ts';
import { msg, SvcError } from '../wire/errors/svc-error.ts';
import { vendorError } from '../wire/errors/vendor-errors.ts';
import { cleanError, withoutCredentials } from './echoed-credentials.ts';
import { upstreamHeaders } from './request/headers.ts';
import { joinURL, requireBase, upstreamURL, versionedAlternative, withoutVersion } from './request/url.ts';
import { textUpTo } from './send-and-stream.ts';
import { Deadline } from './time-limits.ts';
import type { Transport } from './transport/transport.ts';

/** A model in the list of an endpoint. */
export interface ListedModel {
  readonly id: string;
  readonly name?: string;
  /** Tokens. */
  readonly contextLength?: number;
  readonly maxOutputTokens?: number;
}

export interface ListOptions {
  readonly transport: Transport;
  readonly signal: AbortSignal;
  /** Provider id for errors. */
  readonly provider?: string;
  /** Milliseconds for the whole list, default 15,000. */
  readonly timeout?: number;
}

/** Lists a provider's models for a live registry. */
export function modelLister(transport: Transport, timeout?: number): ListModels {
  return async ({ id, endpoint }, signal) => {
    const { models, url } = await findList(endpoint, defined({ transport, signal, provider: id, timeout }));
    const other = versionedAlternative(endpoint, '/models');
    if (url === other?.url) other.worked();
    return models.map((model) => model.id);
  };
}

const LIST_TIMEOUT_MS = 15_000;
const MAX_LIST_BYTES = 16 * 1024 * 1024;

/**
 * `GET {baseURL}/models`. If that is not found, tries again with `/v1` added to the base URL (or removed).
 * @throws SvcError that distinguishes a wrong address, a wrong key and a network failure.
 */
export async function listModels(endpoint: Endpoint, options: ListOptions): Promise<readonly ListedModel[]> {
  return (await findList(endpoint, options)).models;
}

interface FoundList {
  readonly models: readonly ListedModel[];
  /** The address that has the list. */
  readonly url: string;
}

async function findList(endpoint: Endpoint, options: ListOptions): Promise<FoundList> {
  const addresses = listAddresses(endpoint);
  const headers = upstreamHeaders(endpoint, endpoint.format);
  let failure: SvcError | undefined;
  for (const url of addresses) {
    const deadline = new Deadline(options.signal, { timeout: options.timeout ?? LIST_TIMEOUT_MS });
    try {
      return { models: await fetchList(url, headers, options, deadline.signal), url };
    } catch (thrown) {
      options.signal.throwIfAborted();
      if (!(thrown instanceof SvcError)) throw thrown;
      const error = cleanError(thrown, headers);
      failure = failure && !isElsewhere(failure) ? failure : error;
      if (!isElsewhere(error)) throw error;
    } finally {
      deadline.dispose();
    }
  }
  throw failure ?? noList();
}

/** Whether an error means that the address has no list, so that the other address is tried. */
function isElsewhere(error: SvcError): boolean {
  return (
    error.upstreamStatus === 404 || error.upstreamStatus === 405 || error.errorType === 'upstream_invalid_response'
  );
}

function listAddresses(endpoint: Endpoint): readonly string[] {
  const first = upstreamURL(endpoint, '/models');
  const base = requireBase(endpoint);
  const bare = withoutVersion(base);
  return [...new Set([first, joinURL(base, '/models'), joinURL(bare, '/v1/models'), joinURL(bare, '/models')])];
}

async function fetchList(
  url: string,
  headers: Record<string, string>,
  options: ListOptions,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const { 'content-type': _, ...sent } = headers;
  const request = { method: 'GET' as const, url, headers: { accept: 'application/json', ...sent }, signal };
  const response = await options.transport.send(request);
  const bodyText = withoutCredentials(await textUpTo(response.body, MAX_LIST_BYTES), sent);
  const { status, header } = response;
  if (status < 200 || status >= 300) {
    throw vendorError({ provider: options.provider ?? '', status, header, bodyText, byok: true });
  }
  const body = parseJson(bodyText);
  const list = Array.isArray(body) ? body : isObject(body) ? (body.data ?? body.models) : undefined;
  if (!Array.isArray(list)) throw noList();
  return list.flatMap((item) => listed(item) ?? []);
}

function listed(value: unknown): ListedModel | undefined {
  const item = objectOrEmpty(value);
  const id = nonEmptyString(item.id) ?? nonEmptyString(item.name) ?? nonEmptyString(value);
  if (id === undefined) return undefined;
  const top = objectOrEmpty(item.top_provider);
  return defined({
    id,
    name: nonEmptyString(item.display_name) ?? (item.name === id ? undefined : nonEmptyString(item.name)),
    // Svc and OpenRouter; vLLM; Mistral; LM Studio; llama.cpp.
    contextLength:
      tokenCount(item.context_length) ??
      tokenCount(item.max_model_len) ??
      tokenCount(item.max_context_length) ??
      tokenCount(objectOrEmpty(item.meta).n_ctx_train),
    maxOutputTokens: tokenCount(top.max_completion_tokens) ?? tokenCount(item.max_tokens),
  });
}

function noList(): SvcError {
  return new SvcError({
    errorType: 'upstream_invalid_response',
    message: msg('The address does not answer with a list of models.'),
    action: msg('Check the base URL, or enter the models manually.'),
  });
}

/** The result of a connection test. */
export type ConnectionTest =
  | { readonly ok: true; readonly models: readonly ListedModel[] }
  | { readonly ok: false; readonly error: SvcError };

/** Tests whether an endpoint answers and accepts its key: requests its models. Throws only if the signal fires. */
export async function testConnection(endpoint: Endpoint, options: ListOptions): Promise<ConnectionTest> {
  try {
    return { ok: true, models: await listModels(endpoint, options) };
  } catch (thrown) {
    options.signal.throwIfAborted();
    if (thrown instanceof SvcError) return { ok: false, error: thrown };
    throw thrown;
  }
}
