import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { launchChromium } from '../../host/chromium.ts';
import { startCodeServer } from '../../host/code-server.ts';
import { openWorkbench, pickTyped, runCommand, workbenchReady } from '../../host/workbench.ts';
import { Oracle } from '../typist/oracle.ts';
import { startOracle } from '../typist/oracle-server.ts';
import { type Measured, summarize } from './in-node.ts';
import type { Project } from './project.ts';
import type { ContextTask } from './tasks.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const READY = '.statusbar-item[aria-label^="Svc: Completions by"]';
const SETTINGS = {
  'editor.autoClosingBrackets': 'never',
  'editor.autoClosingQuotes': 'never',
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.suggestOnTriggerCharacters': false,
  'editor.parameterHints.enabled': false,
  'git.enabled': false,
};
/** The cursor rests for so long before the first key. */
const REST_MS = 2_500;
const KEY_MS = 140;
/** TypeScript loads the project once. */
const LOADING_MS = 15_000;
/** After the last key: a request may be on its way. */
const AFTER_MS = 600;

/** The same in a real VS Code with TypeScript's language server: real keys, and the requests that arrive at the provider. */
export async function measureInEditor(
  tasks: readonly ContextTask[],
  { opened, done }: { readonly opened: boolean; readonly done: (task: ContextTask, measured: Measured) => void },
): Promise<readonly Measured[]> {
  const results: Measured[] = [];
  for (const project of new Set(tasks.map((task) => task.project))) {
    const own = tasks.filter((task) => task.project === project);
    results.push(...(await measureProject(project, own, opened, done)));
  }
  return results;
}

async function measureProject(
  project: Project,
  tasks: readonly ContextTask[],
  opened: boolean,
  done: (task: ContextTask, measured: Measured) => void,
): Promise<readonly Measured[]> {
  const server = await startOracle({ oracle: new Oracle([], 0), firstMs: 100, charactersASecond: 400 });
  const root = mkdtempSync(join(tmpdir(), 'svc-context-'));
  const workspace = join(root, 'workspace');
  mkdirSync(workspace);
  cpSync(join(project.root, 'src'), join(workspace, 'src'), { recursive: true });
  const compilerOptions = {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowJs: true,
    strict: true,
  };
  writeFileSync(join(workspace, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
  const host = await startCodeServer({ env: environment(root, server.url), settings: SETTINGS });
  const browser = await launchChromium();
  try {
    const page = await openWorkbench(browser, host, { folder: workspace, extension: ROOT });
    await workbenchReady(page);
    await page.locator(READY).first().waitFor({ timeout: 90_000 });
    const [first] = project.files;
    await open(page, workspace, first ?? '', 1, 1);
    await delay(LOADING_MS);
    const results: Measured[] = [];
    for (const task of tasks) {
      if (opened)
        for (const file of new Set(task.needed.map((each) => each.file))) await open(page, workspace, file, 1, 1);
      const path = join(workspace, task.file);
      writeFileSync(path, task.before + task.after);
      const lines = task.before.split('\n');
      await open(page, workspace, task.file, lines.length, (lines.at(-1)?.length ?? 0) + 1);
      await delay(REST_MS);
      const from = server.seen.length;
      for (const character of task.firstLine) {
        await page.keyboard.press(character === ' ' ? 'Space' : character);
        await delay(KEY_MS);
      }
      await delay(AFTER_MS);
      const prompts = server.seen.slice(from).map(({ body }) => `${body.prompt}`);
      const measured = summarize(task, prompts, 0);
      results.push(measured);
      done(task, measured);
      await page.keyboard.press('Escape');
      await runCommand(page, 'View: Revert and Close Editor');
      writeFileSync(path, project.text(task.file));
    }
    return results;
  } finally {
    await browser.close();
    await host.close();
    await server.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function open(page: Page, workspace: string, file: string, line: number, column: number): Promise<void> {
  const name = file.slice(file.lastIndexOf('/') + 1);
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first();
  await pickTyped(page, 'ControlOrMeta+P', `${join(workspace, file)}:${line}:${column}`, row);
  await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
  const place = page.locator('[id="status.editor.selection"]', { hasText: `Ln ${line}, Col ${column}` });
  await place.waitFor();
}

function environment(root: string, url: string): Record<string, string> {
  const config = join(root, 'svc.jsonc');
  const options = { baseURL: `${url}/v1`, fimURL: `${url}/v1/fim` };
  const models = {
    fim: { name: 'Oracle', limit: { context: 32_000, output: 4_000 }, cost: { input: 0.3, output: 0.9 } },
  };
  const provider = { oracle: { name: 'Oracle', fim: 'mistral', options, models } };
  writeFileSync(config, JSON.stringify({ provider, completionModel: 'oracle/fim' }), { mode: 0o600 });
  return { HOME: root, XDG_CONFIG_HOME: join(root, 'config'), SVC_DISABLE_CATALOG_REFRESH: '1', SVC_CONFIG: config };
}
