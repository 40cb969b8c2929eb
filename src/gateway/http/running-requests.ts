import type { RequestContext } from './request-context.ts';

/** The requests that are running, by key, so that those of a revoked key can be ended. */
export class RunningRequests {
  readonly #byKey = new Map<string, Set<RequestContext>>();

  enter(key: string, context: RequestContext): void {
    const requests = this.#byKey.get(key);
    if (requests === undefined) this.#byKey.set(key, new Set([context]));
    else requests.add(context);
  }

  leave(key: string, context: RequestContext): void {
    const requests = this.#byKey.get(key);
    if (requests?.delete(context) && requests.size === 0) this.#byKey.delete(key);
  }

  /** Closes the connections of a key's requests. Their upstream requests end, and their usage is counted. */
  cut(key: string): number {
    const requests = this.#byKey.get(key);
    for (const { response } of requests ?? []) response.destroy();
    return requests?.size ?? 0;
  }
}
