import type { Page } from 'playwright-core';

/** What is seen of next edits, in milliseconds of the page. */
export interface Sight {
  /** The next edit that is on screen now: the text of its label, or its ghost text. */
  readonly offer: string;
  /** How it is accepted. */
  readonly ghost: boolean;
  /** From the last key to the moment when it appeared. */
  readonly waited: number;
  /** Untouched lines that moved by a pixel or more when it appeared. */
  readonly moved: number;
}

/** A line of the page: its text and the place of its first and last character. */
type Place = readonly [text: string, top: number, left: number, right: number, touched: boolean];

/** Runs in the page: notes the last key, and for each next edit when it appeared and what moved. */
function record(): void {
  const labelled = (content: string) => content.includes('Tab:') || content.includes('⌃⌥L:');
  const offered = (): { readonly offer: string; readonly ghost: boolean } => {
    const ghost = [...document.querySelectorAll('.view-lines .ghost-text-decoration, .view-lines .ghost-text')];
    const text = ghost.map((element) => element.textContent ?? '').join('');
    if (text !== '') return { offer: text, ghost: true };
    for (const span of document.querySelectorAll('.editor-instance .view-line span')) {
      const { content } = getComputedStyle(span, '::after');
      if (labelled(content)) return { offer: content, ghost: false };
    }
    return { offer: '', ghost: false };
  };
  const placeOf = (line: Element): Place => {
    const range = document.createRange();
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    let [text, left, right] = ['', Number.NaN, Number.NaN];
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (Number.isNaN(left)) left = box.left;
      right = box.right;
      text += node.textContent ?? '';
    }
    const touched = [...line.querySelectorAll('span')].some((span) => {
      const { content } = getComputedStyle(span, '::after');
      const drawn = content.startsWith('"') && content !== '""' && !labelled(content);
      const removed = getComputedStyle(span).textDecorationLine.includes('line-through');
      return drawn || removed || span.className.includes('ghost-text');
    });
    return [text, line.getBoundingClientRect().top, left, right, touched];
  };
  const places = () => [...document.querySelectorAll('.editor-instance .view-lines .view-line')].map(placeOf);
  const apart = (a: number, b: number) => Math.abs(a - b) >= 1;
  /** Lines that are drawn elsewhere. A line whose text has changed was typed or accepted. */
  const movedBetween = (before: readonly Place[], now: readonly Place[]): number =>
    before.filter(([text, top, left, right]) => {
      if (text.trim() === '') return false;
      const same = now.find((line) => !apart(line[1], top));
      if (same?.[0] === text) return !same[4] && (apart(left, same[2]) || apart(right, same[3]));
      const once = before.filter((line) => line[0] === text).length === 1;
      return once && now.some((line) => line[0] === text);
    }).length;

  const state = {
    key: performance.now(),
    looked: 0,
    before: places(),
    sight: { offer: '', ghost: false, waited: 0, moved: 0 },
  };
  const look = (): void => {
    const found = offered();
    if (found.offer === state.sight.offer) {
      if (found.offer === '') Object.assign(state, { before: places(), looked: performance.now() });
      return;
    }
    const appeared = state.sight.offer === '' && found.offer !== '';
    // A key since the last look may have moved lines itself.
    const since = state.key < state.looked ? movedBetween(state.before, places()) : 0;
    const moved = appeared ? since : state.sight.moved;
    state.sight = { ...found, waited: appeared ? performance.now() - state.key : state.sight.waited, moved };
  };
  document.addEventListener(
    'keydown',
    () => {
      state.key = performance.now();
    },
    true,
  );
  // Labels are drawn by rules of a style sheet, so that the page itself does not change.
  const watch = (): void => {
    look();
    requestAnimationFrame(watch);
  };
  watch();
  Object.assign(globalThis, { nextEditSight: () => state.sight });
}

export async function watchOffers(page: Page): Promise<void> {
  // The compiler's name helper doesn't exist in the page.
  await page.evaluate(`(${record})()`);
}

export function sightOf(page: Page): Promise<Sight> {
  return page.evaluate('nextEditSight()');
}
