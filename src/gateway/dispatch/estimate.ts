import { toNano } from '../../base/money.ts';
import { chargedPrices, highestInput, isPaid } from '../../catalog/price.ts';
import type { ModelCost, Prices } from '../../config/settings/configured-model.ts';
import type { Usage } from '../../wire/event.ts';
import { type Media, measureMedia, mostTextTokens, textTokens } from '../../wire/prompt-size.ts';

import { UNKNOWN_LIMIT } from '../accounting/usage-cap.ts';
import type { RequestContext, RequestSize } from '../http/request-context.ts';
import type { Estimate } from '../limits/request-limits.ts';
import type { ServedModel } from './models.ts';
import type { PriceDemands } from './price-demands.ts';

/** Bytes of a recording per token, of input and of output. */
const RECORDED_BYTES_PER_TOKEN = 400;

/** Words that each request with media contains. */
const MARKS = ['image', 'base64', 'input_audio', 'file_', 'document', 'video'].map((mark) => Buffer.from(mark));

/** The media of a request. Most requests have none, and are not walked. */
export function findMedia(bytes: Buffer, body: unknown): Media | undefined {
  return MARKS.some((mark) => bytes.includes(mark)) ? measureMedia(body) : undefined;
}

/** The size of a form with a recording. */
export function recordingSize(bytes: number): RequestSize {
  const tokens = Math.ceil(bytes / RECORDED_BYTES_PER_TOKEN);
  return { bytes: 0, output: tokens, media: { bytes: 0, tokens } };
}

/** The probable input of a request, in tokens. */
export function probableInput({ size = recordingSize(0) }: Pick<RequestContext, 'size'>): number {
  const { bytes, media = NO_MEDIA } = size;
  return textTokens(Math.max(0, bytes - media.bytes)) + media.tokens;
}

/**
 * The probable use of a request: its input, and for the cost, which must not be estimated too low, as much output as it allows, at the highest prices that
 * it asks for. A cheaper service tier is not certain: the provider may serve the usual one.
 */
export function estimateRequest(context: RequestContext, model: EstimatedModel, byok: boolean): Estimate {
  const { bytes, output, media = NO_MEDIA, demands = NO_DEMANDS } = context.size ?? recordingSize(0);
  const text = Math.max(0, bytes - media.bytes);
  const tokens = probableInput(context);
  const { cost, limit, options } = model;
  if (byok) return { tokens, nano: 0 };
  if (cost === undefined) return { tokens, nano: 0, unpriced: true };
  if (!isPaid(cost)) return { tokens, nano: 0 };
  const most = limit?.output || UNKNOWN_LIMIT.output;
  const usage = { input: mostTextTokens(text) + media.tokens, output: Math.min(output ?? most, most) };
  const prices = dearest(cost, usage, [...demands.served, ...servedOf(options)]);
  const fees = Object.entries(demands.calls).reduce(
    (sum, [name, count]) => sum + count * (prices.fees?.[name] ?? 0),
    0,
  );
  const micro =
    usage.input * highestInput(prices, { audio: demands.audioInput, longCache: demands.longCache }) +
    usage.output * highestOutput(prices, demands) +
    fees * 1_000_000;
  return { tokens, nano: Math.max(1, toNano(micro / 1_000_000)) };
}

type EstimatedModel = Pick<ServedModel, 'cost' | 'limit' | 'options'>;

const NO_MEDIA: Media = { bytes: 0, tokens: 0 };
const NO_DEMANDS: PriceDemands = {
  served: [],
  longCache: false,
  audioInput: false,
  audioOutput: false,
  imageOutput: false,
  calls: {},
};

/** A service tier that the configuration of the model sends with each request. */
function servedOf(options: ServedModel['options']): readonly string[] {
  return [options?.service_tier, options?.speed, options?.inference_geo].filter((name) => typeof name === 'string');
}

/** The prices of the answer if each demand that makes it dearer is met. */
function dearest(cost: ModelCost, { input }: Pick<Usage, 'input'>, served: readonly string[]): Prices {
  const usual = chargedPrices(cost, { input });
  const dearer = served.filter((name) => chargedPrices(cost, { input, served: [name] }).output > usual.output);
  return dearer.length === 0 ? usual : chargedPrices(cost, { input, served: [...new Set(dearer)] });
}

function highestOutput(prices: Prices, { audioOutput, imageOutput }: PriceDemands): number {
  return Math.max(
    prices.output,
    prices.reasoning ?? 0,
    audioOutput ? (prices.outputAudio ?? 0) : 0,
    imageOutput ? (prices.outputImage ?? 0) : 0,
  );
}
