/**
 * Headers that frame a message or select a host (RFC 9110 section 7.6.1, RFC 9112). They would change where a request
 * is sent or where it ends.
 */
const FORBIDDEN_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether the configuration must not set this header. `name` is in lower case. */
export function isForbidden(name: string): boolean {
  return FORBIDDEN_HEADERS.has(name);
}

/** Whether a header is sent with exactly this name: it is lower case and not forbidden. */
export function isReservedHeader(name: string): boolean {
  return name === name.toLowerCase() && !isForbidden(name);
}
