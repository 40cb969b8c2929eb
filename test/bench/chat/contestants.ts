import DOMPurify from 'dompurify';
import { marked } from 'marked';
import { MarkdownWriter } from '../../../src/webview/chat/markdown/markdown-writer.ts';

interface Contestant {
  append(text: string): void;
}

/** Renders the whole message again at each delta, as most panels do. */
class Plain implements Contestant {
  readonly #root: HTMLElement;
  #text = '';

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  append(text: string): void {
    this.#text += text;
    this.#root.innerHTML = DOMPurify.sanitize(marked.parse(this.#text, { async: false }));
  }

  /** Estimated time of the deltas between two samples. */
  skip(text: string): void {
    this.#text += text;
  }
}

export interface Round {
  /** Milliseconds of each delta that was run, script and layout. */
  readonly times: readonly number[];
  readonly ran: number;
  readonly deltas: number;
}

/** Streams a text in deltas of four characters, with the layout of each; of `plain`, each `every`-th is run. */
async function stream(kind: 'writer' | 'plain', text: string, every: number): Promise<Round> {
  const scroller = document.createElement('div');
  scroller.style.cssText = 'height:700px;width:420px;overflow:auto';
  const root = document.createElement('div');
  root.className = 'markdown';
  scroller.append(root);
  document.body.replaceChildren(scroller);
  const plain = new Plain(root);
  const contestant: Contestant = kind === 'plain' ? plain : new MarkdownWriter(root);
  const times: number[] = [];
  const deltas = Math.ceil(text.length / 4);
  for (let delta = 0; delta < deltas; delta++) {
    const piece = text.slice(delta * 4, delta * 4 + 4);
    if (kind === 'plain' && delta % every !== every - 1) {
      plain.skip(piece);
      continue;
    }
    const before = performance.now();
    contestant.append(piece);
    scroller.scrollTop = scroller.scrollHeight;
    times.push(performance.now() - before);
    if (times.length % 200 === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return { times, ran: times.length, deltas };
}

Object.assign(window, { stream });
