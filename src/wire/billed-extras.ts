import { arrayOrEmpty, defined, isObject, type JsonObject, objectOrEmpty, tokenCount } from '../base/json.ts';
import type { Usage } from './event.ts';

/** Values that mean the standard price. */
const STANDARD: ReadonlySet<string> = new Set([
  ...[
    '',
    'default',
    'auto',
    'standard',
    'standard_only',
    'normal',
    'none',
    'null',
    'global',
    'not_available',
    'on_demand',
  ],
]);

/** Maximum number of calls in one answer that count, so that a wrong number can't spend a budget. */
const MAX_CALLS = 1_000;

/**
 * Facts of an answer about its price beside its tokens.
 *
 * - Tier, speed and region: `service_tier` of the answer (OpenAI, "Flex processing") or of the usage, `speed` and
 *   `inference_geo` of the usage (Anthropic, "Fast mode", "Data residency").
 * - Calls: `server_tool_use.web_search_requests` (Anthropic, "Web search tool"), `web_search_call` items that searched
 *   (OpenAI, "Web search"), `server_side_tool_usage_details` (xAI), `num_search_queries` (Perplexity).
 *
 * @param answer the object that has the usage: the whole answer, a chunk or a response.
 */
export function readBilledExtras(usage: JsonObject, answer: JsonObject): Pick<Usage, 'served' | 'calls'> {
  const served = [usage.service_tier ?? answer.service_tier, usage.speed, usage.inference_geo]
    .flatMap((value) => (typeof value === 'string' ? value.toLowerCase() : []))
    .filter((name) => !STANDARD.has(name) && /^[a-z0-9_-]{1,40}$/.test(name));
  const searches = Math.min(MAX_CALLS, countSearches(usage, answer));
  return defined({
    served: served.length > 0 ? served : undefined,
    calls: searches > 0 ? { web_search: searches } : undefined,
  });
}

function countSearches(usage: JsonObject, answer: JsonObject): number {
  const reported =
    tokenCount(objectOrEmpty(usage.server_tool_use).web_search_requests) ??
    tokenCount(objectOrEmpty(usage.server_side_tool_usage_details).web_search_calls) ??
    tokenCount(usage.num_search_queries);
  if (reported !== undefined) return reported;
  return arrayOrEmpty(answer.output).filter(isSearch).length;
}

/** Opening and reading a page that was found is not billed as a search. */
function isSearch(item: unknown): boolean {
  if (!isObject(item) || item.type !== 'web_search_call') return false;
  const { type = 'search' } = objectOrEmpty(item.action);
  return type === 'search';
}

const MARKS = [Buffer.from('web_search_call"'), Buffer.from('service_tier"')] as const;

/** Whether a whole answer in bytes may say something about its price outside of its usage. Most answers do not. */
export function mayHaveExtras(body: Buffer): boolean {
  const [search, tier] = MARKS;
  if (body.includes(search)) return true;
  for (let at = body.indexOf(tier); at >= 0; at = body.indexOf(tier, at + tier.length)) {
    const [, value = ''] =
      /^\s*:\s*"?(\w*)/.exec(body.toString('latin1', at + tier.length, at + tier.length + 60)) ?? [];
    if (!STANDARD.has(value.toLowerCase())) return true;
  }
  return false;
}
