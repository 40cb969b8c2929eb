import type { Endpoint } from '../catalog/model.ts';
import type { FormatName } from '../wire/format-name.ts';
import { upstreamHeaders } from './request/headers.ts';
import { upstreamURL } from './request/url.ts';

/** Where a request goes and with which headers. */
export interface UpstreamTarget {
  readonly url: string;
  /** The parts of `url`, as a connection pool takes them. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** By endpoint and path: an endpoint is immutable, and URLs and headers cost more than a lookup. */
const KNOWN = new WeakMap<Endpoint, Map<string, UpstreamTarget>>();

/**
 * The target of requests to a path of an endpoint.
 *
 * @param apiKey instead of the endpoint's own (BYOK).
 * @throws SvcError configuration_error.
 */
export function upstreamTarget(
  endpoint: Endpoint,
  path: string,
  format: FormatName | undefined,
  apiKey?: string,
): UpstreamTarget {
  if (apiKey !== undefined) return makeTarget(endpoint, path, format, apiKey);
  let paths = KNOWN.get(endpoint);
  if (paths === undefined) {
    paths = new Map();
    KNOWN.set(endpoint, paths);
  }
  let target = paths.get(path);
  if (target === undefined) {
    target = makeTarget(endpoint, path, format);
    paths.set(path, target);
  }
  return target;
}

function makeTarget(endpoint: Endpoint, path: string, format: FormatName | undefined, apiKey?: string): UpstreamTarget {
  const url = upstreamURL(endpoint, path);
  const { origin, pathname, search } = new URL(url);
  return { url, origin, path: pathname + search, headers: upstreamHeaders(endpoint, format, apiKey) };
}
