import type { Usage } from '../../wire/event.ts';

/** The tokens of an answer for JSON output. Unknown values are omitted. */
export function usageJson({ input, output, cacheRead, cacheWrite, reasoning }: Usage) {
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}
