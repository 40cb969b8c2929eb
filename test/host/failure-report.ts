import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConsoleMessage, Page, Request } from 'playwright-core';

const FAILURES = join(import.meta.dirname, '..', '..', 'out', 'failures');
/** Number of the last lines and requests that are kept. */
const KEPT = 500;
const KEPT_REQUESTS = 20;

/** What a failed test can show: files by their name, or undefined if there are none. */
type Evidence = () => Readonly<Record<string, string>>;

interface ObservedPage {
  readonly page: Page;
  readonly console: string[];
}

/** Sources of evidence that are open: pages, and for example the requests of a simulated provider. */
const open: { readonly pages: Set<ObservedPage>; readonly evidence: Set<Evidence> } = {
  pages: new Set(),
  evidence: new Set(),
};

/** Keeps the console of the page, for tests that fail. */
export function observePage(page: Page): void {
  const observed: ObservedPage = { page, console: [] };
  open.pages.add(observed);
  page.once('close', () => open.pages.delete(observed));
  const keep = (line: string) => {
    observed.console.push(line);
    if (observed.console.length > KEPT) observed.console.shift();
  };
  page.on('console', (message: ConsoleMessage) => keep(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => keep(`uncaught: ${error.stack ?? error.message}`));
  page.on('requestfailed', (request: Request) => keep(`failed: ${request.url()} ${request.failure()?.errorText}`));
}

/** Adds a source. Returns the function that removes it. */
export function addEvidence(evidence: Evidence): () => void {
  open.evidence.add(evidence);
  return () => open.evidence.delete(evidence);
}

/** The last requests of a simulated provider, as a text. */
export function describeRequests(
  requests: readonly { readonly method: string; readonly path: string; readonly body: unknown }[],
): string {
  return requests
    .slice(-KEPT_REQUESTS)
    .map(({ method, path, body }) => `${method} ${path}\n${JSON.stringify(body, null, 2)}`)
    .join('\n\n');
}

/** Writes everything to out/failures/<test>. */
export async function reportFailure(title: string): Promise<string> {
  const folder = join(FAILURES, title.replaceAll(/\W+/g, '-').slice(0, 150));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const evidence of open.evidence) for (const [name, text] of Object.entries(evidence())) write(name, text);
  for (const [index, { page, console }] of [...open.pages].entries()) {
    write(`window-${index + 1}-console.txt`, console.join('\n'));
    // A page that hangs or was closed must not hide the failure.
    await page.screenshot({ path: join(folder, `window-${index + 1}.png`) }).catch(() => undefined);
    write(`window-${index + 1}-focus.txt`, (await focusedElements(page)).join('\n'));
  }
  return folder;
}

/** For mocha: reports each test and each hook that failed. */
export const failureHooks = {
  async afterEach(this: Mocha.Context) {
    const test = this.currentTest;
    if (test?.state === 'failed') console.error(`      see ${await reportFailure(test.fullTitle())}`);
  },
};

/** The element with the focus in each document that has it, from the window to the innermost frame. */
export async function focusedElements(page: Page): Promise<readonly string[]> {
  const found = page.frames().map((frame) => frame.evaluate(readFocus).catch(() => ''));
  return (await Promise.all(found)).filter((each) => each !== '');
}

/** Runs in the page. */
function readFocus(): string {
  return document.hasFocus() ? (document.activeElement?.outerHTML ?? '').slice(0, 200) : '';
}
