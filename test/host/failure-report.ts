import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsoleMessage, Frame, Page, Request } from 'playwright-core';
import { collectEvidence } from './evidence.ts';

const FAILURES = join(import.meta.dirname, '..', '..', 'out', 'failures');
/** Number of the last lines that are kept. */
const KEPT = 500;
/** The requests, and the logs of Svc. */
const PRINTED_FILES = /^requests|svc\.svc/;
/** Number and width of the lines that are printed of each file. */
const PRINTED = 20;
const PRINTED_WIDTH = 200;

/** Begins and ends what is printed of a failed test: the end of a long output repeats it. */
export const SHOWN = 'shown by the failed test: ';
export const SHOWN_END = 'see ';

interface ObservedPage {
  readonly page: Page;
  readonly console: string[];
}

const openPages = new Set<ObservedPage>();

/** Keeps the console of the page, for tests that fail. */
export function observePage(page: Page): void {
  const observed: ObservedPage = { page, console: [] };
  openPages.add(observed);
  page.once('close', () => openPages.delete(observed));
  const keep = (line: string) => {
    observed.console.push(line);
    if (observed.console.length > KEPT) observed.console.shift();
  };
  page.on('console', (message: ConsoleMessage) => keep(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => keep(`uncaught: ${error.stack ?? error.message}`));
  page.on('requestfailed', (request: Request) => keep(`failed: ${request.url()} ${request.failure()?.errorText}`));
  // A page that is closed at once has no keys.
  page.addInitScript(recordKeys).catch(() => undefined);
}

/** Runs in each frame: keeps the last keys and clicks, what became of the keys, and where the focus went. */
function recordKeys(): void {
  const kept: string[] = [];
  Object.assign(window, { recordedKeys: kept });
  const keep = (line: string) => {
    kept.push(`${Math.round(performance.now())} ms: ${line}`);
    if (kept.length > 200) kept.shift();
  };
  const name = (target: EventTarget | null) =>
    target instanceof Element ? `${target.localName}.${target.className}`.slice(0, 80) : 'the window';
  const onKey = (event: KeyboardEvent) => {
    const modifiers = [
      event.ctrlKey && 'Ctrl',
      event.shiftKey && 'Shift',
      event.altKey && 'Alt',
      event.metaKey && 'Meta',
    ];
    const key = [...modifiers.filter(Boolean), event.key].join('+');
    const place = name(event.target);
    const composed = event.isComposing ? ', composing' : '';
    // It takes Tab, Enter and Escape.
    const list = document.querySelector('.suggest-widget.visible') ? ', with a list of suggestions' : '';
    // After the listeners of the page.
    setTimeout(() => keep(`${key} in ${place}, ${event.defaultPrevented ? 'taken' : 'left'}${composed}${list}`));
  };
  window.addEventListener('keydown', onKey, true);
  for (const type of ['focus', 'blur', 'click']) {
    window.addEventListener(type, ({ target }) => keep(`${type} of ${name(target)}`), true);
  }
}

/** Runs in each frame. */
function readKeys(): readonly string[] {
  return Reflect.get(window, 'recordedKeys') ?? [];
}

/**
 * Writes everything to out/failures/<test>. The end of it is printed: a machine that runs the tests may keep nothing else.
 *
 * @param sent files by their name, from another process that runs the test.
 */
export async function reportFailure(title: string, sent: Readonly<Record<string, string>> = {}): Promise<void> {
  const folder = join(FAILURES, title.replaceAll(/\W+/g, '-').slice(0, 150));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const print = (text: string) => console.error(text.replaceAll(/^/gm, '      '));
  print(`${SHOWN}${title}`);
  for (const [name, text] of Object.entries({ ...collectEvidence(), ...sent })) {
    write(name, text);
    if (PRINTED_FILES.test(name)) print(`${name}, last lines:\n${shorten(text)}`);
  }
  for (const [index, { page, console: lines }] of [...openPages].entries()) {
    write(`window-${index + 1}-console.txt`, lines.join('\n'));
    // A page that hangs or was closed must not hide the failure.
    await page.screenshot({ path: join(folder, `window-${index + 1}.png`) }).catch(() => undefined);
    const keys = (await Promise.all(page.frames().map(describeKeys))).filter((each) => each !== '');
    write(`window-${index + 1}-keys.txt`, keys.join('\n\n'));
    print(`the last keys:\n${shorten(keys.join('\n'))}`);
    const described = await describeWindow(page);
    write(`window-${index + 1}.txt`, described);
    print(`window ${index + 1}:\n${described}`);
  }
  print(`${SHOWN_END}${folder}`);
}

function shorten(text: string): string {
  // Without the bodies of requests.
  const lines = text
    .split('\n')
    .filter((line) => /^\S{3}/.test(line))
    .slice(-PRINTED);
  return lines.map((line) => line.slice(0, PRINTED_WIDTH)).join('\n');
}

async function describeKeys(frame: Frame): Promise<string> {
  const kept = await frame.evaluate(readKeys).catch(() => []);
  return kept.length === 0 ? '' : [frame.url().slice(0, 200), ...kept].join('\n');
}

/** What a person sees first in a window that does not go on: the focus, and what lies over the rest. */
export async function describeWindow(page: Page): Promise<string> {
  const over = await page.evaluate(readOverlays).catch((error: Error) => [error.message]);
  return [...(await focusedElements(page)).map((each) => `focus: ${each}`), ...over].join('\n');
}

/** Runs in the page. */
function readOverlays(): string[] {
  const overlays = document.querySelectorAll<HTMLElement>(
    '.monaco-dialog-box, .quick-input-widget, .notification-list-item, .context-view .monaco-menu',
  );
  const drawn = [...overlays].filter((each) => each.getClientRects().length > 0);
  const texts = drawn.map((each) => {
    const typed = each.querySelector('input')?.value ?? '';
    return `${each.className}: ${typed} ${each.innerText}`.replaceAll(/\s+/g, ' ').slice(0, 500);
  });
  const editors = [...document.querySelectorAll<HTMLElement>('.editor-instance .view-lines')];
  const code = editors.map((each) => `editor: ${each.innerText.slice(-500)}`);
  const status = document.querySelector('.statusbar-item[aria-label^="Svc"]')?.getAttribute('aria-label');
  return [`title: ${document.title}`, `status: ${status}`, ...texts, ...code];
}

/** The element with the focus in each document that has it, from the window to the innermost frame. */
export async function focusedElements(page: Page): Promise<readonly string[]> {
  const found = page.frames().map((frame) => frame.evaluate(readFocus).catch(() => ''));
  return (await Promise.all(found)).filter((each) => each !== '');
}

/** Runs in the page. */
function readFocus(): string {
  return document.hasFocus() ? (document.activeElement?.outerHTML ?? '').replaceAll(/\s+/g, ' ').slice(0, 200) : '';
}
