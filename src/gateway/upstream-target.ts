import type { Endpoint } from '../catalog/model.ts';
import type { Credential } from '../config/origin.ts';
import { upstreamHeaders } from '../provider/headers.ts';
import { upstreamURL } from '../provider/url.ts';
import { GatewayError } from '../wire/errors.ts';
import type { FormatName } from '../wire/format-name.ts';

/** Where a request goes and what it carries. */
export interface UpstreamTarget {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** By endpoint and path: an endpoint is immutable, and URLs and headers cost more than a lookup. */
const KNOWN = new WeakMap<Endpoint, Map<string, UpstreamTarget>>();

/** @throws GatewayError configuration_error, credential_withheld. */
export function upstreamTarget(
  endpoint: Endpoint,
  path: string,
  format: FormatName | undefined,
  byok: Credential | undefined,
): UpstreamTarget {
  if (byok !== undefined) return makeTarget(endpoint, path, format, byok);
  let paths = KNOWN.get(endpoint);
  if (paths === undefined) {
    paths = new Map();
    KNOWN.set(endpoint, paths);
  }
  let target = paths.get(path);
  if (target === undefined) {
    target = makeTarget(endpoint, path, format, undefined);
    paths.set(path, target);
  }
  return target;
}

function makeTarget(
  endpoint: Endpoint,
  path: string,
  format: FormatName | undefined,
  byok: Credential | undefined,
): UpstreamTarget {
  refuseWithheld(endpoint);
  return {
    ...splitURL(upstreamURL(endpoint, path)),
    headers: upstreamHeaders(endpoint, format, byok?.secret.reveal()),
  };
}

/** @throws GatewayError credential_withheld: the request would go without the key that it needs. */
export function refuseWithheld({ withheld }: Endpoint): void {
  if (withheld === undefined) return;
  throw new GatewayError({
    errorType: 'credential_withheld',
    message: `A project’s configuration sends this model’s requests to ${withheld.to}; the key belongs to ${withheld.from} and is held back.`,
    action: 'Start the gateway elsewhere, or set the address in the global svc.jsonc.',
  });
}

/** An address as the connection pool wants it. */
function splitURL(url: string): { readonly origin: string; readonly path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}
