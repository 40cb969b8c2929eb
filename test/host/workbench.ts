import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Browser, Frame, Locator, Page } from 'playwright-core';
import type { CodeServer } from './code-server.ts';
import { describeWindow, observePage } from './failure-report.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Screenshots that the specs keep; CI collects them. */
export const ARTIFACTS = join(ROOT, 'out', 'artifacts');

/** A key that is pressed while the focus moves opens nothing, so it is pressed again. The test's time limit applies. */
export const OPENS_WITHIN_MS = 5000;

/** A list that has not shown a row until then was opened before the row existed. A search may take seconds. */
const LISTED_WITHIN_MS = 15_000;

/** Time limit of a wait in a page. That of a test is longer, so that a failure names the wait. */
export const WITHIN_MS = 120_000;

/** Options of a wait for a function in a page: without them it looks in each frame, for which the page makes 60 a second. */
export const LOOK_AGAIN = { polling: 100 } as const;

export interface WorkbenchOptions {
  /** Absolute folder to open, or `.code-workspace` file; absent: no folder. */
  readonly folder?: string;
  /** Absolute folder of an extension under development. */
  readonly extension?: string;
  /** Absolute path of a module that exports `run(): Promise<void>`. */
  readonly tests?: string;
  readonly viewport?: { readonly width: number; readonly height: number };
  /** The profile of the window; absent: the default one. */
  readonly profile?: WorkbenchProfile;
  /** Environment of the extension host and the terminals of the window, over that of the server. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Called before the page navigates. */
  readonly prepare?: (page: Page) => Promise<void>;
}

export interface WorkbenchProfile {
  readonly id: string;
  /** Absolute folder with its settings. Its name is the id. */
  readonly folder: string;
  /** Absolute folder in which the server stores the rest. Its name is the id too. */
  readonly stored: string;
}

/** Opens a workbench page in the browser host. */
export async function openWorkbench(browser: Browser, host: CodeServer, options: WorkbenchOptions): Promise<Page> {
  const context = await browser.newContext({
    viewport: options.viewport ?? { width: 1280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
    // The server would compress 20 MB for each window: a tenth of the processor time that opening it takes.
    extraHTTPHeaders: { 'accept-encoding': 'identity' },
  });
  const page = await context.newPage();
  observePage(page);
  // All servers are local, but a busy machine needs many seconds to start an extension host.
  context.setDefaultTimeout(WITHIN_MS);
  if (options.profile) await context.addInitScript(storeProfile, options.profile);
  await options.prepare?.(page);
  // `workbenchReady` waits for more, and its failure shows what there is.
  await page.goto(workbenchUrl(host, options), { waitUntil: 'commit' });
  return page;
}

/** Runs in the page: adds the profile to the list that VS Code keeps in the browser. */
function storeProfile({ id, folder, stored }: WorkbenchProfile): void {
  // Webviews and windows without an address have other storage, or none.
  if (window !== window.top || location.protocol === 'about:') return;
  // With an icon, its name is not drawn over the button of the settings.
  const named = (name: string, path: string) => {
    return { name, location: { $mid: 1, scheme: 'vscode-remote', path }, icon: 'settings-gear' };
  };
  // VS Code deletes folders of profiles that are not in the list, and the page and the server share the parent folder.
  const profiles = [named(id, folder), named(`${id} on the server`, stored)];
  localStorage.setItem('userDataProfiles', JSON.stringify(profiles));
}

export function workbenchUrl(host: CodeServer, options: WorkbenchOptions): string {
  const remote = (path: string) => `vscode-remote://127.0.0.1:${host.port}${path}`;
  // What a failed test shows of the extension: `failure-report.ts`.
  const payload: [string, string][] = [['logLevel', 'svc.svc=trace']];
  if (options.extension) payload.push(['extensionDevelopmentPath', remote(options.extension)]);
  if (options.tests) payload.push(['extensionTestsPath', remote(options.tests)]);
  if (options.profile) payload.push(['profile', options.profile.id]);
  if (options.environment) payload.push(['extensionEnvironment', JSON.stringify(options.environment)]);
  const query = new URLSearchParams();
  if (options.folder) query.set(options.folder.endsWith('.code-workspace') ? 'workspace' : 'folder', options.folder);
  else query.set('ew', 'true');
  query.set('payload', JSON.stringify(payload));
  return `http://127.0.0.1:${host.port}/?${query}`;
}

/** Waits until the workbench has drawn itself and restored its editors. */
export async function workbenchReady(page: Page): Promise<void> {
  await page.locator('.monaco-workbench').waitFor();
  await page.locator('.part.statusbar .statusbar-item').first().waitFor();
}

/**
 * Opens the palette or Quick Open, types, and clicks a row. An editor or a view that was opened a moment ago may
 * still be taking the focus, which closes it: then it is opened again. So is a list without the row, because it has
 * the commands of the moment when it was opened. A list that was open before may take the typed text: then it is typed
 * again. A row that is drawn again while the mouse is pressed gets no click: then the list stays open, and it is clicked
 * again. A click that had its effect is not made again, even if the busy page confirms it late: the command would run
 * twice. A test of the conversation checks that the extension never takes the focus without a request.
 */
export async function pickTyped(page: Page, keys: string, typed: string, row: Locator): Promise<void> {
  const input = page.locator('.quick-input-widget input.input');
  const end = Date.now() + WITHIN_MS;
  for (let open = false; ; open = await input.isVisible()) {
    if (Date.now() > end) {
      throw new Error(`Waited ${WITHIN_MS / 1000} s for ${row} in the list of ${keys}.\n${await describeWindow(page)}`);
    }
    if (!open) {
      // The key that is pressed in a page which VS Code is ending is never confirmed.
      await Promise.race([page.keyboard.press(keys), setTimeout(OPENS_WITHIN_MS, undefined, { ref: false })]);
      if (!(await came(input.waitFor({ timeout: OPENS_WITHIN_MS })))) continue;
    }
    if (!(await came(input.fill(typed, { timeout: OPENS_WITHIN_MS })))) continue;
    // Closed, or replaced by another list.
    const gone = came(
      page.waitForFunction(
        (text) => {
          const widget = document.querySelector<HTMLElement>('.quick-input-widget');
          const now = widget?.querySelector<HTMLInputElement>('input.input')?.value;
          return widget?.style.display === 'none' || now !== text;
        },
        typed,
        LOOK_AGAIN,
      ),
    );
    const listed = row.waitFor({ timeout: LISTED_WITHIN_MS }).then(
      () => 'listed',
      () => 'absent',
    );
    const found = await Promise.race([listed, gone.then(() => 'lost')]);
    if (found === 'absent') await page.keyboard.press('Escape');
    if (found !== 'listed') continue;
    if (!(await clickRow(page, row))) continue;
    if (!(await gone)) throw new Error(`The list of ${keys} stays after a click.\n${await describeWindow(page)}`);
    return;
  }
}

/**
 * Clicks a row of a list. A list closes with a change of focus, also under the mouse.
 *
 * @returns false if the row got no click, and will get none.
 */
export async function clickRow(page: Page, row: Locator): Promise<boolean> {
  if (!(await came(page.evaluate(beginRowClick)))) return false;
  await came(row.click({ timeout: OPENS_WITHIN_MS }));
  // A page that VS Code is ending answers nothing: the command was run.
  return await page.evaluate(endRowClick).catch(() => true);
}

interface RowClick {
  state: 'begun' | 'clicked' | 'ended';
  readonly listener: AbortController;
}

/** Runs in the page: from now on, a click on a row of the list is noticed. */
function beginRowClick(): void {
  const click: RowClick = { state: 'begun', listener: new AbortController() };
  Reflect.get(window, 'rowClick')?.listener.abort();
  Reflect.set(window, 'rowClick', click);
  const onClick = (event: Event) => {
    if (!(event.target instanceof Element && event.target.closest('.quick-input-list .monaco-list-row'))) return;
    // It comes so late that the row is clicked again.
    if (click.state === 'ended') event.stopImmediatePropagation();
    else click.state = 'clicked';
  };
  document.addEventListener('click', onClick, { capture: true, signal: click.listener.signal });
}

/** Runs in the page: whether a row was clicked. If not, a click that is still on its way has no effect. */
function endRowClick(): boolean {
  const click: RowClick | undefined = Reflect.get(window, 'rowClick');
  // The command has replaced the page.
  if (click === undefined) return true;
  const clicked = click.state === 'clicked';
  if (clicked) click.listener.abort();
  else click.state = 'ended';
  return clicked;
}

/** True if it came about, false if its time limit passed. */
export function came(awaited: Promise<unknown>): Promise<boolean> {
  return awaited.then(
    () => true,
    () => false,
  );
}

/**
 * Acts until the element is there: a key has no effect before VS Code knows the context of its binding, and a list is
 * closed when a view or an editor takes the focus late. To act again after it had its effect must not matter.
 *
 * @param gone whether the element goes away, instead.
 * @param within milliseconds until it acts again.
 */
export async function actUntil(
  page: Page,
  act: () => Promise<void>,
  element: Locator,
  gone = false,
  within = OPENS_WITHIN_MS,
): Promise<void> {
  const state = gone ? 'hidden' : 'visible';
  const end = Date.now() + WITHIN_MS;
  do {
    if (Date.now() > end) {
      throw new Error(`Waited ${WITHIN_MS / 1000} s for ${element} (${state}).\n${await describeWindow(page)}`);
    }
    await act();
  } while (!(await came(element.waitFor({ state, timeout: within }))));
}

/** Runs a command by its title with the Command Palette. */
export async function runCommand(page: Page, title: string): Promise<void> {
  // Until the list is filtered, Enter would take a recent command; and the best match need not be the first row.
  const row = (label: string) => `.quick-input-list .monaco-list-row[aria-label${label}"]`;
  const typed = `>${title}`;
  await pickTyped(page, 'F1', typed, page.locator(`${row(`="${title}`)}, ${row(`^="${title},`)}`).first());
}

/** Types into the list that is open, instead of its text. */
export async function typeInList(page: Page, text: string): Promise<void> {
  await page.locator('.quick-input-widget input.input:focus').waitFor();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(text);
}

/** Returns a notification of the list. A toast needs a focused window. The list closes itself when it is empty. */
export async function findNotification(page: Page, text: string): Promise<Locator> {
  const title = 'Notifications: Show Notifications';
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
  const notification = page.locator('.notifications-center .notification-list-item', { hasText: text });
  if (!(await notification.isVisible())) {
    await actUntil(page, () => pickTyped(page, 'F1', `>${title}`, row), notification);
  }
  return notification;
}

/** Opens a file through Quick Open: by its name, or by its whole path if it is so new that no search knows it. */
export async function openFile(page: Page, file: string): Promise<void> {
  const name = basename(file);
  // Not a diff of the file, whose label contains the name.
  const label = page.locator('.label-name').getByText(name, { exact: true });
  const row = page.locator('.quick-input-list .monaco-list-row', { has: label }).first();
  await pickTyped(page, 'ControlOrMeta+P', file, row);
  await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
  // The tab is visible before its editor has the focus.
  await page.locator('.editor-instance .monaco-editor.focused .view-lines').first().waitFor();
}

/** The frame of a webview whose document has an element that matches; it is two frames deep in the page. */
export function webviewFrame(page: Page, selector: string): Promise<Frame> {
  return new Promise((resolve, reject) => {
    // Each frame for itself: one that is being replaced may never answer.
    const look = () => {
      for (const frame of page.frames()) {
        const found = (count: number) => count > 0 && finish(() => resolve(frame));
        frame
          .locator(selector)
          .count()
          .then(found, () => undefined);
      }
    };
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      clearInterval(again);
      page.off('framenavigated', look);
      settle();
    };
    const fail = () => {
      const frames = page.frames().map((frame) => new URL(frame.url(), 'about:blank').pathname);
      reject(new Error(`No webview shows ${selector}. Frames: ${frames.join(', ')}`));
    };
    const timer = globalThis.setTimeout(() => finish(fail), WITHIN_MS);
    // A frame's document fills after its navigation, so look again a few times a second as well.
    const again = setInterval(look, 150);
    page.on('framenavigated', look);
    look();
  });
}

/** The ghost text on screen, joined; empty when there is none. */
export async function ghostText(page: Page): Promise<string> {
  const parts = await page.locator('.ghost-text-decoration, .ghost-text').allTextContents();
  // One element a token: the text is their sum.
  return parts.join('').replaceAll('\u00a0', ' ');
}

/** Keeps a picture as an artifact. */
export async function screenshot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(ARTIFACTS, `${name}.png`) });
}
