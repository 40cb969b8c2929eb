/** Lines that are coloured at a time: about 8 ms of work. */
const LINES = 120;
/** Longer code is not coloured. */
const MAX_CHARACTERS = 200_000;

type Highlighter = (code: string, language: string) => string | undefined;

const waiting: (() => void)[] = [];
let loaded: Promise<Highlighter> | undefined;
let scheduled = false;

/** Passes on a function that colours code of a language, when it is loaded. Does nothing for an unknown language. */
export function withHighlighter(
  language: string,
  use: (highlight: (code: string) => string | undefined) => void,
): void {
  if (language === '') return;
  load();
  void loaded?.then((highlight) => {
    if (highlight('', language) !== undefined) use((code) => highlight(code, language));
  });
}

function load(): void {
  loaded ??= import('./highlighter.ts').then((module) => module.highlight);
}

/** Colours code in idle time. Skips code that has been removed from the page by then. */
export function highlightWhenIdle(code: HTMLElement, language: string): void {
  const text = code.textContent ?? '';
  if (language === '' || text === '' || text.length > MAX_CHARACTERS) return;
  load();
  void loaded?.then((highlight) => {
    if (!code.isConnected || highlight('', language) === undefined) return;
    const coloured: DocumentFragment = document.createDocumentFragment();
    const pieces = splitPieces(text);
    pieces.forEach((piece, index) => {
      waiting.push(() => {
        coloured.append(colouredPiece(highlight, piece, language));
        // Replace the whole block at the end, to avoid flicker.
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
  // highlight.js escapes its input: its output has only spans with its own classes.
  else block.innerHTML = html;
  return block;
}

/** Splits code into pieces, if possible before a line without indentation, where a construct rarely continues. */
function splitPieces(text: string): string[] {
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
