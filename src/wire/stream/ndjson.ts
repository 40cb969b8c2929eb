import type { Frame } from '../format.ts';
import { refuseEndless } from './sse.ts';

/** Converts newline-delimited JSON (Ollama) to frames, one per line. */
export class NdjsonDecoder {
  readonly #decoder = new TextDecoder();
  #line: string[] = [];
  #held = 0;

  /** @throws SvcError upstream_invalid_response if a line is too large. */
  push(bytes: Uint8Array): readonly Frame[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): readonly Frame[] {
    return this.#read(`${this.#decoder.decode()}\n`);
  }

  #read(text: string): readonly Frame[] {
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    const frames: Frame[] = [];
    for (const line of lines) {
      const data = (this.#line.length > 0 ? this.#line.join('') + line : line).trim();
      this.#line = [];
      this.#held = 0;
      if (data !== '') frames.push({ data });
    }
    if (rest !== '') {
      this.#held += rest.length;
      refuseEndless(this.#held);
      this.#line.push(rest);
    }
    return frames;
  }
}
