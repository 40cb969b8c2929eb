import type { Context } from '@opentelemetry/api';
import {
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';

/** Traces that are recorded in a second. Recording each of thousands takes as much CPU as the requests themselves. */
const MAX_PER_SECOND = 200;

/** Records a share of the traces that begin at this gateway, and at most `MAX_PER_SECOND` in a second. */
export class BoundedSampler implements Sampler {
  readonly #share: TraceIdRatioBasedSampler;
  #second = 0;
  #recorded = 0;

  /** @param share from 0 to 1. */
  constructor(share: number) {
    this.#share = new TraceIdRatioBasedSampler(share);
  }

  shouldSample(context: Context, traceId: string): SamplingResult {
    const result = this.#share.shouldSample(context, traceId);
    if (result.decision !== SamplingDecision.RECORD_AND_SAMPLED) return result;
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#recorded = 0;
    }
    this.#recorded += 1;
    return this.#recorded <= MAX_PER_SECOND ? result : { decision: SamplingDecision.NOT_RECORD };
  }

  toString(): string {
    return `${this.#share}, at most ${MAX_PER_SECOND} a second`;
  }
}
