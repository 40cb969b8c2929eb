import { firstCharacter, startsStream } from '../../provider/answer-start.ts';
import { FrameSplitter } from '../../wire/stream/frame-splitter.ts';
import type { HeldBodies } from '../http/body-memory.ts';

/** The body of an answer as it arrives: the frames of a stream, or the chunks of a body that is not streamed. */
export class ReceivedBody {
  readonly #memory: HeldBodies;
  /** Absent: the body is not streamed. */
  #splitter: FrameSplitter | undefined;
  /** Chunks of a stream that are not split into frames yet. */
  #gathered: Buffer[] = [];
  /** Chunks of a body that is not streamed. */
  readonly #chunks: Buffer[] = [];
  #length = 0;
  /** The body has begun with a character other than white space. */
  #begun = false;

  constructor(memory: HeldBodies) {
    this.#memory = memory;
  }

  get isStream(): boolean {
    return this.#splitter !== undefined;
  }

  /** Bytes of a body that is not streamed, dropped chunks included. */
  get length(): number {
    return this.#length;
  }

  /** Called if the content type is that of a stream, whatever the body is. */
  startStream(): void {
    this.#splitter = new FrameSplitter();
  }

  /**
   * Detects a stream by its first character. Some servers omit the content type, others send a whole answer with that of
   * a stream. @param declared the content type is that of a stream.
   */
  detectStream(chunk: Buffer, declared: boolean): void {
    if (this.#splitter !== undefined || this.#begun) return;
    const start = firstCharacter(chunk);
    this.#begun = start !== '';
    if (declared ? start !== '' && start !== '{' : startsStream(start)) this.#splitter = new FrameSplitter();
  }

  /** Nothing but blanks has arrived: the declared stream is empty. */
  endDetection(): void {
    if (!this.#begun) this.#splitter ??= new FrameSplitter();
  }

  /** Adds a chunk of a stream. Returns true if it is the first one since the last `takeFrames`. */
  gather(chunk: Buffer): boolean {
    return this.#gathered.push(chunk) === 1;
  }

  get hasGathered(): boolean {
    return this.#gathered.length > 0;
  }

  /** Returns the frames that are complete, `undefined` if there are none. @throws SvcError if memory is used up. */
  takeFrames(): Buffer | undefined {
    const splitter = this.#splitter;
    if (splitter === undefined) return undefined;
    const before = splitter.held;
    const frames = splitter.push(this.#takeGathered());
    this.#memory.add(splitter.held - before);
    return frames;
  }

  /** Returns and removes the incomplete frame at the end of a stream. */
  takeRest(): Buffer | undefined {
    return this.#splitter?.rest();
  }

  /** As `takeFrames`, after an answer has ended: it needs no more memory. */
  takeLastFrames(): Buffer | undefined {
    return this.#splitter?.push(this.#takeGathered());
  }

  /**
   * Adds a chunk of a body that is not streamed. Returns false and drops the chunk if the body is longer than `limit`.
   * @throws SvcError if memory is used up.
   */
  collect(chunk: Buffer, limit: number): boolean {
    this.#length += chunk.length;
    if (this.#length > limit) return false;
    this.#memory.add(chunk.length);
    this.#chunks.push(chunk);
    return true;
  }

  /** The body that was collected. */
  whole(): Buffer {
    return joinChunks(this.#chunks);
  }

  #takeGathered(): Buffer {
    const gathered = this.#gathered;
    this.#gathered = [];
    return joinChunks(gathered);
  }
}

/** Does not copy a single chunk. */
function joinChunks(chunks: readonly Buffer[]): Buffer {
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}
