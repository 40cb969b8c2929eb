import { lex, render } from './safe-html.ts';

/**
 * Writes a growing Markdown text into an element. Blocks that later text can't change are written once
 * and never touched again; only the last block is drawn anew.
 */
export class MarkdownWriter {
  readonly #tail: HTMLElement;
  readonly #root: HTMLElement;
  #open = '';

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#tail = document.createElement('div');
    this.#tail.className = 'tail';
    root.append(this.#tail);
  }

  append(text: string): void {
    this.#open += text;
    const tokens = lex(this.#open);
    const last = tokens.findLastIndex((token) => token.type !== 'space');
    if (last > 0) {
      const settled = tokens.slice(0, last);
      const length = settled.reduce((sum, token) => sum + token.raw.length, 0);
      this.#root.insertBefore(render(settled), this.#tail);
      this.#open = this.#open.slice(length);
    }
    this.#tail.replaceChildren(render(tokens.slice(Math.max(last, 0))));
  }
}
