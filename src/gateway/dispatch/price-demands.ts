import { arrayOrEmpty, finiteNumber, isObject, type JsonObject } from '../../base/json.ts';

/** Features of a request that have other prices than its tokens. */
export interface PriceDemands {
  /** Service tier, speed and region, as the prices of a model name them. */
  readonly served: readonly string[];
  /** Input is written to the cache for an hour. */
  readonly longCache: boolean;
  readonly audioInput: boolean;
  readonly audioOutput: boolean;
  readonly imageOutput: boolean;
  /** Searches that the vendor may make. */
  readonly searches: number;
}

/** Searches of a request that does not limit them. Most answers need fewer. */
const USUAL_SEARCHES = 5;
const MARKS = ['service_tier', '"speed"', 'inference_geo', '1h"', 'audio', 'image', 'web_search'].map((mark) =>
  Buffer.from(mark),
);

/** @returns undefined for most requests, which ask for nothing with a price of its own. */
export function readPriceDemands(bytes: Buffer, body: JsonObject): PriceDemands | undefined {
  const [, , , hour, audio] = MARKS;
  if (!MARKS.some((mark) => bytes.includes(mark))) return undefined;
  const outputs = arrayOrEmpty(body.modalities);
  return {
    served: [body.service_tier, body.speed, body.inference_geo].flatMap((value) =>
      typeof value === 'string' ? value.toLowerCase() : [],
    ),
    longCache: hour !== undefined && bytes.includes(hour),
    audioInput: audio !== undefined && bytes.includes(audio),
    audioOutput: outputs.includes('audio'),
    imageOutput: outputs.includes('image'),
    searches: countSearches(body),
  };
}

/** The search tools of the three formats; `web_search_options` is that of OpenAI's search models. */
function countSearches(body: JsonObject): number {
  const limits = arrayOrEmpty(body.tools).flatMap((tool) => {
    if (!isObject(tool) || typeof tool.type !== 'string' || !tool.type.startsWith('web_search')) return [];
    return Math.max(0, finiteNumber(tool.max_uses) ?? USUAL_SEARCHES);
  });
  if (isObject(body.web_search_options)) limits.push(1);
  return limits.reduce((sum, limit) => sum + limit, 0);
}
