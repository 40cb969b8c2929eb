const LF = 0x0a;
const CR = 0x0d;
const NOTHING = Buffer.alloc(0);
/** A larger frame is passed on in pieces, to limit memory. */
const MAX_HELD = 16 * 1024 * 1024;

/**
 * Splits a byte stream of server-sent events after its last complete frame, so that text that is inserted between two
 * pieces (an error, an early end) is never inside a frame. Bytes are not parsed and, in the common case of complete
 * frames, not copied.
 */
export class FrameSplitter {
  /** The pieces of the incomplete frame. They are joined only once, however many reads it spans. */
  #held: Buffer[] = [];
  #length = 0;

  /** Size of the incomplete frame in bytes. */
  get held(): number {
    return this.#length;
  }

  /** Returns the complete frames so far; undefined if there is none. */
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

  /** The rest, which has no blank line at its end. */
  rest(): Buffer | undefined {
    const [first] = this.#held;
    const rest = this.#held.length > 1 ? Buffer.concat(this.#held) : first;
    this.#held = [];
    this.#length = 0;
    return rest;
  }

  /** The last bytes of the incomplete frame, up to two. */
  #lastBytes(): Buffer {
    const last = this.#held.at(-1);
    if (last === undefined) return NOTHING;
    return last.length > 1 || this.#held.length === 1
      ? last.subarray(-2)
      : Buffer.concat(this.#held.slice(-2)).subarray(-2);
  }
}

/**
 * The index after the last blank line (LF LF, CR CR, CR LF CR LF and mixtures) that ends in `bytes`; 0 if there is
 * none. @param before the preceding bytes, because a blank line may span two reads.
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
