import { longestPaths, pathsInText } from '../../../chat/page/path-link.ts';
import type { ChatHost } from '../host-link.ts';

/** Number of paths that are looked up for one part of an answer. */
const MAX_PATHS = 120;

/**
 * Turns the paths of finished answers into links. The host is asked which of them are files of the workspace; others
 * stay plain text.
 */
export class PathLinks {
  readonly #link: ChatHost;
  /** Undefined: the host has not answered yet. */
  readonly #known = new Map<string, boolean | undefined>();
  readonly #waiting = new Set<HTMLElement>();

  constructor(link: ChatHost) {
    this.#link = link;
  }

  /** Looks up the paths of a finished part. */
  check(root: HTMLElement): void {
    const paths = [...new Set([...marked(root), ...inTexts(root)])].slice(0, MAX_PATHS);
    if (paths.length === 0) return;
    this.#waiting.add(root);
    const unknown = paths.filter((path) => !this.#known.has(path));
    for (const path of unknown) this.#known.set(path, undefined);
    if (unknown.length > 0) this.#link.post({ type: 'check-paths', paths: unknown });
    else this.#draw();
  }

  /** @param found the paths among `paths` that are files of the workspace. */
  receive(paths: readonly string[], found: readonly string[]): void {
    for (const path of paths) this.#known.set(path, found.includes(path));
    this.#draw();
  }

  #draw(): void {
    for (const root of this.#waiting) {
      this.#waiting.delete(root);
      if (root.isConnected) this.#drawIn(root);
    }
  }

  #drawIn(root: HTMLElement): void {
    for (const element of root.querySelectorAll<HTMLElement>('[data-path]')) {
      if (this.#known.get(element.dataset.path ?? '') === true) dressLink(element);
    }
    for (const node of texts(root)) this.#drawInText(node);
  }

  #drawInText(node: Text): void {
    const found = longestPaths(pathsInText(node.data).filter(({ text }) => this.#known.get(text) === true));
    for (const { text, index } of found.toReversed()) {
      const link = document.createElement('span');
      link.dataset.path = text;
      link.textContent = text;
      dressLink(link);
      const rest = node.splitText(index);
      rest.data = rest.data.slice(text.length);
      rest.before(link);
    }
  }
}

function dressLink(element: HTMLElement): void {
  element.classList.add('path');
  element.setAttribute('role', 'link');
  element.tabIndex = 0;
  element.title = element.dataset.path ?? '';
}

function marked(root: HTMLElement): string[] {
  return [...root.querySelectorAll<HTMLElement>('[data-path]')].map(({ dataset }) => dataset.path ?? '');
}

function inTexts(root: HTMLElement): string[] {
  return texts(root).flatMap(({ data }) => pathsInText(data).map(({ text }) => text));
}

/** Running text: not code, links and formulas. */
function texts(root: HTMLElement): Text[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Text && node.data.includes('.') && !node.parentElement?.closest('pre, code, a, .math, .path')) {
      found.push(node);
    }
  }
  return found;
}
