import type { Locator, Page } from 'playwright-core';

/** The places in a page in which code can run. */
type Place = Pick<Page, 'evaluate'>;

/** Clicks a field and types instead of its text. */
export async function typeInto(field: Locator, text: string): Promise<void> {
  await field.click();
  // Not with Ctrl+A: VS Code does that in a webview itself, some time after the key.
  await field.press('ControlOrMeta+End');
  await field.press('ControlOrMeta+Shift+Home');
  if (text === '') await field.press('Delete');
  else await field.pressSequentially(text);
}

/** Clicks and types without a pause: keys that come before the next frame must not be lost. */
export async function clickAndType(page: Page, target: Locator, text: string): Promise<void> {
  await target.hover();
  await Promise.all([page.mouse.down(), page.mouse.up(), page.keyboard.type(text)]);
}

/** Reaches a field with Tab, or with Shift+Tab, and types into it. */
export async function tabInto(page: Page, field: Locator, text: string, key = 'Tab'): Promise<void> {
  await tabTo(page, field, key);
  await page.keyboard.type(text);
}

/** Presses Tab until the element has the focus. */
export async function tabTo(page: Page, element: Locator, key = 'Tab'): Promise<void> {
  await element.waitFor();
  for (let presses = 0; presses < 80; presses++) {
    if (await isFocused(element)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} never reaches ${element}.`);
}

function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate((each) => each === document.activeElement);
}

/** Resolves when the page has drawn what it was told, and has done what it does after that. */
export async function drawn(page: Place): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        // Messages are applied in the first frame; effects run in a task after the second one.
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
      }),
  );
}

/** Turns the wheel, and waits until the element is scrolled so far from its end: Chromium scrolls some frames later. */
export async function scrollUp(page: Page, list: Locator, pixels: number): Promise<void> {
  await list.hover();
  await page.mouse.wheel(0, -pixels);
  await page.waitForFunction(
    ([element, wanted]) => {
      const toEnd = element.scrollHeight - element.scrollTop - element.clientHeight;
      return element.scrollTop === 0 || toEnd >= wanted - 1;
    },
    [await list.elementHandle().then((found) => found as NonNullable<typeof found>), pixels] as const,
  );
}

/** Changes the size of the window. The page gets it some time later. */
export async function resize(page: Page, width: number, height: number): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.waitForFunction((wanted) => window.innerWidth === wanted, width);
}

/**
 * Sets a text at once. @param reason why it is not typed. Keys tell more: they reach the element that has the focus.
 */
export async function setText(field: Locator, text: string, _reason: string): Promise<void> {
  await field.fill(text);
}

/** Runs code in a page. @param reason why neither an action nor a visible text does. */
export function inPage(place: Place, reason: string, script: string): Promise<unknown>;
export function inPage<R>(place: Place, reason: string, run: () => R | Promise<R>): Promise<R>;
export function inPage<R, A>(
  place: Place,
  reason: string,
  run: (argument: A) => R | Promise<R>,
  argument: A,
): Promise<R>;
export function inPage<R, A>(
  place: Place,
  _reason: string,
  run: string | ((argument?: A) => R),
  argument?: A,
): Promise<R> {
  return place.evaluate(run as (argument: unknown) => R, argument);
}

/** Runs code with an element of a page. @param reason as for `inPage`. */
export function inElement<R>(
  element: Locator,
  reason: string,
  run: (element: HTMLElement) => R | Promise<R>,
): Promise<R>;
export function inElement<R, A>(
  element: Locator,
  reason: string,
  run: (element: HTMLElement, argument: A) => R | Promise<R>,
  argument: A,
): Promise<R>;
export function inElement<R, A>(
  element: Locator,
  _reason: string,
  run: (element: HTMLElement, argument?: A) => R,
  argument?: A,
): Promise<R> {
  return element.evaluate(run as (element: HTMLElement | SVGElement, argument: unknown) => R, argument);
}
