import { signal } from '@preact/signals';
import { toggleFold } from '../markdown/code-block.ts';
import type { DrawLater } from '../markdown/draw-later.ts';
import { findText } from './find-text.ts';

export interface Found {
  readonly matches: readonly Range[];
  /** Index of the match that is shown. */
  readonly at: number;
}

const NOTHING: Found = { matches: [], at: 0 };
/** Pause between two searches of a text that grows, in milliseconds. */
const LOOK_AGAIN_MS = 200;
/** Height of the bar over the text, in pixels. */
const BAR = 48;

/** Finds a query in the conversation, also while it grows, highlights the matches and shows one of them. */
export class Finder {
  readonly found = signal(NOTHING);
  readonly #list: () => HTMLElement | null;
  readonly #drawing: DrawLater;
  #query = '';
  /** Where the search began, or the match to which the user went. */
  #from: Range | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  readonly #changes = new MutationObserver(() => {
    this.#again ??= setTimeout(() => this.#lookAgain(), LOOK_AGAIN_MS);
  });

  /** @param list what contains the messages, and scrolls. */
  constructor(list: () => HTMLElement | null, drawing: DrawLater) {
    this.#list = list;
    this.#drawing = drawing;
  }

  /** Shows the first match from the place on at which the search began. Letters that are typed do not move it. */
  find(query: string): void {
    this.#changes.disconnect();
    clearTimeout(this.#again);
    this.#again = undefined;
    this.#query = query;
    const root = this.#list();
    if (!root || query === '') return this.#set(NOTHING);
    this.#changes.observe(root, { childList: true, subtree: true, characterData: true });
    const matches = findText(root, query);
    this.#from ??= firstVisible(root);
    this.#show(root, { matches, at: nearest(matches, this.#from) });
  }

  /** Shows the next match, or with -1 the previous one, around the ends. */
  go(step: 1 | -1): void {
    const root = this.#list();
    const { matches, at } = this.found.value;
    if (!root || matches.length === 0) return;
    this.#show(root, { matches, at: (at + step + matches.length) % matches.length });
    [this.#from] = shownOf(this.found.value);
  }

  /** Removes the highlights. */
  close(): void {
    this.find('');
    this.#from = undefined;
  }

  #lookAgain(): void {
    this.#again = undefined;
    const root = this.#list();
    if (!root) return;
    const before = this.found.value;
    if (before.matches.length > 0) return this.#set(again(root, this.#query, before));
    // The earlier messages of a long conversation arrive a moment after the later ones.
    const matches = findText(root, this.#query);
    this.#show(root, { matches, at: nearest(matches, this.#from ?? firstVisible(root)) });
  }

  #show(root: HTMLElement, next: Found): void {
    this.#set(next);
    const [match] = shownOf(next);
    const undrawn = match?.startContainer.parentElement?.closest('.undrawn');
    if (undrawn) {
      this.#drawing.draw(undrawn);
      this.#set(again(root, this.#query, next));
    }
    const [drawn] = shownOf(this.found.value);
    if (drawn) reveal(root, drawn);
  }

  #set(found: Found): void {
    this.found.value = found;
    CSS.highlights.set('found', new Highlight(...found.matches));
    const shown = new Highlight(...shownOf(found));
    shown.priority = 1;
    CSS.highlights.set('found-shown', shown);
  }
}

/** The match that is shown, if any. */
function shownOf({ matches, at }: Found): readonly Range[] {
  return matches.slice(at, at + 1);
}

/** The same match in a text that has changed. A match whose text was written again has the same number. */
function again(root: Element, query: string, before: Found): Found {
  const matches = findText(root, query);
  const [shown] = shownOf(before);
  const same = shown?.startContainer.isConnected && !shown.collapsed;
  return { matches, at: same ? nearest(matches, shown) : Math.max(0, Math.min(before.at, matches.length - 1)) };
}

/** Index of the first match that does not begin before the place; after the last match, the last one. */
function nearest(matches: readonly Range[], place: Range): number {
  const index = matches.findIndex((match) => match.compareBoundaryPoints(Range.START_TO_START, place) >= 0);
  return index === -1 ? Math.max(0, matches.length - 1) : index;
}

/** The first message of which something is visible. */
function firstVisible(root: Element): Range {
  const { top } = root.getBoundingClientRect();
  const messages = [...(root.firstElementChild?.children ?? [])];
  const range = document.createRange();
  range.selectNode(messages.find((each) => each.getBoundingClientRect().bottom > top) ?? root);
  return range;
}

/** Unfolds and scrolls until the match is in sight. */
function reveal(root: HTMLElement, match: Range): void {
  const element = match.startContainer.parentElement;
  const folded = element?.closest<HTMLElement>('.code.folded');
  if (folded) toggleFold(folded);
  for (let at = element; at && at !== root; at = at.parentElement) {
    if (at.scrollWidth > at.clientWidth) scrollSideways(at, match);
  }
  // Messages that come into sight get their real height, which moves the others.
  let frames = 3;
  const centre = () => {
    const frame = root.getBoundingClientRect();
    const box = match.getBoundingClientRect();
    const hidden = box.top < frame.top + BAR || box.bottom > frame.bottom;
    if (hidden) root.scrollTop += box.top - frame.top - frame.height / 3;
    frames -= 1;
    if (frames > 0) requestAnimationFrame(centre);
  };
  centre();
}

function scrollSideways(element: Element, match: Range): void {
  const frame = element.getBoundingClientRect();
  const box = match.getBoundingClientRect();
  if (box.left < frame.left || box.right > frame.right) element.scrollLeft += box.left - frame.left - frame.width / 3;
}
