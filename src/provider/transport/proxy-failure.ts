/** The proxy at which a request failed: its host and port. */
const FAILED_AT = new WeakMap<Error, string>();

/** Notes that a request failed at a proxy. */
export function failedAt(error: Error, proxy: string): void {
  FAILED_AT.set(error, proxy);
}

/** The proxy that the failed request went through, if it did. */
export function proxyOf(thrown: unknown): string | undefined {
  let current = thrown;
  for (let depth = 0; depth < 6 && current instanceof Error; depth++) {
    const proxy = FAILED_AT.get(current);
    if (proxy !== undefined) return proxy;
    current = current.cause;
  }
  return undefined;
}
