import type { RequestContext } from './request-context.ts';

interface Running {
  readonly context: RequestContext;
  /** Its index in the list. */
  at: number;
}

/**
 * The requests that are running, by key, so that those of a revoked key can be ended. Not in a `Set`: when requests come
 * and go, V8 replaces the table of a set again and again, and each old table refers to the next one. As soon as one is in
 * the old generation, all later tables and their requests live until the next full garbage collection. This cost a fifth
 * of the CPU time at 64 requests at a time (docs/performance.md).
 */
export class RunningRequests {
  readonly #byKey = new Map<string, Running[]>();

  /** @returns a function that must be called once, when the request has ended. */
  enter(key: string, context: RequestContext): () => void {
    const requests = this.#byKey.get(key) ?? [];
    const own = { context, at: requests.length };
    if (requests.push(own) === 1) this.#byKey.set(key, requests);
    return () => {
      const last = requests.pop();
      if (last !== undefined && last !== own) {
        requests[own.at] = last;
        last.at = own.at;
      }
      if (requests.length === 0) this.#byKey.delete(key);
    };
  }

  /** Closes the connections of a key's requests. Their upstream requests end, and their usage is counted. */
  cut(key: string): number {
    const requests = [...(this.#byKey.get(key) ?? [])];
    for (const { context } of requests) context.response.destroy();
    return requests.length;
  }
}
