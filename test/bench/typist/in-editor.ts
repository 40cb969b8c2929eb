import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../host/chromium.ts';
import { startCodeServer } from '../../host/code-server.ts';
import { openWorkbench, pickTyped, workbenchReady } from '../../host/workbench.ts';
import type { Oracle } from './oracle.ts';
import { type OracleServer, startOracle } from './oracle-server.ts';
import { READING_MS, Rhythm } from './rhythm.ts';
import { figuresOf, ghostNow, takeEvents, watchScreen } from './screen.ts';
import { random, type Task } from './truth.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONTESTANTS = {
  ours: { extension: ROOT, ready: '.statusbar-item[aria-label^="Svc: Completions by"]' },
  plain: {
    extension: join(import.meta.dirname, 'plain-extension'),
    ready: '.statusbar-item:has-text("plain reference")',
  },
} as const;

/** Line and column in the status bar. */
const CARET = '[id="status.editor.selection"]';

/** Only typed keys change the text: the editor completes, closes and indents nothing. */
const SETTINGS = {
  'editor.autoClosingBrackets': 'never',
  'editor.autoClosingQuotes': 'never',
  'editor.autoIndent': 'none',
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.suggestOnTriggerCharacters': false,
  'editor.parameterHints.enabled': false,
  'editor.detectIndentation': false,
  'editor.tabSize': 2,
  'typescript.validate.enable': false,
  'git.enabled': false,
};

export type InEditorName = keyof typeof CONTESTANTS;

/** Sums over all parts that one contestant had typed. */
export interface InEditor {
  readonly contestant: InEditorName;
  readonly firstMs: number;
  keys: number;
  missing: number;
  accepted: number;
  requests: number;
  sentBytes: number;
  /** Counted as if cancelling a request saved no tokens. */
  tokens: number;
  waits: number[];
  flicker: number;
  /** Text that was right and was gone for 40 ms or more. */
  readonly gone: string[];
  /** Parts after which the file is not the finished one. */
  wrong: number;
  /** Requests in 30 keys while the server answers 402, and notifications on screen after it. */
  storm: { requests: number; popups: number };
}

/**
 * Types the parts with real keys into a real VS Code, with one contestant's extension in it. Accepts all that is right, or
 * nothing.
 */
export async function typeInEditor(
  name: InEditorName,
  parts: {
    readonly tasks: readonly Task[];
    readonly oracle: Oracle;
    readonly firstMs: number;
    readonly seed: number;
    readonly accepts?: boolean;
  },
): Promise<InEditor> {
  return withEditor(name, { ...parts, settings: SETTINGS }, async ({ page, workspace, server }) => {
    const sums = nothing(name, parts.firstMs);
    for (const [index, task] of parts.tasks.entries()) {
      const accepts = parts.accepts ?? true;
      const typist = { page, workspace, random: random(parts.seed + index), name: `part-${index}.ts`, accepts };
      await typePart(typist, task, sums);
    }
    sums.requests = server.seen.length;
    for (const { bytes, tokens } of server.seen) {
      sums.sentBytes += bytes;
      sums.tokens += tokens;
    }
    sums.storm = await storm(page, workspace, server);
    return sums;
  });
}

/** A window of VS Code with one contestant's extension in it, and the oracle that it asks. */
export interface OpenEditor {
  readonly page: Page;
  readonly workspace: string;
  readonly server: OracleServer;
}

export interface EditorOptions {
  readonly oracle: Oracle;
  readonly firstMs: number;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly viewport?: { readonly width: number; readonly height: number };
}

export async function withEditor<T>(
  name: InEditorName,
  { oracle, firstMs, settings, viewport }: EditorOptions,
  use: (editor: OpenEditor) => Promise<T>,
): Promise<T> {
  const server = await startOracle({ oracle, firstMs, charactersASecond: 400 });
  const root = mkdtempSync(join(tmpdir(), 'svc-typist-'));
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  const host = await startCodeServer({ env: environment(root, server), settings });
  const browser: Browser = await launchChromium();
  try {
    const { extension, ready } = CONTESTANTS[name];
    const page = await openWorkbench(browser, host, {
      folder: workspace,
      extension,
      ...(viewport === undefined ? {} : { viewport }),
    });
    await workbenchReady(page);
    await page.locator(ready).first().waitFor({ timeout: 90_000 });
    await watchScreen(page);
    return await use({ page, workspace, server });
  } finally {
    await browser.close();
    await host.close();
    await server.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

function environment(root: string, server: OracleServer): Record<string, string> {
  const config = join(root, 'svc.jsonc');
  const options = { baseURL: `${server.url}/v1`, fimURL: `${server.url}/v1/fim` };
  const models = {
    fim: { name: 'Oracle', limit: { context: 32_000, output: 4_000 }, cost: { input: 0.3, output: 0.9 } },
  };
  const provider = { oracle: { name: 'Oracle', fim: 'mistral', options, models } };
  writeFileSync(config, JSON.stringify({ provider, completionModel: 'oracle/fim' }), { mode: 0o600 });
  return {
    HOME: root,
    XDG_CONFIG_HOME: join(root, 'config'),
    SVC_DISABLE_CATALOG_REFRESH: '1',
    SVC_CONFIG: config,
    TYPIST_ORACLE: `${server.url}/v1/fim/completions`,
  };
}

function nothing(contestant: InEditorName, firstMs: number): InEditor {
  return {
    contestant,
    firstMs,
    keys: 0,
    missing: 0,
    accepted: 0,
    requests: 0,
    sentBytes: 0,
    tokens: 0,
    waits: [],
    flicker: 0,
    gone: [],
    wrong: 0,
    storm: { requests: 0, popups: 0 },
  };
}

interface TypingContext {
  readonly page: Page;
  readonly workspace: string;
  readonly random: () => number;
  readonly name: string;
  readonly accepts: boolean;
}

async function typePart(
  { page, workspace, random: next, name, accepts }: TypingContext,
  task: Task,
  sums: InEditor,
): Promise<void> {
  const { file, start, end } = task;
  const path = join(workspace, name);
  writeFileSync(path, file.slice(0, start) + file.slice(end));
  await openAt(page, path, name, file.slice(0, start));
  await takeEvents(page);
  const rhythm = new Rhythm(next);
  let at = start;
  while (at < end) {
    await delay(rhythm.gap(file.slice(0, at)));
    sums.keys += 1;
    const next = accepts ? await tabbed(page, task, at) : at;
    sums.accepted += file.slice(at, next).trim() === '' ? 0 : next - at;
    if (next === at) await page.keyboard.press(keyOf(file[at] ?? ''));
    at = Math.max(at + 1, next);
  }
  sums.missing += end - start;
  const figures = figuresOf(await takeEvents(page));
  sums.waits.push(...figures.waits);
  sums.flicker += figures.flicker;
  sums.gone.push(...figures.gone.map((what) => `${name} ${what}`));
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+S');
  await page.locator(`.tab.active:not(.dirty)[data-resource-name="${name}"]`).waitFor();
  if (readFileSync(path, 'utf8') !== file) sums.wrong += 1;
}

/**
 * Waits until the visible text could be read and presses Tab if it matches the file. Returns the offset after
 * it: at the start of a line Tab indents first, and text that grew just before is accepted too.
 */
async function tabbed(page: Page, { file, end }: Task, at: number): Promise<number> {
  for (;;) {
    const { text, forMs } = await ghostNow(page);
    if (text === '' || !file.startsWith(text, at) || at + text.length > end) return at;
    if (forMs >= READING_MS) {
      const before = await page.locator(CARET).innerText();
      await page.keyboard.press('Tab');
      await page.waitForFunction(([caret, was]) => document.querySelector<HTMLElement>(caret)?.innerText !== was, [
        CARET,
        before,
      ] as const);
      return offsetOf(await page.locator(CARET).innerText(), file);
    }
    await delay(Math.min(50, READING_MS - forMs));
  }
}

/** `Ln 3, Col 7` as an offset. */
function offsetOf(caret: string, file: string): number {
  const [line = 1, column = 1] = [...caret.matchAll(/\d+/g)].map(Number);
  return (
    file
      .split('\n')
      .slice(0, line - 1)
      .join('\n').length +
    (line > 1 ? 1 : 0) +
    column -
    1
  );
}

export function keyOf(character: string): string {
  return character === '\n' ? 'Enter' : character === ' ' ? 'Space' : character;
}

export async function openAt(page: Page, path: string, name: string, before: string): Promise<void> {
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first();
  await pickTyped(page, 'ControlOrMeta+P', `${path}:${line}:${column}`, row);
  await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
  await page.locator('.editor-instance .monaco-editor.focused').waitFor();
}

async function storm(page: Page, workspace: string, server: OracleServer): Promise<InEditor['storm']> {
  const path = join(workspace, 'storm.ts');
  writeFileSync(path, 'const value = ');
  await openAt(page, path, 'storm.ts', 'const value = ');
  const before = server.seen.length;
  server.options.refuse = { status: 402, body: { error: { message: 'No credits are left.' } } };
  await page.keyboard.type('compute(first, second) + third;', { delay: 140 });
  // Counts late requests and notifications, so it waits for a fixed time.
  await delay(1_000);
  return {
    requests: server.seen.length - before,
    popups: await page.locator('.notification-toast').count(),
  };
}
