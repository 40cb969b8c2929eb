import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '../../base/json.ts';

/** "A maximum of 4 blocks with cache_control may be provided" (Anthropic, "Prompt caching"). */
const MAX_MARKS = 4;

/**
 * Removes cache breakpoints from a body that has too many; a body with few is returned as it is. The last one of tools
 * and system prompt stays, because they are the same in every conversation, and the last ones of the messages, which
 * cover the longest prompt.
 */
export function limitCacheMarks(body: JsonObject): JsonObject {
  return tooMany(marksOf(body)) ? withFewMarks(structuredClone(body)) : body;
}

interface Marks {
  /** Blocks of tools and system prompt, and of messages. */
  readonly fixed: readonly Record<string, unknown>[];
  readonly moving: readonly Record<string, unknown>[];
  readonly most: number;
}

/** The mark of the whole request takes one of the four (Anthropic, "Automatic caching"). */
function marksOf({ tools, system, messages, cache_control }: JsonObject): Marks {
  return {
    fixed: [...marked(tools), ...marked(system)],
    moving: arrayOrEmpty(messages).flatMap((message) => marked(objectOrEmpty(message).content)),
    most: cache_control === undefined ? MAX_MARKS : MAX_MARKS - 1,
  };
}

function tooMany({ fixed, moving, most }: Marks): boolean {
  return fixed.length + moving.length > most;
}

function withFewMarks(body: JsonObject): JsonObject {
  const { fixed, moving, most } = marksOf(body);
  const kept = new Set([...fixed.slice(-1), ...moving.slice(-(most - Math.min(fixed.length, 1)))]);
  // Messages without enough breakpoints leave more to the system prompt.
  for (const block of fixed.toReversed()) if (kept.size < most) kept.add(block);
  for (const block of [...fixed, ...moving]) if (!kept.has(block)) delete block.cache_control;
  return body;
}

/** The blocks with a breakpoint in order, also inside tool results. */
function marked(blocks: unknown): Record<string, unknown>[] {
  return arrayOrEmpty(blocks).flatMap((block) => {
    if (!isObject(block)) return [];
    const inner = block.type === 'tool_result' ? marked(block.content) : [];
    return 'cache_control' in block ? [...inner, block] : inner;
  });
}
