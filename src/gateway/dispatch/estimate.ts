import { toNano } from '../../base/money.ts';
import { computePrice, isPaid } from '../../catalog/price.ts';
import { UNKNOWN_LIMIT } from '../accounting/usage-cap.ts';
import type { RequestContext, RequestSize } from '../http/request-context.ts';
import type { Estimate } from '../limits/request-limits.ts';
import type { ServedModel } from './pipeline.ts';

/** Most texts have more bytes per token. A budget must not be exceeded, so the cost is rather estimated too high. */
const BYTES_PER_TOKEN = 3;
/** The same for rates, which are corrected when the answer ends. */
const USUAL_BYTES_PER_TOKEN = 4;
/** Bytes of a recording per token, of input and of output. */
const RECORDED_BYTES_PER_TOKEN = 400;

/** The size of a form with a recording. */
export function recordingSize(bytes: number): RequestSize {
  const tokens = Math.ceil(bytes / RECORDED_BYTES_PER_TOKEN);
  return { bytes: tokens * BYTES_PER_TOKEN, output: tokens };
}

/** What a request will probably use: its input, and for the cost as much output as it allows. */
export function estimateRequest(context: RequestContext, { cost, limit }: ServedModel, byok: boolean): Estimate {
  const { bytes, output } = context.size ?? recordingSize(0);
  const tokens = Math.ceil(bytes / USUAL_BYTES_PER_TOKEN);
  if (cost === undefined || byok || !isPaid(cost)) return { tokens, nano: 0 };
  const most = limit?.output || UNKNOWN_LIMIT.output;
  const usage = { input: Math.ceil(bytes / BYTES_PER_TOKEN), output: Math.min(output ?? most, most) };
  // Any of the input may be written to the provider's cache.
  const input = Math.max(cost.input, cost.cacheWrite ?? 0);
  return { tokens, nano: Math.max(1, toNano(computePrice({ ...cost, input }, usage))) };
}
