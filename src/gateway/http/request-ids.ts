import { randomBytes } from 'node:crypto';

/** Ids that are made at once: asking for the random bytes of one, and for their digits, costs more than the rest. */
const AT_ONCE = 256;
const DIGITS = 32;

/** Makes ids of requests that nobody can guess. */
export class RequestIds {
  #digits = '';
  #used = 0;

  /** `req_` and 32 hexadecimal digits, as OpenAI has it. */
  next(): string {
    if (this.#used === this.#digits.length) {
      this.#digits = randomBytes((AT_ONCE * DIGITS) / 2).toString('hex');
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += DIGITS;
    return `req_${this.#digits.slice(start, this.#used)}`;
  }
}
