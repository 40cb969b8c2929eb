import { signal } from '@preact/signals';
import { toggleFold } from '../markdown/code-block.ts';
import type { DrawLater } from '../markdown/draw-later.ts';
import { findText } from './find-text.ts';

/** Of one moment: they are wrong after each change of the text. */
type Matches = readonly StaticRange[];

export interface Found {
  readonly matches: Matches;
  /** Index of the match that is shown. */
  readonly at: number;
}

export interface FinderDeps {
  /** What contains the messages, and scrolls. */
  readonly list: () => HTMLElement | null;
  readonly drawing: DrawLater;
  /** Called when a match is shown: the view no longer follows an answer. */
  readonly stay: () => void;
}

const NOTHING: Found = { matches: [], at: 0 };
/** Pause between two searches of a text that grows, in milliseconds. */
const LOOK_AGAIN_MS = 200;

/** Finds a query in the conversation, also while it grows, highlights the matches and shows one of them. */
export class Finder {
  readonly found = signal(NOTHING);
  readonly #deps: FinderDeps;
  #query = '';
  /** Where the search began, or the match to which the user went. */
  #from: Range | undefined;
  /** The match that is shown. It moves with the text. */
  #shown: Range | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  readonly #changes = new MutationObserver(() => this.#lookSoon());

  constructor(deps: FinderDeps) {
    this.#deps = deps;
  }

  /** Shows the first match from the place on at which the search began. Letters that are typed do not move it. */
  find(query: string): void {
    this.#changes.disconnect();
    clearTimeout(this.#again);
    this.#again = undefined;
    this.#query = query;
    const root = this.#deps.list();
    if (!root || query === '') return this.#set(NOTHING);
    this.#changes.observe(root, { childList: true, subtree: true, characterData: true, attributeFilter: ['open'] });
    const matches = findText(root, query);
    this.#from ??= firstVisible(root);
    this.#show(root, { matches, at: nearest(matches, this.#from) });
  }

  /** Shows the next match, or with -1 the previous one, around the ends. */
  go(step: 1 | -1): void {
    const root = this.#deps.list();
    const { matches, at } = this.found.value;
    if (!root || matches.length === 0) return;
    this.#show(root, { matches, at: (at + step + matches.length) % matches.length }, step);
    this.#from = this.#shown?.cloneRange();
  }

  /** Forgets the place: another conversation is about to be shown. */
  restart(): void {
    this.#from = undefined;
    this.#set(NOTHING);
    this.#lookSoon();
  }

  /** Removes the highlights. */
  close(): void {
    this.find('');
    this.#from = undefined;
  }

  #lookSoon(): void {
    this.#again ??= setTimeout(() => this.#lookAgain(), LOOK_AGAIN_MS);
  }

  #lookAgain(): void {
    this.#again = undefined;
    const root = this.#deps.list();
    if (!root) return;
    const { matches: before } = this.found.value;
    if (before.length > 0) return this.#set(this.#same(findText(root, this.#query)));
    // The earlier messages of a long conversation arrive a moment after the later ones. A user who reads is not moved.
    const matches = findText(root, this.#query);
    const next = { matches, at: nearest(matches, this.#from ?? firstVisible(root)) };
    if (document.activeElement?.closest('.find')) this.#show(root, next);
    else this.#set(next);
  }

  /** The match that is shown, among those of the changed text. One whose text was written again has the same number. */
  #same(matches: Matches): Found {
    const shown = this.#shown;
    const same = shown?.startContainer.isConnected && !shown.collapsed;
    const { at } = this.found.value;
    return { matches, at: same ? nearest(matches, shown) : Math.max(0, Math.min(at, matches.length - 1)) };
  }

  #show(root: HTMLElement, next: Found, step: 1 | -1 = 1): void {
    this.#set(next);
    const undrawn = this.#shown?.startContainer.parentElement?.closest('.undrawn');
    if (undrawn) {
      const after = undrawn.nextElementSibling;
      this.#deps.drawing.draw(undrawn);
      const matches = findText(root, this.#query);
      // Its source may have had others. The number of those before it is the same.
      const last = step === -1 && after ? lastBefore(matches, after) : next.at;
      this.#set({ matches, at: Math.max(0, Math.min(last, matches.length - 1)) });
    }
    if (!this.#shown) return;
    this.#deps.stay();
    reveal(root, this.#shown);
  }

  #set(found: Found): void {
    const match = found.matches[found.at];
    this.found.value = found;
    this.#shown = match && live(match);
    CSS.highlights.set('found', new Highlight(...found.matches));
    const shown = new Highlight(...(this.#shown ? [this.#shown] : []));
    shown.priority = 1;
    CSS.highlights.set('found-shown', shown);
  }
}

function live({ startContainer, startOffset, endContainer, endOffset }: StaticRange): Range {
  const range = document.createRange();
  range.setStart(startContainer, startOffset);
  range.setEnd(endContainer, endOffset);
  return range;
}

/** Index of the first match that does not begin before the place; after the last match, the last one. */
function nearest(matches: Matches, place: Range): number {
  let [low, high] = [0, matches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const match = matches[middle];
    if (match && live(match).compareBoundaryPoints(Range.START_TO_START, place) < 0) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, Math.min(low, matches.length - 1));
}

/** Index of the last match before an element. */
function lastBefore(matches: Matches, element: Element): number {
  const range = document.createRange();
  range.setStartBefore(element);
  const next = nearest(matches, range);
  const match = matches[next];
  return match && live(match).compareBoundaryPoints(Range.START_TO_START, range) < 0 ? next : next - 1;
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
  const folded = element?.closest('pre')?.closest<HTMLElement>('.code.folded');
  if (folded) toggleFold(folded);
  for (let at = element; at && at !== root; at = at.parentElement) scrollInto(at, match);
  // Messages that come into sight get their real height, which moves the others.
  let frames = 3;
  const centre = () => {
    scrollInto(root, match);
    frames -= 1;
    if (frames > 0) requestAnimationFrame(centre);
  };
  centre();
}

/** Above the text of a code block is its bar, in pixels. */
const MARGIN = 32;

/** Scrolls an element that can be scrolled, if the match is not in sight in it. */
function scrollInto(element: Element, match: Range): void {
  const { overflowX, overflowY } = getComputedStyle(element);
  const frame = element.getBoundingClientRect();
  const box = match.getBoundingClientRect();
  if (box.height === 0) return;
  const hidden = box.top < frame.top + MARGIN || box.bottom > frame.bottom;
  if (/auto|scroll/.test(overflowY) && hidden) element.scrollTop += box.top - frame.top - frame.height / 3;
  const beside = box.left < frame.left || box.right > frame.right;
  if (/auto|scroll/.test(overflowX) && beside) element.scrollLeft += box.left - frame.left - frame.width / 3;
}
