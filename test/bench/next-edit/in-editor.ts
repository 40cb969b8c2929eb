import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { launchChromium } from '../../host/chromium.ts';
import { startCodeServer } from '../../host/code-server.ts';
import { openWorkbench, pickTyped, workbenchReady } from '../../host/workbench.ts';
import { type EditorOracle, startEditorOracle } from './editor-oracle.ts';
import { type Sight, sightOf, watchOffers } from './editor-screen.ts';
import { type EditScript, type Hunk, hunksBetween } from './scripts.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const READY = '.statusbar-item[aria-label^="Svc: Completions by"], .statusbar-item[aria-label^="Svc:"]';

/** Only typed keys and accepted edits change the text. */
const SETTINGS = {
  'editor.autoClosingBrackets': 'never',
  'editor.autoClosingQuotes': 'never',
  'editor.autoClosingComments': 'never',
  'editor.autoIndent': 'none',
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.suggestOnTriggerCharacters': false,
  'editor.parameterHints.enabled': false,
  'editor.detectIndentation': false,
  'editor.tabSize': 2,
  'editor.minimap.enabled': false,
  'files.insertFinalNewline': false,
  'git.enabled': false,
};

/** How long the user looks before doing something else. */
const PATIENCE_MS = 1_500;
/** An edit is on screen for longer than the 300 ms before which Tab is an ordinary Tab. */
const REACTION_MS = 400;
const STEP_MS = 25;
/** More than any script has edits. */
const MAX_ROUNDS = 30;

/** Sums over the scripts of one model in a real VS Code. */
export interface EditorFigures {
  scripts: number;
  edits: number;
  offered: number;
  accepted: number;
  wrong: number;
  requests: number;
  tokens: number;
  moved: number;
  readonly waits: number[];
}

/** A real VS Code with the extension and the simulated model in it. */
export class EditorBench {
  readonly page: Page;
  readonly oracle: EditorOracle;
  readonly #workspace: string;
  readonly #close: () => Promise<void>;
  #files = 0;

  private constructor(page: Page, oracle: EditorOracle, workspace: string, close: () => Promise<void>) {
    this.page = page;
    this.oracle = oracle;
    this.#workspace = workspace;
    this.#close = close;
  }

  static async start(): Promise<EditorBench> {
    const oracle = await startEditorOracle();
    const root = mkdtempSync(join(tmpdir(), 'svc-next-edit-'));
    const workspace = join(root, 'workspace');
    mkdirSync(workspace);
    const config = join(root, 'svc.jsonc');
    const options = { baseURL: `${oracle.upstream.url}/v1` };
    const models = { edit: { name: 'Oracle', limit: { context: 64_000, output: 4_000 } } };
    const provider = { oracle: { name: 'Oracle', edit: 'inception-edit', options, models } };
    writeFileSync(config, JSON.stringify({ provider, nextEditModel: 'oracle/edit' }), { mode: 0o600 });
    const env = {
      HOME: root,
      XDG_CONFIG_HOME: join(root, 'config'),
      SVC_DISABLE_CATALOG_REFRESH: '1',
      SVC_CONFIG: config,
    };
    const host = await startCodeServer({ env, settings: SETTINGS });
    const browser = await launchChromium();
    const close = async () => {
      await browser.close();
      await host.close();
      await oracle.upstream.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    };
    const page = await openWorkbench(browser, host, { folder: workspace, extension: ROOT });
    page.setDefaultTimeout(60_000);
    await workbenchReady(page);
    await page.locator(READY).first().waitFor();
    await watchOffers(page);
    return new EditorBench(page, oracle, workspace, close);
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Makes the first edit of each script by hand, then accepts what is right, rejects what is wrong, and types the rest. */
  async replay(scripts: readonly EditScript[], errors: number): Promise<EditorFigures> {
    const { oracle } = this;
    Object.assign(oracle, { errors, requests: 0, tokens: 0 });
    const sums: EditorFigures = {
      ...{ scripts: scripts.length, edits: 0, offered: 0, accepted: 0, wrong: 0, requests: 0, tokens: 0, moved: 0 },
      waits: [],
    };
    for (const script of scripts) await this.#script(script, sums);
    return { ...sums, requests: oracle.requests, tokens: oracle.tokens };
  }

  /** Opens a new file with this text and the caret at a place. @returns its path. */
  async open(text: string, extension: string, line: number, column: number): Promise<string> {
    this.#files += 1;
    const path = join(this.#workspace, `file-${this.#files}.${extension}`);
    writeFileSync(path, text);
    await this.goTo(path, line, column);
    return path;
  }

  /** The text of the active editor, saved. */
  async saved(path: string): Promise<string> {
    await this.page.keyboard.press('ControlOrMeta+S');
    const name = path.slice(path.lastIndexOf('/') + 1);
    await this.page.locator(`.tab.active:not(.dirty)[data-resource-name="${name}"]`).waitFor();
    return readFileSync(path, 'utf8');
  }

  /** Moves the caret with Quick Open. Line and column are counted from 1. */
  async goTo(path: string, line: number, column: number): Promise<void> {
    const { page } = this;
    const name = path.slice(path.lastIndexOf('/') + 1);
    const row = page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first();
    await pickTyped(page, 'ControlOrMeta+P', `${path}:${line}:${column}`, row);
    await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
    await page.locator('.editor-instance .monaco-editor.focused').waitFor();
    const place = page.locator('[id="status.editor.selection"]', { hasText: `Ln ${line}, Col ${column}` });
    await place.waitFor();
  }

  async #script({ name, before, after }: EditScript, sums: EditorFigures): Promise<void> {
    this.oracle.target = after;
    const path = await this.open(before, extensionOf(name), 1, 1);
    await this.#typeFirst(path, after);
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const left = hunksBetween(await this.saved(path), after);
      const [next] = left;
      if (next === undefined) return;
      let sight = await this.#offer(sums);
      if (sight === undefined) {
        await this.goTo(path, Math.max(1, next.first + 1), 1);
        sight = await this.#offer(sums);
      }
      const done = sight !== undefined && (await this.#accept(path, after, sight, left.length));
      if (done) sums.accepted += 1;
      else {
        if (sight !== undefined) sums.wrong += 1;
        await this.#typeFirst(path, after);
      }
      sums.edits += Math.max(1, left.length - hunksBetween(await this.saved(path), after).length);
    }
    throw new Error(`${name}: the later version was not reached.`);
  }

  /** Waits for an edit. Rejects one that the model made wrongly. */
  async #offer(sums: EditorFigures): Promise<Sight | undefined> {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      const sight = await sightOf(this.page);
      if (sight.offer === '') {
        await delay(STEP_MS);
        continue;
      }
      sums.offered += 1;
      sums.waits.push(sight.waited);
      sums.moved += sight.moved;
      await delay(REACTION_MS);
      if (sight.moved > 0) console.log(`${sight.moved} lines moved when this appeared: ${sight.offer}`);
      if (!this.oracle.wrong) return sight;
      sums.wrong += 1;
      this.oracle.wrong = false;
      await this.page.keyboard.press('Escape');
      return undefined;
    }
    return undefined;
  }

  /** Presses the key, once more after a jump. Takes an edit back that is not in the later version. */
  async #accept(path: string, after: string, { ghost }: Sight, left: number): Promise<boolean> {
    const before = await this.saved(path);
    for (let presses = 0; presses < 2; presses += 1) {
      await this.page.keyboard.press(ghost ? 'Tab' : 'Alt+L');
      await delay(REACTION_MS);
      const now = await this.saved(path);
      if (now === before) continue;
      if (hunksBetween(now, after).length < left) return true;
      await this.page.keyboard.press('ControlOrMeta+Z');
      return false;
    }
    return false;
  }

  async #typeFirst(path: string, after: string): Promise<void> {
    const text = await this.saved(path);
    const [hunk] = hunksBetween(text, after);
    if (hunk !== undefined) await this.#type(path, text, hunk);
  }

  async #type(path: string, text: string, { first, old, text: lines }: Hunk): Promise<void> {
    const all = text.split('\n');
    const atEnd = first > 0 && first + old.length >= all.length;
    const join = (parts: readonly string[]) => parts.map((line) => (atEnd ? `\n${line}` : `${line}\n`)).join('');
    const [before, now] = [join(old), join(lines)];
    let head = 0;
    while (head < before.length && before[head] === now[head]) head += 1;
    let tail = 0;
    while (tail < Math.min(before.length, now.length) - head && before.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
    const [removed, inserted] = [before.slice(head, before.length - tail), now.slice(head, now.length - tail)];
    const above = atEnd ? [all.slice(0, first).join('\n')] : all.slice(0, first).map((line) => `${line}\n`);
    const upTo = (above.join('') + before.slice(0, head)).split('\n');
    await this.goTo(path, upTo.length, (upTo.at(-1) ?? '').length + 1);
    const { keyboard } = this.page;
    this.oracle.wrong = false;
    for (const _ of removed) await keyboard.press('Shift+ArrowRight');
    if (removed !== '') await keyboard.press('Backspace');
    for (const character of inserted) await keyboard.press(keyOf(character), { delay: 5 });
  }
}

/** The scripts of our own have no file name. */
function extensionOf(name: string): string {
  if (name.includes('python')) return 'py';
  return name.startsWith('repeated ') ? 'ts' : name.slice(name.lastIndexOf('.') + 1);
}

function keyOf(character: string): string {
  if (character === '\n') return 'Enter';
  return character === ' ' ? 'Space' : character === '\t' ? 'Tab' : character;
}
