/**
 * Headers that frame a message or choose a host (RFC 9110 section 7.6.1, 9112): they would change
 * where a request goes or where it ends.
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

/** Whether configuration may not set a header; by its name in lower case. */
export function isForbidden(name: string): boolean {
  return FORBIDDEN_HEADERS.has(name);
}

/** Whether a header goes out by the name that is written. */
export function isReservedHeader(name: string): boolean {
  return name === name.toLowerCase() && !isForbidden(name);
}
