import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds before each attempt. */
const ATTEMPTS = [0, 1_000, 10_000, 60_000];
const TIMEOUT_MS = 10_000;

/**
 * Sends JSON to a webhook, several times if that fails. Redirects are not followed.
 *
 * @throws an error without the address, because the address of a webhook is often a secret.
 */
export async function postWebhook(
  fetch: typeof globalThis.fetch,
  url: string,
  body: unknown,
  attempts: readonly number[] = ATTEMPTS,
): Promise<void> {
  let reason = '';
  for (const delay of attempts) {
    await sleep(delay, undefined, { ref: false });
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      await response.body?.cancel();
      if (response.ok) return;
      reason = `status ${response.status}`;
      // A repeated request would be refused again.
      if (response.status >= 300 && response.status < 500 && response.status !== 429) break;
    } catch (thrown) {
      reason = thrown instanceof Error && thrown.name === 'TimeoutError' ? 'no answer in time' : 'no connection';
    }
  }
  throw new Error(`the webhook of gateway.alerts could not be called: ${reason}`);
}
