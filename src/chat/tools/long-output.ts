/** A text without its middle. Beginning and end are kept, because errors are in both. */
export function cutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = Math.floor(max / 2);
  return joined(text.slice(0, head), text.length - max, text.slice(text.length - (max - head)));
}

/** Collects output, and keeps at most `max` characters of its beginning and end. */
export class LongOutput {
  readonly #max: number;
  #head = '';
  #tail = '';
  #omitted = 0;

  constructor(max: number) {
    this.#max = max;
  }

  append(text: string): void {
    const room = Math.max(0, this.#max / 2 - this.#head.length);
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    // Cut rarely, because each cut copies the text.
    if (this.#tail.length > this.#max) this.#cut();
  }

  get text(): string {
    this.#cut();
    return this.#omitted === 0 ? this.#head + this.#tail : joined(this.#head, this.#omitted, this.#tail);
  }

  #cut(): void {
    const excess = Math.max(0, this.#tail.length - this.#max / 2);
    this.#omitted += excess;
    this.#tail = this.#tail.slice(excess);
  }
}

function joined(head: string, omitted: number, tail: string): string {
  return `${head}\n[… ${omitted.toLocaleString('en-US')} characters left out …]\n${tail}`;
}
