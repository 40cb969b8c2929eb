import { objectOrEmpty } from '../../base/json.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { msg } from '../../wire/errors/svc-error.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { notConfigured } from './url.ts';

/** docs.anthropic.com, "Versioning": the only version. */
const ANTHROPIC_VERSION = '2023-06-01';

/** Anthropic, "Preserved thinking". */
const BINDING_CONTROLS = 'thinking-binding-controls-2026-08-01';

/** The headers with the one that enables the fields of the body. Returns the same object if there are none. */
export function withFeatures(
  headers: Readonly<Record<string, string>>,
  body: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  if (objectOrEmpty(body.thinking).block_binding === undefined) return headers;
  const enabled = headers['anthropic-beta']?.split(',').map((name) => name.trim()) ?? [];
  return { ...headers, 'anthropic-beta': [...new Set([...enabled, BINDING_CONTROLS])].join(',') };
}

/**
 * The headers of a request to an endpoint, in lower case. Configured headers override the default headers.
 *
 * @param apiKey replaces the endpoint's key (BYOK).
 * @throws SvcError configuration_error for an invalid header name or value.
 */
export function upstreamHeaders(
  endpoint: Endpoint,
  format: FormatName | undefined,
  apiKey: string | undefined = endpoint.apiKey?.secret.reveal(),
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'svc' };
  if (endpoint.kind === 'anthropic' || format === 'messages') headers['anthropic-version'] = ANTHROPIC_VERSION;
  if (apiKey !== undefined && apiKey !== '') {
    if (endpoint.kind === 'anthropic') headers['x-api-key'] = apiKey;
    else if (endpoint.kind === 'azure') headers['api-key'] = apiKey;
    else headers.authorization = `Bearer ${apiKey}`;
  }
  for (const [name, credential] of endpoint.headers) headers[name.toLowerCase()] = credential.secret.reveal();
  for (const [name, value] of Object.entries(headers)) {
    // The message must not contain the value: it may be a key.
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
      throw notConfigured(msg('"{0}" can\'t be the name of a header.', name));
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
      throw notConfigured(msg('The header {0} contains a character that is not allowed in headers.', name));
  }
  return headers;
}
