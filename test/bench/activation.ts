/**
 * Cost of activating the extension in the extension host of a real VS Code, compared with an extension that
 * does nothing. VS Code itself measures both (Developer: Show Running Extensions): loading the code and calling
 * `activate`. Both are started by a command in an idle window, because at the start of a window
 * all extensions wait for each other. `node test/bench/activation.ts [rounds]` after a release build.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../host/chromium.ts';
import { type CodeServer, startCodeServer } from '../host/code-server.ts';
import { runCommand, workbenchReady, workbenchUrl } from '../host/workbench.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Milliseconds of our own code. */
const LIMIT = 50;
const EMPTY = {
  name: 'empty',
  publisher: 'bench',
  displayName: 'Empty Extension',
  version: '1.0.0',
  type: 'module',
  main: './extension.js',
  engines: { vscode: '^1.105.0' },
  contributes: { commands: [{ command: 'empty.run', title: 'Empty: Run' }] },
};
const rounds = Number(process.argv[2] ?? 7);

const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const extensionsDir = join(home, 'extensions');
const workspace = join(home, 'workspace');
mkdirSync(workspace);
install('svc.svc-0.1.0', JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')), (folder) => {
  for (const part of ['dist', 'media', 'package.nls.json', 'schemas']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
});
install('bench.empty-1.0.0', EMPTY, (folder) =>
  writeFileSync(
    join(folder, 'extension.js'),
    "import * as vscode from 'vscode';\nexport const activate = () => void vscode.commands.registerCommand('empty.run', () => 0);\n",
  ),
);

const host = await startCodeServer({
  extensionsDir,
  settings: { 'workbench.editor.useModal': 'off' },
  env: { HOME: home, XDG_CONFIG_HOME: join(home, '.config'), SVC_DISABLE_CATALOG_REFRESH: '1' },
});
const browser = await launchChromium();
const times: { svc: number; empty: number }[] = [];
try {
  for (let round = 0; round <= rounds; round++) {
    const measured = await measure(browser, host);
    // The first start fills VS Code's own caches.
    if (round > 0) times.push(measured);
  }
} finally {
  await browser.close();
  await host.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
report();

/** Puts an extension where VS Code finds it; it starts with its first command and not before. */
function install(name: string, manifest: object, fill: (folder: string) => void): void {
  const folder = join(extensionsDir, name);
  mkdirSync(folder, { recursive: true });
  fill(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, activationEvents: [] }));
}

async function measure(browser: Browser, host: CodeServer): Promise<{ svc: number; empty: number }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 2400 } });
  try {
    await page.goto(workbenchUrl(host, { folder: workspace }));
    await workbenchReady(page);
    await runCommand(page, 'Developer: Show Running Extensions');
    // Git is the last of VS Code's own extensions that such a window starts.
    await activation(page, 'Git');
    await runCommand(page, 'Empty: Run');
    const empty = await activation(page, 'Empty Extension');
    await runCommand(page, 'Svc: Show Log');
    return { svc: await activation(page, 'Svc|svc.svc'), empty };
  } finally {
    await page.close();
  }
}

/** Milliseconds that the editor of running extensions names for one. */
async function activation(page: Page, name: string): Promise<number> {
  const row = page.locator('.runtime-extensions-editor .extension').filter({
    has: page.locator('.name', { hasText: new RegExp(`^(${name})$`) }),
  });
  const time = row.locator('.activation-time');
  await time.filter({ hasText: /\d+ms/ }).waitFor();
  const found = /(\d+)ms/.exec(await time.innerText())?.[1];
  if (found === undefined) throw new Error(`No activation time for ${name}.`);
  return Number(found);
}

function report(): void {
  const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  const svc = median(times.map((time) => time.svc));
  const base = median(times.map((time) => time.empty));
  const size = statSync(join(ROOT, 'dist', 'extension.js')).size;
  console.log(`rounds: ${times.map((time) => `${time.svc}/${time.empty}`).join(' ')} ms (Svc/empty)`);
  console.log(`median: Svc ${svc} ms, empty extension ${base} ms, ratio ${(svc / Math.max(1, base)).toFixed(1)}`);
  console.log(`own code: ${svc - base} ms of ${LIMIT} ms; dist/extension.js ${Math.round(size / 1024)} kB`);
  if (svc - base > LIMIT) process.exitCode = 1;
}
