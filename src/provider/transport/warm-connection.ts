import type { Endpoint } from '../../catalog/model.ts';
import type { Transport } from './transport.ts';

const TIMEOUT_MS = 5_000;

/**
 * Opens the connection for FIM requests, so that the TLS handshake does not delay the first completion. Sends OPTIONS
 * without key or content (undici closes the connection after a HEAD). Does nothing for addresses without TLS. Never
 * rejects: the following request reports the failure.
 */
export async function warmConnection({ fimURL, baseURL }: Endpoint, transport: Transport): Promise<void> {
  const address = fimURL ?? baseURL;
  if (address === undefined || !address.startsWith('https:') || !URL.canParse(address)) return;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { body } = await transport.send({ method: 'OPTIONS', url: new URL('/', address).href, headers: {}, signal });
    for await (const _ of body);
  } catch {
    // The following request reports the failure.
  }
}
