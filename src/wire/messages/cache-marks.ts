import { arrayOrEmpty, isObject } from '../../base/json.ts';

/** "A maximum of 4 blocks with cache_control may be provided" (Anthropic, "Prompt caching"). */
const MAX_MARKS = 4;

interface MarkedBody {
  /** The mark of the whole request takes one of the four (Anthropic, "Automatic caching"). */
  readonly cache_control?: unknown;
  readonly tools?: unknown;
  readonly system?: unknown;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Removes cache breakpoints from a body that has too many. The last one of tools and system prompt stays, because they
 * are the same in every conversation, and the last ones of the messages, which cover the longest prompt.
 */
export function limitCacheMarks(body: MarkedBody): void {
  const fixed = [...marked(body.tools), ...marked(body.system)];
  const moving = body.messages.flatMap(({ content }) => marked(content));
  const most = body.cache_control === undefined ? MAX_MARKS : MAX_MARKS - 1;
  if (fixed.length + moving.length <= most) return;
  const kept = new Set([...fixed.slice(-1), ...moving.slice(-(most - Math.min(fixed.length, 1)))]);
  // Messages without enough breakpoints leave more to the system prompt.
  for (const block of fixed.toReversed()) if (kept.size < most) kept.add(block);
  for (const block of [...fixed, ...moving]) if (!kept.has(block)) delete block.cache_control;
}

/** The blocks with a breakpoint in order, also inside tool results. */
function marked(blocks: unknown): Record<string, unknown>[] {
  return arrayOrEmpty(blocks).flatMap((block) => {
    if (!isObject(block)) return [];
    const inner = block.type === 'tool_result' ? marked(block.content) : [];
    return 'cache_control' in block ? [...inner, block] : inner;
  });
}
