const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);
/** A frame that grows beyond this is passed on in pieces: memory is worth more than its atomicity. */
const MAX_HELD = 16 * 1024 * 1024;

/**
 * Cuts a byte stream of server-sent events behind its last complete frame, so that whatever is added
 * between two pieces (an error, an early end) never stands inside a frame. Bytes are not looked at
 * further and, in the common case of whole frames, not copied.
 */
export class FrameSplitter {
  /** The pieces of the frame that has no end yet: joined once, however many reads it spans. */
  #held: Buffer[] = [];
  #length = 0;

  /** Bytes of the frame that has no end yet. */
  get held(): number {
    return this.#length;
  }

  /** Whole frames up to now; undefined when there is none yet. */
  push(bytes: Buffer): Buffer | undefined {
    const end = endOfLastFrame(bytes, this.#lastBytes());
    if (end === 0) {
      if (bytes.length > 0) this.#held.push(bytes);
      this.#length += bytes.length;
      return this.#length > MAX_HELD ? this.rest() : undefined;
    }
    const whole = end === bytes.length ? bytes : bytes.subarray(0, end);
    const frames = this.#held.length === 0 ? whole : Buffer.concat([...this.#held, whole]);
    this.#held = end === bytes.length ? [] : [bytes.subarray(end)];
    this.#length = bytes.length - end;
    return frames;
  }

  /** What is left without its blank line. */
  rest(): Buffer | undefined {
    const [first] = this.#held;
    const rest = this.#held.length > 1 ? Buffer.concat(this.#held) : first;
    this.#held = [];
    this.#length = 0;
    return rest;
  }

  /** The last two bytes that are held, as far as there are two. */
  #lastBytes(): Buffer {
    const last = this.#held.at(-1);
    if (last === undefined) return NOTHING;
    return last.length > 1 || this.#held.length === 1
      ? last.subarray(-2)
      : Buffer.concat(this.#held.slice(-2)).subarray(-2);
  }
}

/**
 * Index behind the last blank line (LF LF, CR CR, CR LF CR LF and mixtures) that ends in `bytes`; 0 when
 * there is none. @param before the bytes just before, since a blank line may span two reads.
 */
function endOfLastFrame(bytes: Buffer, before: Buffer): number {
  const at = (index: number) => (index >= 0 ? bytes[index] : before[before.length + index]);
  for (let index = bytes.length - 1; index >= 0; index -= 1) {
    const byte = bytes[index];
    if (byte !== LF && byte !== CR) continue;
    const previous = at(index - 1);
    if (previous === LF && (byte === LF || byte === CR)) return index + 1;
    if (previous !== CR) continue;
    if (byte === CR) return index + 1;
    const third = at(index - 2);
    if (third === LF || third === CR) return index + 1;
  }
  return 0;
}
