import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;

/** Makes ids of requests that nobody can guess. */
export class RequestIds {
  /** Random bytes for many: asking for those of one, and putting its text together, takes three times as long. */
  readonly #random = Buffer.alloc(ID_BYTES * 256);
  #used = this.#random.length;

  /** `req_` and 32 hexadecimal digits, as OpenAI has it. */
  next(): string {
    if (this.#used === this.#random.length) {
      randomFillSync(this.#random);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += ID_BYTES;
    return `req_${this.#random.toString('hex', start, this.#used)}`;
  }
}
