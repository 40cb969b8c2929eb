import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { focusedElements } from '../../host/failure-report.ts';
import { waitUntil } from '../../host/wait-until.ts';
import { ARTIFACTS } from '../../host/workbench.ts';

/** Where the next key goes, as the end of the element that has the focus. */
const PLACES = {
  editor: /class="(?:inputarea|native-edit-context)/,
  chat: /^<textarea(?![^>]*class="inputarea)/,
  list: /^<input[^>]*class="input/,
  field: /^<(?:input|select|textarea) /,
  button: /^<(?:button|a) /,
  terminal: /xterm-helper-textarea/,
  any: /./,
} as const;

/** What holds after an act. All that is not named here must not have changed. */
export interface After {
  readonly focus: keyof typeof PLACES;
  /** What the act brings on the screen. */
  readonly shows?: Locator;
  /** Paths that differ from the last commit from now on, in addition to those before. */
  readonly changes?: readonly string[];
  /** Paths that are again as in the last commit; `all` after a commit. */
  readonly restores?: readonly string[] | 'all';
  /** Requests for the chat since the act before. */
  readonly chats?: number;
  /** Most requests for a completion that the act causes, now or after a pause. */
  readonly completions?: number;
  /** The act opens a dialog. */
  readonly dialog?: boolean;
  /** Whether the bell of the status bar tells of a notification, from now on. */
  readonly notified?: boolean;
}

export interface Surroundings {
  readonly page: () => Page;
  readonly changed: () => readonly string[];
  readonly chats: () => number;
  readonly completions: () => number;
  /** Lines of the extension's log and of the page's console that tell of an error. */
  readonly problems: () => readonly string[];
}

/** Runs acts of a person, each a key or a click, and checks after each that nothing else has happened. */
export class Day {
  readonly #world: Surroundings;
  readonly #pictures: string;
  #count = 0;
  readonly #changed = new Set<string>();
  #chats = 0;
  #completions = 0;
  #problems = 0;
  #notified = false;

  constructor(world: Surroundings, look: string) {
    this.#world = world;
    this.#pictures = join(ARTIFACTS, 'day', look);
    mkdirSync(this.#pictures, { recursive: true });
  }

  async act(name: string, perform: (page: Page) => Promise<unknown>, after: After): Promise<void> {
    const page = this.#world.page();
    await perform(page);
    this.#count += 1;
    const number = String(this.#count).padStart(3, '0');
    try {
      await this.#check(page, after);
    } catch (error) {
      throw new Error(`Act ${number}, ${name}: ${error instanceof Error ? error.message : error}`);
    } finally {
      await page.screenshot({ path: join(this.#pictures, `${number}-${name.replaceAll(/\W+/g, '-')}.png`) });
    }
  }

  async #check(page: Page, after: After): Promise<void> {
    const { changed, chats, completions, problems } = this.#world;
    await after.shows?.first().waitFor();
    await waitUntil(
      `the focus to be in: ${after.focus}`,
      () => focusedElements(page),
      (seen) => PLACES[after.focus].test(seen.at(-1) ?? ''),
    );
    for (const path of after.changes ?? []) this.#changed.add(path);
    for (const path of after.restores === 'all' ? [...this.#changed] : (after.restores ?? []))
      this.#changed.delete(path);
    const expected = [...this.#changed].sort().join(', ');
    await waitUntil(
      `the changed files to be: ${expected}`,
      () => changed().join(', '),
      (seen) => seen === expected,
    );
    this.#chats += after.chats ?? 0;
    await waitUntil(`${this.#chats} requests of the chat`, chats, (seen) => seen >= this.#chats);
    assert.equal(chats(), this.#chats, 'requests of the chat');
    // A request may come after the act that has asked for it, in a pause of typing.
    this.#completions += after.completions ?? 0;
    const asked = completions();
    assert.ok(asked <= this.#completions, `${asked} requests for completions, ${this.#completions} promised`);
    this.#notified = after.notified ?? this.#notified;
    await waitUntil(
      this.#notified ? 'a notification' : 'no notification',
      async () => (await page.locator('.statusbar-item .codicon-bell-dot').count()) > 0,
      (seen) => seen === this.#notified,
    ).catch(async (error: Error) => {
      if (this.#notified) throw error;
      await page.locator('.statusbar-item .codicon-bell-dot').click();
      const texts = await page.locator('.notification-list-item').allInnerTexts();
      throw new Error(`${error.message}\nThe notifications: ${texts.join(' | ')}`);
    });
    await waitUntil(
      after.dialog ? 'a dialog' : 'no dialog',
      () => page.locator('.monaco-dialog-box').allInnerTexts(),
      (seen) => seen.length === (after.dialog ? 1 : 0),
    );
    const found = problems();
    assert.deepEqual(found.slice(this.#problems), [], 'errors in the console or the log');
    this.#problems = found.length;
  }
}
