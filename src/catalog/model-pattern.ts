/**
 * `*` matches any text. A pattern without `*` must equal the key. Used for the configuration of models and for the
 * policy of an organization.
 */
export function matchesModelPattern(pattern: string, key: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === key;
  // Fast path for `vendor/*`: the gateway checks it for every request.
  if (star === pattern.length - 1) return key.startsWith(pattern.slice(0, star));
  const parts = pattern.split('*');
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!key.startsWith(first) || !key.endsWith(last) || key.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = key.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= key.length - last.length;
}
