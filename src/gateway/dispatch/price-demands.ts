import { arrayOrEmpty, finiteNumber, isObject, type JsonObject } from '../../base/json.ts';
import { splitWords } from '../../base/split-words.ts';
import { containerSize, IMAGE_TOKEN } from '../../wire/billed-extras.ts';

/** Features of a request that have other prices than its tokens. */
export interface PriceDemands {
  /** Service tier, speed and region, as the prices of a model name them. */
  readonly served: readonly string[];
  /** Input is written to the cache for an hour. */
  readonly longCache: boolean;
  readonly audioInput: boolean;
  readonly audioOutput: boolean;
  readonly imageOutput: boolean;
  /** Calls of tools that the vendor may make, by the name of their fee. */
  readonly calls: Readonly<Record<string, number>>;
}

/** Searches of a request that does not limit them. Most answers need fewer. */
const USUAL_SEARCHES = 5;
/** Tokens of the largest image (OpenAI, "Image generation", high quality), rounded up. */
const LARGE_IMAGE = 7_000;
const FIELDS = splitWords('service_tier speed inference_geo modalities tools web_search_options');
/** They stand anywhere in a request. */
const [HOUR, AUDIO] = [Buffer.from('1h"'), Buffer.from('audio')];

/** @returns undefined for most requests, which ask for nothing with a price of its own. */
export function readPriceDemands(bytes: Buffer, body: JsonObject): PriceDemands | undefined {
  const longCache = bytes.includes(HOUR);
  const audioInput = bytes.includes(AUDIO);
  if (!longCache && !audioInput && FIELDS.every((field) => body[field] === undefined)) return undefined;
  const outputs = arrayOrEmpty(body.modalities);
  return {
    served: [body.service_tier, body.speed, body.inference_geo].flatMap((value) =>
      typeof value === 'string' ? value.toLowerCase() : [],
    ),
    longCache,
    audioInput,
    audioOutput: outputs.includes('audio'),
    imageOutput: outputs.includes('image'),
    calls: countCalls(body),
  };
}

/** The tools of the three formats; `web_search_options` is that of OpenAI's search models. */
function countCalls(body: JsonObject): Record<string, number> {
  const calls: Record<string, number> = {};
  const add = (name: string, count: number): void => {
    calls[name] = (calls[name] ?? 0) + count;
  };
  for (const tool of arrayOrEmpty(body.tools)) {
    if (!isObject(tool) || typeof tool.type !== 'string') continue;
    const search = /^(?:web|file)_search/.exec(tool.type)?.[0];
    if (search !== undefined) add(search, Math.max(0, finiteNumber(tool.max_uses) ?? USUAL_SEARCHES));
    if (tool.type === 'code_interpreter') add(tool.type, containerSize(tool));
    if (tool.type === 'image_generation') add(IMAGE_TOKEN, LARGE_IMAGE);
  }
  if (isObject(body.web_search_options)) add('web_search', 1);
  return calls;
}
