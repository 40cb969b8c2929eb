const LF = 0x0a;
const CR = 0x0d;
/** A frame that grows beyond this is passed on in pieces: memory is worth more than its atomicity. */
const MAX_HELD = 8 * 1024 * 1024;

/**
 * Cuts a byte stream of server-sent events behind its last complete frame, so that whatever is added
 * between two pieces (an error, an early end) never stands inside a frame. Bytes are not looked at
 * further and, in the common case of whole frames, not copied.
 */
export class FrameCutter {
  #held: Buffer | undefined;

  /** Whole frames up to now; undefined when there is none yet. */
  push(bytes: Buffer): Buffer | undefined {
    const all = this.#held ? Buffer.concat([this.#held, bytes]) : bytes;
    const end = endOfLastFrame(all);
    if (end === 0) {
      if (all.length > MAX_HELD) {
        this.#held = undefined;
        return all;
      }
      this.#held = all;
      return undefined;
    }
    this.#held = end === all.length ? undefined : all.subarray(end);
    return end === all.length ? all : all.subarray(0, end);
  }

  /** What is left without its blank line. */
  rest(): Buffer | undefined {
    const rest = this.#held;
    this.#held = undefined;
    return rest;
  }
}

/** Index behind the last blank line (LF LF, CR CR, CR LF CR LF and mixtures); 0 when there is none. */
function endOfLastFrame(bytes: Buffer): number {
  for (let at = bytes.length - 1; at > 0; at -= 1) {
    const byte = bytes[at];
    if (byte !== LF && byte !== CR) continue;
    const before = bytes[at - 1];
    if (byte === LF && before === LF) return at + 1;
    if (byte === CR && (before === CR || before === LF)) return at + 1;
    if (byte === LF && before === CR && (bytes[at - 2] === LF || bytes[at - 2] === CR)) return at + 1;
  }
  return 0;
}
