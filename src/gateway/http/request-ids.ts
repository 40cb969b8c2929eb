import { randomBytes } from 'node:crypto';

/** Ids per batch. Random bytes and their digits for each id alone would cost more than the rest of its creation. */
const BATCH_SIZE = 256;
const TIME_DIGITS = 12;
const RANDOM_DIGITS = 20;

/** Creates request ids that can't be guessed, in the order of time. */
export class RequestIds {
  #digits = '';
  #used = 0;
  #now = 0;
  #time = '';

  /**
   * `req_` and 32 hexadecimal digits, as in OpenAI's API: 48 bits of the time in milliseconds, as in UUID version 7
   * (RFC 9562), and 80 random bits. With random ids alone, each row of the ledger would change a page of its own in the
   * index of ids: that takes three times as long.
   */
  next(): string {
    if (this.#used === this.#digits.length) {
      this.#digits = randomBytes((BATCH_SIZE * RANDOM_DIGITS) / 2).toString('hex');
      this.#used = 0;
    }
    const now = Date.now();
    if (now !== this.#now) {
      this.#now = now;
      this.#time = now.toString(16).padStart(TIME_DIGITS, '0');
    }
    const start = this.#used;
    this.#used += RANDOM_DIGITS;
    return `req_${this.#time}${this.#digits.slice(start, this.#used)}`;
  }
}
