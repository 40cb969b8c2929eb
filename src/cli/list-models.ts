import type { Provider } from '../catalog/model.ts';
import { upstreamHeaders } from '../provider/headers.ts';
import { upstreamURL } from '../provider/url.ts';
import { listOf, objectOf, parseJson, textOf } from '../wire/json.ts';

/** Milliseconds that a person waits for a list. */
const TIMEOUT_MS = 5_000;

/** `GET {baseURL}/models` in OpenAI's shape. Redirects are not followed: credentials would go along. */
export async function listModels({ endpoint }: Provider, signal: AbortSignal): Promise<readonly string[]> {
  const response = await fetch(upstreamURL(endpoint, '/models'), {
    headers: upstreamHeaders(endpoint, endpoint.format),
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`it answered ${response.status}`);
  }
  const items = listOf(objectOf(parseJson(await response.text())).data);
  return items.flatMap((item) => textOf(objectOf(item).id) ?? []);
}
