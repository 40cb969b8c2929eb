/** The first quote is omitted: the search for more than six bytes is slower. */
const DELTA = Buffer.from('delta"');
type Kind = 'text' | 'reasoning' | 'details' | undefined;

/**
 * Members of a delta that contain the model's output, in the three formats and in streamed transcripts. `details` is
 * a copy of `reasoning` in parts, which OpenRouter and others add.
 */
const MEMBERS: readonly (readonly [name: string, kind: Kind])[] = [
  ...(['content', 'text', 'arguments', 'refusal', 'thinking', 'partial_json'] as const).map(
    (name) => [name, 'text'] as const,
  ),
  ['reasoning_content', 'text'],
  ['reasoning', 'reasoning'],
  ['reasoning_details', 'details'],
];
const BY_LENGTH = Map.groupBy(MEMBERS, ([name]) => name.length);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COLON = 0x3a;
const SPACE = 0x20;

/**
 * Number of bytes of text, reasoning and tool arguments in the deltas of frames, including escapes, so at least the
 * number of characters. Only answers without usage need the count, but it must be complete for them. Therefore each
 * byte of a delta is read once and nothing is parsed. The last frame may be cut off.
 */
export function countText(frames: Buffer): number {
  let count = 0;
  for (let at = frames.indexOf(DELTA); at >= 0; ) {
    let start = at + DELTA.length;
    if (frames[at - 1] !== QUOTE) {
      at = frames.indexOf(DELTA, start);
      continue;
    }
    while (frames[start] === COLON || frames[start] === SPACE) start += 1;
    const { end, text } = frames[start] === QUOTE ? textOfString(frames, start) : textOfObject(frames, start);
    count += text;
    at = frames.indexOf(DELTA, end);
  }
  return count;
}

interface Counted {
  /** Index after the string or object. */
  readonly end: number;
  readonly text: number;
}

function textOfString(frames: Buffer, start: number): Counted {
  const end = stringEnd(frames, start);
  return { end, text: Math.max(0, end - start - 2) };
}

function textOfObject(frames: Buffer, start: number): Counted {
  let [depth, text, reasoning, details] = [0, 0, 0, 0];
  let key: Kind;
  /** The depth of the `details` member; 0 outside of it. */
  let inside = 0;
  let at = start;
  for (; at < frames.length; at += 1) {
    const byte = frames[at];
    if (byte === OPEN || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth < inside + 1) inside = 0;
      if (depth <= 0) break;
    } else if (byte === QUOTE) {
      const end = stringEnd(frames, at);
      let next = end;
      while (frames[next] === SPACE) next += 1;
      if (frames[next] === COLON) {
        key = readKind(frames, at + 1, end - 1);
        if (inside === 0 && key === 'details') inside = depth;
      } else if (key !== undefined) {
        const length = Math.max(0, end - at - 2);
        if (inside > 0) details += length;
        else if (key === 'reasoning') reasoning += length;
        else text += length;
      }
      at = end - 1;
    }
  }
  return { end: Math.max(at, start), text: text + Math.max(reasoning, details) };
}

/** Index after the closing quote of the string that opens at `start`, or after the end if the string is cut off. */
function stringEnd(frames: Buffer, start: number): number {
  for (let at = start + 1; at < frames.length; at += 1) {
    const byte = frames[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  return frames.length + 1;
}

function readKind(frames: Buffer, start: number, end: number): Kind {
  const known = BY_LENGTH.get(end - start);
  if (known === undefined) return undefined;
  for (const [name, kind] of known) {
    let same = 0;
    while (same < name.length && frames[start + same] === name.charCodeAt(same)) same += 1;
    if (same === name.length) return kind;
  }
  return undefined;
}
