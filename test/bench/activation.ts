/**
 * What Svc adds to the start of a window: its own code in the extension host of a real VS Code, beside an
 * extension that does nothing. VS Code itself measures both (Developer: Show Running Extensions): loading the
 * code and calling `activate`. `node test/bench/activation.ts [rounds]` after a build.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../host/chromium.ts';
import { type CodeServer, startCodeServer } from '../host/code-server.ts';
import { openWorkbench, runCommand, workbenchReady, workbenchUrl } from '../host/workbench.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Milliseconds of our own code. */
const LIMIT = 50;
const rounds = Number(process.argv[2] ?? 7);

const home = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const empty = join(home, 'empty');
mkdirSync(empty);
writeFileSync(join(empty, 'extension.js'), 'export function activate() {}\n');
writeFileSync(
  join(empty, 'package.json'),
  JSON.stringify({
    name: 'empty',
    publisher: 'bench',
    displayName: 'Empty Extension',
    version: '1.0.0',
    type: 'module',
    main: './extension.js',
    engines: { vscode: '^1.106.0' },
    activationEvents: ['onStartupFinished'],
  }),
);

const host = await startCodeServer({
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

async function measure(browser: Browser, host: CodeServer): Promise<{ svc: number; empty: number }> {
  const both = workbenchUrl(host, { folder: ROOT, extension: ROOT });
  const url = new URL(both);
  const remote = `vscode-remote://127.0.0.1:${host.port}`;
  const extensions = [ROOT, empty].map((path) => ['extensionDevelopmentPath', `${remote}${path}`]);
  url.searchParams.set('payload', JSON.stringify(extensions));
  const page = await openWorkbench(browser, host, { folder: ROOT });
  try {
    await page.goto(url.href);
    await workbenchReady(page);
    await page.locator('.statusbar-item', { hasText: 'Svc' }).first().waitFor();
    await runCommand(page, 'Developer: Show Running Extensions');
    return { svc: await activation(page, 'Svc'), empty: await activation(page, 'Empty Extension') };
  } finally {
    await page.context().close();
  }
}

/** Milliseconds that the editor of running extensions names for one. */
async function activation(page: Page, name: string): Promise<number> {
  const row = page.locator('.runtime-extensions-editor .extension').filter({
    has: page.locator('.name', { hasText: new RegExp(`^${name}$`) }),
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
