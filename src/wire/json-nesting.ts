const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Finds the end of a JSON object or list that arrives in pieces. Each character is read once. */
export class JsonNesting {
  /** Whether the value is complete; undefined before its first bracket. */
  ended: boolean | undefined;
  /** Whether other characters than white space follow the end. */
  trailing = false;
  #depth = 0;
  #inText = false;
  #escaped = false;

  push(json: string): void {
    for (let at = 0; at < json.length; at += 1) {
      if (this.ended === true) {
        this.trailing ||= json.slice(at).trim() !== '';
        return;
      }
      const code = json.charCodeAt(at);
      if (this.#inText) this.#text(code);
      else if (code === QUOTE) this.#inText = true;
      else this.#bracket(code);
    }
  }

  #text(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === BACKSLASH) this.#escaped = true;
    else if (code === QUOTE) this.#inText = false;
  }

  #bracket(code: number): void {
    if (code === 0x7b || code === 0x5b) {
      this.#depth += 1;
      this.ended = false;
    } else if (code === 0x7d || code === 0x5d) {
      this.#depth -= 1;
      this.ended = this.#depth <= 0;
    }
  }
}
