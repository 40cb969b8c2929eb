import type { Page } from 'playwright-core';

/** What happened in the page, in its own milliseconds. */
export type ScreenEvent =
  | { readonly kind: 'key'; readonly at: number; readonly key: string }
  | { readonly kind: 'ghost'; readonly at: number; readonly text: string };

/** Runs in the page: notes each key and each change of the ghost text. */
function record(): void {
  const events: ScreenEvent[] = [];
  const read = (element: Element): string => (element.textContent ?? '').replaceAll('\u00a0', ' ');
  const ghost = (): string => {
    const classes = ['ghost-text-decoration', 'ghost-text-decoration-preview', 'ghost-text'];
    const inline = document.querySelectorAll(classes.map((one) => `.view-lines .${one}`).join());
    const below = document.querySelectorAll('.suggest-preview-text .view-line');
    return [[...inline].map(read).join(''), ...[...below].map(read)].join('\n');
  };
  let shown = ghost();
  // Text between two changes of one frame was never visible: count the text at the end of the frame,
  // or when a key comes before that.
  let changing: { readonly at: number } | undefined;
  const settle = (change: { readonly at: number } | undefined): void => {
    if (change === undefined || change !== changing) return;
    changing = undefined;
    const text = ghost();
    if (text === shown) return;
    shown = text;
    events.push({ kind: 'ghost', at: change.at, text });
  };
  const changed = (): void => {
    if (changing !== undefined) return;
    const change = { at: performance.now() };
    changing = change;
    setTimeout(() => settle(change), 0);
  };
  const pressed = ({ key }: KeyboardEvent): void => {
    settle(changing);
    events.push({ kind: 'key', at: performance.now(), key });
  };
  document.addEventListener('keydown', pressed, true);
  new MutationObserver(changed).observe(document.body, { subtree: true, childList: true, characterData: true });
  Object.assign(globalThis, {
    typistEvents: events,
    typistNow: () => ({
      text: shown,
      forMs: performance.now() - (events.findLast(({ kind }) => kind === 'ghost')?.at ?? 0),
    }),
  });
}

export async function watchScreen(page: Page): Promise<void> {
  // The compiler's name helper doesn't exist in the page.
  await page.evaluate(`(${record})()`);
}

/** The ghost text on screen and for how long it has not changed. */
export async function ghostNow(page: Page): Promise<{ readonly text: string; readonly forMs: number }> {
  return page.evaluate('typistNow()');
}

export async function takeEvents(page: Page): Promise<readonly ScreenEvent[]> {
  return page.evaluate('typistEvents.splice(0)');
}

export interface ScreenFigures {
  /** Milliseconds from a key to ghost text, for keys that were followed by it before the next key. */
  readonly waits: readonly number[];
  /** Ghost text that was replaced although the typed text matched it. */
  readonly flicker: number;
  /** Ghost text which matched the typed text and was gone for 40 ms or more: the key, what was shown, for how long. */
  readonly gone: readonly string[];
}

/** Shorter gaps are two frames: they are not seen. */
const SEEN_MS = 40;

/** Reads the events of one typed part. */
export function figuresOf(events: readonly ScreenEvent[]): ScreenFigures {
  const waits: number[] = [];
  let flicker = 0;
  const gone: string[] = [];
  let key = '';
  /** Text that was right, and when it disappeared. */
  let lost: { readonly at: number; readonly text: string } | undefined;
  let keyAt: number | undefined;
  let shown = '';
  /** The expected visible text or its start; undefined: any text. */
  let rest: string | undefined;
  for (const event of events) {
    if (lost !== undefined && (event.kind === 'key' || event.text !== '')) {
      const forMs = Math.round(event.at - lost.at);
      if (forMs >= SEEN_MS) gone.push(`after ${key}: ${JSON.stringify(lost.text)}, for ${forMs} ms`);
      lost = undefined;
    }
    if (event.kind === 'key') {
      if (event.key.length > 1 && event.key !== 'Enter' && event.key !== 'Tab') continue;
      keyAt = event.at;
      key = event.key;
      const character = event.key === 'Enter' ? '\n' : event.key;
      const from = rest ?? shown;
      rest = from !== '' && from.startsWith(character) && from.length > 1 ? from.slice(1) : undefined;
      continue;
    }
    if (rest !== undefined && event.text !== shown && !event.text.startsWith(rest)) flicker += 1;
    if (rest !== undefined && event.text === '' && shown !== '') lost = { at: event.at, text: shown };
    shown = event.text;
    if (shown === '') continue;
    rest = shown;
    if (keyAt !== undefined) waits.push(event.at - keyAt);
    keyAt = undefined;
  }
  return { waits, flicker, gone };
}
