/** More matches are neither counted nor highlighted. */
export const MAX_MATCHES = 10_000;

/**
 * Not within a line of text: a match may begin in one inline element and end in another, but not in another block. The
 * parts of a tool's head are side by side.
 */
const BLOCK = ':not(a, b, code, del, em, i, kbd, s, span, strong, sub, sup, u), .head > span';
/** What belongs to the page and not to the conversation. */
const OTHER = 'button:not(.file), .code-bar, .under, .empty, .unseen';
/** Between two blocks of text. A query can’t contain it. */
const GAP = '\0';

/** The visible places below `root` that contain the query, in their order, without regard to case and kind of space. */
export function findText(root: Element, query: string): readonly StaticRange[] {
  const wanted = fold(query);
  if (wanted === '') return [];
  const ranges: StaticRange[] = [];
  const { nodes, starts, text } = flatten(root);
  let at = 0;
  /** The node that contains the position. Positions only grow. A line break is the end of the node before it. */
  const place = (position: number) => {
    while (at + 1 < nodes.length && (starts[at + 1] ?? 0) <= position) at += 1;
    const container = nodes[at];
    return { container: container ?? root, offset: Math.min(position - (starts[at] ?? 0), container?.length ?? 0) };
  };
  for (let from = text.indexOf(wanted); from !== -1; from = text.indexOf(wanted, from + wanted.length)) {
    if (ranges.length === MAX_MATCHES) break;
    const { container: startContainer, offset: startOffset } = place(from);
    const { container: endContainer, offset } = place(from + wanted.length - 1);
    const endOffset = Math.min(offset + 1, endContainer instanceof Text ? endContainer.length : 0);
    ranges.push(new StaticRange({ startContainer, startOffset, endContainer, endOffset }));
  }
  return ranges;
}

interface Flat {
  readonly nodes: readonly Text[];
  /** Position of each node in `text`. */
  readonly starts: readonly number[];
  readonly text: string;
}

function flatten(root: Element): Flat {
  const nodes: Text[] = [];
  const starts: number[] = [];
  const pieces: string[] = [];
  let length = 0;
  let block: Element | null = null;
  let visible = false;
  const add = (piece: string) => {
    pieces.push(piece);
    length += piece.length;
  };
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeName === 'BR' && nodes.length > 0) add(' ');
    const parent = node.parentElement;
    if (!(node instanceof Text) || !parent) continue;
    const own = parent.closest(BLOCK);
    if (own !== block) {
      block = own;
      visible = own?.checkVisibility() === true && !own.closest(OTHER);
      if (visible) add(GAP);
    }
    if (!visible || parent.closest('.unseen')) continue;
    nodes.push(node);
    starts.push(length);
    add(fold(node.data));
  }
  return { nodes, starts, text: pieces.join('') };
}

/** Has the length of the text, so that a position in one is a position in the other. */
function fold(text: string): string {
  const spaced = text.replace(/\s/g, ' ');
  const lower = spaced.toLowerCase();
  if (lower.length === spaced.length) return lower;
  // "İ" becomes two characters.
  return [...spaced].map((each) => (each.toLowerCase().length === each.length ? each.toLowerCase() : each)).join('');
}
