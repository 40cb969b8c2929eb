import type { Endpoint } from '../../catalog/model.ts';
import type { Transport } from './transport.ts';

const TIMEOUT_MS = 5_000;

/**
 * Opens the connection to where holes are filled, so that the handshake of TLS is not on the way of the first answer:
 * an OPTIONS without key or content (undici closes the connection behind a HEAD). Nothing where no handshake is
 * needed. Never rejects: the request that follows says what is wrong.
 */
export async function warmConnection({ fimURL, baseURL }: Endpoint, transport: Transport): Promise<void> {
  const address = fimURL ?? baseURL;
  if (address === undefined || !address.startsWith('https:') || !URL.canParse(address)) return;
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { body } = await transport.send({ method: 'OPTIONS', url: new URL('/', address).href, headers: {}, signal });
    for await (const _ of body);
  } catch {
    // Nobody waits for it.
  }
}
