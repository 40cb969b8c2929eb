import { foldLongBlock, openCodeBlock } from './code-block.ts';
import { dress } from './dress.ts';
import { FenceWriter, openFence } from './fence-writer.ts';
import { highlightWhenIdle, withHighlighter } from './highlight.ts';
import {
  type Definitions,
  fenceFile,
  fenceLanguage,
  lex,
  noDefinitions,
  render,
  showControls,
  type Token,
} from './safe-html.ts';

interface FinalBlock {
  readonly raw: string;
  readonly nodes: readonly ChildNode[];
}

interface OpenBlock {
  readonly writer: FenceWriter;
  readonly block: HTMLElement;
  readonly code: HTMLElement;
  readonly language: string;
}

/**
 * Writes a growing Markdown text into an element. Blocks that later text cannot change are written once. Only the last
 * block is rendered again, and an open fence grows line by line.
 *
 * After `end`, the element has the same content as if the whole text had been rendered at once.
 */
export class MarkdownWriter {
  readonly #root: HTMLElement;
  /** Final link definitions, without those of the last block. */
  #definitions: Definitions = noDefinitions();
  /** Final blocks that a later link definition can still change. */
  readonly #mayLink: FinalBlock[] = [];
  /** The nodes of the last block. */
  #tail: ChildNode[] = [];
  #open = '';
  #heldReturn = '';
  #fence: OpenBlock | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  append(text: string): void {
    // A carriage return at the end may be the first half of a line break.
    const whole = this.#heldReturn + text;
    this.#heldReturn = whole.endsWith('\r') ? '\r' : '';
    const kept = this.#heldReturn === '' ? whole : whole.slice(0, -1);
    this.#take(kept.replace(/\r\n?/g, '\n'));
  }

  #take(text: string): void {
    if (this.#fence) {
      const rest = this.#fence.writer.append(showControls(text));
      if (rest === undefined) return;
      this.#closeFence();
      this.#open = rest.replace(/^\n/, '');
    } else this.#open += text;
    this.#draw(false);
  }

  /** The text is complete: shows the text that is not shown yet. */
  end(): void {
    if (this.#heldReturn !== '') this.#take('\n');
    this.#heldReturn = '';
    if (this.#fence) {
      this.#fence.writer.end();
      this.#closeFence();
    } else this.#draw(true);
  }

  #draw(last: boolean): void {
    this.#writeFinal();
    const fence = last ? undefined : openFence(this.#open);
    if (fence) return this.#beginFence(fence);
    this.#clearTail();
    const tokens = lex(this.#open, this.#definitions);
    if (last) this.#define(tokens.links);
    this.#tail = this.#put(tokens, last);
  }

  /** Writes the blocks that later text cannot change. */
  #writeFinal(): void {
    // Ignore the incomplete line, because its type may still change.
    const complete = this.#open.slice(0, this.#open.lastIndexOf('\n') + 1);
    if (complete === '') return;
    const tokens = lex(complete, this.#definitions);
    const at = tokens.findLastIndex((token) => token.type !== 'space');
    // The title of a definition may be on the next line.
    if (at < 1 || tokens[at - 1]?.type === 'def') return;
    const source = tokens
      .slice(0, at)
      .map(({ raw }) => raw)
      .join('');
    const alone = lex(source, this.#definitions);
    // A later block can decide about one before it. Then its reading with the last block holds.
    const settled = sameBlocks(alone, tokens.slice(0, at)) ? alone : tokens.slice(0, at);
    this.#clearTail();
    for (const token of settled) {
      const nodes = this.#put([token], true);
      if (token.raw.includes('[') && token.type !== 'code' && token.type !== 'html') {
        this.#mayLink.push({ raw: token.raw, nodes });
      }
    }
    this.#define(alone.links);
    this.#open = this.#open.slice(source.length);
  }

  #define(links: Definitions): void {
    const known = Object.keys(this.#definitions).length;
    this.#definitions = links;
    if (Object.keys(links).length > known) this.#linkAgain();
  }

  /** Renders blocks again whose link definition came later. */
  #linkAgain(): void {
    for (const [index, { raw, nodes }] of this.#mayLink.entries()) {
      const [first] = nodes;
      if (!first) continue;
      const place = document.createComment('');
      first.before(place);
      for (const node of nodes) node.remove();
      const fragment = this.#fragment(lex(raw, this.#definitions), true);
      this.#mayLink[index] = { raw, nodes: [...fragment.childNodes] };
      place.replaceWith(fragment);
    }
  }

  #beginFence(fence: NonNullable<ReturnType<typeof openFence>>): void {
    this.#clearTail();
    const language = fenceLanguage(fence.info);
    const { block, code } = openCodeBlock(language, fenceFile(fence.info));
    this.#root.append(block);
    const opened = { writer: new FenceWriter(code, fence), block, code, language };
    this.#fence = opened;
    withHighlighter(language, (highlight) => {
      if (this.#fence === opened && code.isConnected) opened.writer.colourWith(highlight);
    });
    const text = this.#open.slice(fence.length);
    this.#open = '';
    this.#take(text);
  }

  #closeFence(): void {
    const closed = this.#fence;
    this.#fence = undefined;
    if (!closed) return;
    highlightWhenIdle(closed.code, closed.language);
    foldLongBlock(closed.block, false);
  }

  #put(tokens: Token[], colour: boolean): ChildNode[] {
    const fragment = this.#fragment(tokens, colour);
    const nodes = [...fragment.childNodes];
    this.#root.append(fragment);
    return nodes;
  }

  #fragment(tokens: Token[], colour: boolean): DocumentFragment {
    const fragment = render(tokens);
    dress(fragment, colour);
    return fragment;
  }

  #clearTail(): void {
    for (const node of this.#tail) node.remove();
    this.#tail = [];
  }
}

function sameBlocks(some: readonly Token[], others: readonly Token[]): boolean {
  const types = (tokens: readonly Token[]) => tokens.flatMap(({ type }) => (type === 'space' ? [] : [type])).join();
  return types(some) === types(others);
}

/** One block of each type, without code to colour. */
const SAMPLE = '# a\n\n- b **c** `d` [e](https://f.example)\n\n> g\n\n| h |\n|---|\n| i |\n\n```\nj\n```\n';

/** Renders a sample, so that the browser has compiled the code before the first answer. */
export function warmUp(): void {
  writeWhole(document.createElement('div'), SAMPLE);
}

/** Writes a complete text at once. `MarkdownWriter` must produce the same content. */
export function writeWhole(root: HTMLElement, text: string): void {
  const fragment = render(lex(text));
  dress(fragment, true);
  root.append(fragment);
}
