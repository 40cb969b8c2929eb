import { randomBytes } from 'node:crypto';

/** Ids per batch. Random bytes and their digits for each id alone would cost more than the rest of its creation. */
const BATCH_SIZE = 256;
const DIGITS = 32;

/** Creates request ids that can't be guessed. */
export class RequestIds {
  #digits = '';
  #used = 0;

  /** `req_` and 32 hexadecimal digits, as in OpenAI's API. */
  next(): string {
    if (this.#used === this.#digits.length) {
      this.#digits = randomBytes((BATCH_SIZE * DIGITS) / 2).toString('hex');
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += DIGITS;
    return `req_${this.#digits.slice(start, this.#used)}`;
  }
}
