import { arrayOrEmpty, defined, isObject, type JsonObject, objectOrEmpty, tokenCount } from '../base/json.ts';
import { splitWords } from '../base/split-words.ts';
import type { Usage } from './event.ts';

/** Values that mean the standard price. */
const STANDARD: ReadonlySet<string> = new Set([
  '',
  ...splitWords('default auto standard standard_only normal none null global not_available on_demand'),
]);

/** Maximum number of tokens of images that a tool makes, for the same reason. */
const MAX_IMAGE_TOKENS = 100_000;
/** Maximum number of calls in one answer that count, so that a wrong number can't spend a budget. */
const MAX_CALLS = 1_000;

/**
 * Facts of an answer about its price beside its tokens.
 *
 * - Tier, speed and region: `service_tier` of the answer (OpenAI, "Flex processing") or of the usage, `speed` and
 *   `inference_geo` of the usage (Anthropic, "Fast mode", "Data residency").
 * - Calls of tools that the vendor runs, by the name of their fee: `server_tool_use.web_search_requests` (Anthropic, "Web
 *   search tool"), `server_side_tool_usage_details` (xAI), `num_search_queries` (Perplexity), `plugins.search.count`
 *   (Alibaba), else the items of the output (OpenAI, "Web search", "File search", "Code interpreter") and `tool_usage` of
 *   the answer, which has the tokens of images that a tool makes (Wei-Shaw/sub2api#1999).
 *
 * @param answer the object that has the usage: the whole answer, a chunk or a response.
 */
export function readBilledExtras(usage: JsonObject, answer: JsonObject): Pick<Usage, 'served' | 'calls'> {
  const served = [usage.service_tier ?? answer.service_tier, usage.speed, usage.inference_geo]
    .flatMap((value) => (typeof value === 'string' ? value.toLowerCase() : []))
    .filter((name) => !STANDARD.has(name) && /^[a-z0-9_-]{1,40}$/.test(name));
  const calls = Object.entries(countCalls(usage, answer)).flatMap(([name, count]) =>
    count > 0 ? [[name, Math.min(name === IMAGE_TOKEN ? MAX_IMAGE_TOKENS : MAX_CALLS, count)] as const] : [],
  );
  return defined({
    served: served.length > 0 ? served : undefined,
    calls: calls.length > 0 ? Object.fromEntries(calls) : undefined,
  });
}

/** The fee for a token of an image that a tool makes. */
export const IMAGE_TOKEN = 'image_token';

function countCalls(usage: JsonObject, answer: JsonObject): Record<string, number> {
  const reported = reportedCalls(usage);
  if (Object.keys(reported).length > 0) return reported;
  const items = arrayOrEmpty(answer.output).filter(isObject);
  const { web_search: searched, image_gen: images } = objectOrEmpty(answer.tool_usage);
  return {
    web_search: Math.max(items.filter(isSearch).length, tokenCount(objectOrEmpty(searched).num_requests) ?? 0),
    [IMAGE_TOKEN]: tokenCount(objectOrEmpty(images).output_tokens) ?? 0,
    file_search: items.filter(({ type }) => type === 'file_search_call').length,
    code_interpreter: countContainers(items, answer),
  };
}

function reportedCalls(usage: JsonObject): Record<string, number> {
  const searches =
    tokenCount(objectOrEmpty(usage.server_tool_use).web_search_requests) ??
    tokenCount(usage.num_search_queries) ??
    tokenCount(objectOrEmpty(objectOrEmpty(usage.plugins).search).count);
  const named = Object.entries(objectOrEmpty(usage.server_side_tool_usage_details)).flatMap(([name, value]) => {
    const count = tokenCount(value);
    const [, tool] = /^([a-z_]{1,40})_calls$/.exec(name) ?? [];
    return count === undefined || tool === undefined ? [] : [[tool, count] as const];
  });
  return { ...Object.fromEntries(named), ...defined({ web_search: searches }) };
}

/** Opening and reading a page that was found is not billed as a search. */
function isSearch({ type, action }: JsonObject): boolean {
  return type === 'web_search_call' && (objectOrEmpty(action).type ?? 'search') === 'search';
}

/** The gigabytes of the containers in which code ran: the price of a container is that of its memory. */
function countContainers(items: readonly JsonObject[], { tools }: JsonObject): number {
  const runs = items.filter(({ type }) => type === 'code_interpreter_call');
  if (runs.length === 0) return 0;
  const tool = objectOrEmpty(arrayOrEmpty(tools).find((each) => objectOrEmpty(each).type === 'code_interpreter'));
  return new Set(runs.map(({ container_id }) => container_id)).size * containerSize(tool);
}

/** Gigabytes of a container (OpenAI, "Code Interpreter": `1g`, `4g`, `16g`, `64g`). @param tool of the request. */
export function containerSize({ container }: JsonObject): number {
  const [, size] = /^(\d{1,2})g$/.exec(String(objectOrEmpty(container).memory_limit)) ?? [];
  return Math.max(1, Number(size ?? 1));
}

const CALLS = ['web_search_call"', 'file_search_call"', 'code_interpreter_call"'].map((mark) => Buffer.from(mark));
const IMAGES = Buffer.from('"image_gen"');
const TIER = Buffer.from('service_tier"');

/** Whether a whole answer in bytes may have something about its price outside of its usage. Most answers do not. */
export function mayHaveExtras(body: Buffer): boolean {
  if (CALLS.some((mark) => body.includes(mark))) return true;
  const images = body.indexOf(IMAGES);
  // Each answer of OpenAI has the object. Most have nothing but 0 in it.
  if (images >= 0 && /"output_tokens"\s*:\s*[1-9]/.test(body.toString('latin1', images, images + 400))) return true;
  for (let at = body.indexOf(TIER); at >= 0; at = body.indexOf(TIER, at + TIER.length)) {
    const [, value = ''] =
      /^\s*:\s*"?(\w*)/.exec(body.toString('latin1', at + TIER.length, at + TIER.length + 60)) ?? [];
    if (!STANDARD.has(value.toLowerCase())) return true;
  }
  return false;
}
