/** The first character that is neither white space nor a byte order mark; empty when there is none. */
export function firstCharacter(bytes: Uint8Array): string {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at += 1;
  return at < bytes.length ? String.fromCharCode(bytes[at] ?? 0) : '';
}

/** Whether a content type is that of an event stream. */
export function isEventStreamType(contentType: string): boolean {
  return contentType.includes('text/event-stream');
}

/** Whether an answer is a stream, by its first character. Some servers omit the content type. */
export function startsStream(character: string): boolean {
  return character !== '' && character !== '{' && character !== '[' && character !== '<';
}

/** Whether a whole body is the text of a stream. Other text with status 200 is a message of a proxy. */
export function isStreamText(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  return /^(?:\xef\xbb\xbf)?\s*(?:data|event|id|retry)?:/.test(start);
}

/** A header as one string: the first value if there are several. */
export function singleHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
