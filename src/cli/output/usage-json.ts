import type { Usage } from '../../wire/event.ts';

/** Tokens of an answer as other programs read them; what is not known is left out. */
export function usageJson({ input, output, cacheRead, cacheWrite, reasoning }: Usage) {
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cache_read: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cache_write: cacheWrite }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}
