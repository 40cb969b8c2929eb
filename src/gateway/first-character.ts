/** The first character that is neither space nor a byte order mark; empty when there is none. */
export function firstCharacter(body: Buffer): string {
  let at = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  while (at < body.length && (body[at] ?? 0) <= 0x20) at += 1;
  return at < body.length ? String.fromCharCode(body[at] ?? 0) : '';
}
