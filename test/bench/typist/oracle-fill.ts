import type { CompletionRequest } from '../../../src/completion/request/completion-sender.ts';
import { SvcError } from '../../../src/wire/errors/svc-error.ts';
import type { VirtualClock } from '../../completion/virtual-clock.ts';
import type { Oracle } from './oracle.ts';

export interface Traffic {
  requests: number;
  /** Characters sent. */
  sent: number;
  /** The whole answer, as if cancelling a request saved no tokens. */
  tokens: number;
  /** Counted as if cancelling the request stopped the model. */
  tokensBeforeStop: number;
  /** Characters at the start that consecutive requests share, summed, and those they could have. */
  shared: number;
  sharable: number;
}

const CHARACTERS_A_SECOND = 400;
const PIECE = 16;

/** The oracle as the `CompletionRequest` of the engine, on the clock of the replay. */
export function oracleFill(
  oracle: Oracle,
  clock: VirtualClock,
  firstMs: number,
  traffic: Traffic,
  broke = false,
): CompletionRequest {
  let before = '';
  return async function* fill(fimRequest, signal) {
    traffic.requests++;
    traffic.sent += fimRequest.prefix.length + fimRequest.suffix.length;
    traffic.shared += commonStart(before, fimRequest.prefix);
    traffic.sharable += Math.min(before.length, fimRequest.prefix.length);
    before = fimRequest.prefix;
    if (broke) {
      await clock.sleep(firstMs);
      const error = new SvcError({
        status: 402,
        errorType: 'insufficient_credits',
        message: 'No credits are left.',
      });
      yield { type: 'error', error };
      return;
    }
    const { text } = oracle.answer(fimRequest.prefix, fimRequest.suffix, fimRequest.maxTokens, fimRequest.stop);
    traffic.tokens += Math.ceil(text.length / 4);
    await clock.sleep(firstMs);
    for (let at = 0; at < text.length && !signal.aborted; at += PIECE) {
      await clock.sleep((PIECE / CHARACTERS_A_SECOND) * 1_000);
      traffic.tokensBeforeStop += Math.ceil(Math.min(PIECE, text.length - at) / 4);
      yield { type: 'text', part: 0, text: text.slice(at, at + PIECE) };
    }
    yield { type: 'finish', reason: text.length >= fimRequest.maxTokens * 4 ? 'length' : 'stop' };
  };
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
