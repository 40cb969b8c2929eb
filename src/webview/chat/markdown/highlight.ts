/** Lines that are coloured in one go: about 8 ms of work. */
const LINES = 120;
/** Longer code stays plain. */
const MAX_CHARACTERS = 200_000;

type Highlighter = (code: string, language: string) => string | undefined;

const waiting: (() => void)[] = [];
let loaded: Promise<Highlighter> | undefined;
let scheduled = false;

/** Colours code once, when there is time. Code that has left the page by then is left alone. */
export function highlightWhenIdle(code: HTMLElement, language: string): void {
  const text = code.textContent ?? '';
  if (language === '' || text === '' || text.length > MAX_CHARACTERS) return;
  loaded ??= import('./highlighter.ts').then((module) => module.highlight);
  void loaded.then((highlight) => {
    if (!code.isConnected || highlight('', language) === undefined) return;
    const coloured: DocumentFragment = document.createDocumentFragment();
    const pieces = piecesOf(text);
    pieces.forEach((piece, index) => {
      waiting.push(() => {
        coloured.append(colouredPiece(highlight, piece, language));
        // In one go at the end: half a coloured block would be a flicker.
        if (index === pieces.length - 1 && code.isConnected && code.textContent === text)
          code.replaceChildren(coloured);
      });
    });
    schedule();
  });
}

function colouredPiece(highlight: Highlighter, piece: string, language: string): HTMLElement {
  const block = document.createElement('span');
  block.className = 'lines';
  const html = highlight(piece, language);
  if (html === undefined) block.textContent = piece;
  // highlight.js escapes what it is given: its output holds spans with its own classes alone.
  else block.innerHTML = html;
  return block;
}

/** Pieces that end before a line at the margin where there is one: less is cut through there. */
function piecesOf(text: string): string[] {
  const lines = text.split('\n');
  const pieces: string[] = [];
  for (let from = 0; from < lines.length; ) {
    let to = Math.min(lines.length, from + LINES);
    if (to < lines.length) {
      const blank = lines.slice(from + LINES / 2, to).findLastIndex((line) => line.trim() === '');
      if (blank !== -1) to = from + LINES / 2 + blank + 1;
    }
    pieces.push(`${lines.slice(from, to).join('\n')}${to < lines.length ? '\n' : ''}`);
    from = to;
  }
  return pieces;
}

function schedule(): void {
  if (scheduled || waiting.length === 0) return;
  scheduled = true;
  requestIdleCallback(
    (deadline) => {
      scheduled = false;
      do waiting.shift()?.();
      while (waiting.length > 0 && deadline.timeRemaining() > 10);
      schedule();
    },
    { timeout: 2000 },
  );
}
