import type { Endpoint } from '../catalog/model.ts';
import type { FormatName } from '../wire/format-name.ts';
import { upstreamHeaders } from './request/headers.ts';
import { addressesLearned, upstreamURL } from './request/url.ts';

/** URL and headers of a request. */
export interface UpstreamTarget {
  readonly url: string;
  /** The parts of `url`, as undici's dispatcher expects them. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Cache by endpoint and path. Endpoints are immutable, and a lookup is faster than to create URLs and headers. */
let known = new WeakMap<Endpoint, Map<string, UpstreamTarget>>();
let learned = 0;

/**
 * The target of requests to a path of an endpoint.
 *
 * @param apiKey replaces the endpoint's key (BYOK).
 * @throws SvcError configuration_error.
 */
export function upstreamTarget(
  endpoint: Endpoint,
  path: string,
  format: FormatName | undefined,
  apiKey?: string,
): UpstreamTarget {
  if (apiKey !== undefined) return makeTarget(endpoint, path, format, apiKey);
  if (learned !== addressesLearned()) {
    learned = addressesLearned();
    known = new WeakMap();
  }
  let paths = known.get(endpoint);
  if (paths === undefined) {
    paths = new Map();
    known.set(endpoint, paths);
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
