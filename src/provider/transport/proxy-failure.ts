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

class TunnelError extends Error {
  readonly code = 'UND_ERR_PRX_CONN';
}

/**
 * The failure of a proxy that closed the connection instead of opening a tunnel. An error with the code of a closed
 * socket makes undici connect again without end (github.com/nodejs/undici/issues/3897).
 */
export function asTunnelError(thrown: unknown): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  const isClosed = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
  return isClosed ? new TunnelError('The proxy closed the connection.', { cause: thrown }) : thrown;
}
