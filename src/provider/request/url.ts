import { nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import { upToFirst, withoutTrailing } from '../../base/text.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { type MessageText, msg, SvcError } from '../../wire/errors/svc-error.ts';

/**
 * Appends `path` to `base`. Accepts a trailing slash, a query (`?api-version=…`), a base that already ends with
 * the path (users paste the whole address) and a `/v1` in both.
 */
export function joinURL(base: string, path: string): string {
  const mark = base.search(/[?#]/);
  const query = mark === -1 ? '' : upToFirst(base.slice(mark), ['#']);
  const stem = withoutTrailing(mark === -1 ? base : base.slice(0, mark), '/');
  if (stem.endsWith(path)) return stem + query;
  const doubled = /\/v\d+$/.exec(stem)?.[0];
  const tail = doubled !== undefined && path.startsWith(`${doubled}/`) ? path.slice(doubled.length) : path;
  return stem + tail + query;
}

/** The base URL without `/v1` at its end, for paths that are not part of OpenAI's API (`/infill`, `/api/generate`). */
export function withoutVersion(base: string): string {
  return withoutTrailing(base, '/').replace(/\/v\d+$/, '');
}

/** The URL for a path of the endpoint's format. @throws SvcError configuration_error without an address. */
export function upstreamURL(endpoint: Endpoint, path: string): string {
  const base = isOllamaPath(path) ? withoutVersion(requireBase(endpoint)) : pathBase(endpoint);
  return joinURL(withParameters(base, endpoint.options.queryParams), path);
}

/** The paths of Ollama's own API are not below a version. */
function isOllamaPath(path: string): boolean {
  return path.startsWith('/api/');
}

function pathBase(endpoint: Endpoint): string {
  const base = requireBase(endpoint);
  const { pathname } = new URL(base);
  const bare = pathname === '/' || pathname === '';
  switch (endpoint.kind) {
    case 'azure':
      return azureBase(base, endpoint.options);
    case 'anthropic':
      // Anthropic's SDK expects the base without /v1, other SDKs expect it with /v1.
      return /\/v\d+\/*$/.test(pathname) ? base : joinURL(base, '/v1');
    case 'ollama':
    case 'lmstudio':
    case 'vllm':
    case 'llamacpp':
    case 'openai':
    case 'mistral':
    case 'inception':
      return bare ? joinURL(base, '/v1') : base;
    default:
      return bare && VERSIONED.has(base) ? joinURL(base, '/v1') : base;
  }
}

/** Base addresses without a path whose API turned out to be below `/v1`. */
const VERSIONED = new Set<string>();

/** The number of addresses that turned out to be others: targets from before are not valid any more. */
export function addressesLearned(): number {
  return VERSIONED.size;
}

/**
 * For a base address without a path that has nothing at `path`: the address below `/v1`. Call `worked` if it was right.
 */
export function versionedAlternative(
  endpoint: Endpoint,
  path: string,
): { readonly url: string; worked(): void } | undefined {
  const { baseURL } = endpoint;
  if (baseURL === undefined || isOllamaPath(path) || upstreamURL(endpoint, path) !== joinURL(baseURL, path))
    return undefined;
  if (!/^\/*$/.test(new URL(baseURL).pathname)) return undefined;
  return { url: joinURL(baseURL, `/v1${path}`), worked: () => void VERSIONED.add(baseURL) };
}

/** The newest version of the API by deployments that is not a preview (learn.microsoft.com, "API version lifecycle"). */
const DEPLOYMENTS_VERSION = '2024-10-21';

/**
 * Azure has two forms of addresses: `https://NAME.openai.azure.com/openai/v1/` with the deployment in `model`
 * (learn.microsoft.com, "Azure OpenAI v1 API"), and `…/openai/deployments/DEPLOYMENT/` with a dated `api-version`.
 */
function azureBase(base: string, options: Endpoint['options']): string {
  const { pathname, hostname } = new URL(base);
  const path = withoutTrailing(pathname, '/');
  const version = nonEmptyString(options.apiVersion);
  const deployment = nonEmptyString(options.deployment);
  const byDeployment = options.useDeploymentBasedUrls === true || path.endsWith('/openai/deployments');
  if (byDeployment && !/\/openai\/deployments\/[^/]+$/.test(path)) {
    const root =
      path === '' ? joinURL(base, '/openai') : base.replace(/\/openai\/(?:v1|deployments)\/*(?=$|\?)/, '/openai');
    const placed = deployment === undefined ? root : joinURL(root, `/deployments/${encodeURIComponent(deployment)}`);
    return withApiVersion(placed, version ?? DEPLOYMENTS_VERSION);
  }
  if (path.includes('/openai/deployments/')) return withApiVersion(base, version ?? DEPLOYMENTS_VERSION);
  const azure = path === '' && hostname.endsWith('.azure.com') ? joinURL(base, '/openai/v1') : base;
  const versioned = /\/openai\/*$/.test(new URL(azure).pathname) ? joinURL(azure, '/v1') : azure;
  return withApiVersion(versioned, version);
}

function withApiVersion(base: string, version: string | undefined): string {
  if (version === undefined || base.includes('api-version=')) return base;
  return withParameters(base, { 'api-version': version });
}

function withParameters(base: string, parameters: unknown): string {
  const query = Object.entries(objectOrEmpty(parameters)).flatMap(([name, value]) =>
    typeof value === 'object' ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`],
  );
  return query.length === 0 ? base : `${base}${base.includes('?') ? '&' : '?'}${query.join('&')}`;
}

/** @throws SvcError configuration_error with the reason why the provider can't be called. */
export function requireBase(endpoint: Endpoint): string {
  if (endpoint.problem !== undefined) throw notConfigured(endpoint.problem);
  const resource = nonEmptyString(endpoint.options.resourceName);
  const azure = endpoint.kind === 'azure' && resource !== undefined;
  const base = endpoint.baseURL ?? (azure ? `https://${resource}.openai.azure.com/openai/v1` : undefined);
  if (base === undefined) throw notConfigured(msg('The provider has no base URL.'));
  if (!URL.canParse(base) || !/^https?:/i.test(base))
    throw notConfigured(msg('The base URL "{0}" is not an http address.', base));
  return base;
}

export function notConfigured(message: MessageText): SvcError {
  return new SvcError({
    errorType: 'configuration_error',
    message,
    action: msg('Correct it in svc.jsonc.'),
  });
}
