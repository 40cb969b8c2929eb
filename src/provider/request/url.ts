import { nonEmptyString } from '../../base/json.ts';
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
  return joinURL(versionedBase(endpoint), path);
}

function versionedBase(endpoint: Endpoint): string {
  const base = requireBase(endpoint);
  const { pathname, hostname } = new URL(base);
  const bare = pathname === '/' || pathname === '';
  switch (endpoint.kind) {
    case 'azure': {
      // learn.microsoft.com, "Azure OpenAI v1 API": https://NAME.openai.azure.com/openai/v1/
      const azure = bare && hostname.endsWith('.azure.com') ? joinURL(base, '/openai/v1') : base;
      const versioned = /\/openai\/*$/.test(new URL(azure).pathname) ? joinURL(azure, '/v1') : azure;
      return withApiVersion(versioned, nonEmptyString(endpoint.options.apiVersion));
    }
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
      return base;
  }
}

function withApiVersion(base: string, version: string | undefined): string {
  if (version === undefined || base.includes('api-version=')) return base;
  return `${base}${base.includes('?') ? '&' : '?'}api-version=${encodeURIComponent(version)}`;
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
