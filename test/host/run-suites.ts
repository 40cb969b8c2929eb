// Runs the suites of test/host/suites inside a real VS Code: a desktop one if there is one and a display,
// else the browser host. SVC_SUITES narrows them by a part of their titles; SVC_TEST_COUNTS names a file for the counts.
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { format } from 'node:util';
import { runTests } from '@vscode/test-electron';
import { allowFolder } from '../../src/config/load/allowed-folders.ts';
import { launchChromium } from './chromium.ts';
import { QUIET_SETTINGS, startCodeServer } from './code-server.ts';
import { addEvidence } from './evidence.ts';
import { reportFailure } from './failure-report.ts';
import { openWorkbench } from './workbench.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SUITES = join(ROOT, 'out', 'test', 'suite.cjs');
const FIXTURE = join(import.meta.dirname, 'fixtures', 'workspace');

/**
 * A workbench that never loads the tests, or hangs, must not block the command. Each line of its output is progress, and
 * a test has ten minutes.
 */
const SILENCE_MS = 15 * 60_000;

/** The suites look at documents, not at the window: each of its parts is drawn after each change. */
const SMALL = { width: 800, height: 400 };
const SETTINGS = {
  ...QUIET_SETTINGS,
  'breadcrumbs.enabled': false,
  'editor.minimap.enabled': false,
  'editor.occurrencesHighlight': 'off',
  'explorer.autoReveal': false,
  'workbench.editor.showTabs': 'none',
  // VS Code's Git fails when it looks at a repository that a test has removed, and Mocha takes that for a failed test.
  'git.enabled': false,
};

const workspace = mkdtempSync(join(tmpdir(), 'svc-suites-'));
cpSync(FIXTURE, workspace, { recursive: true });
const passed = await (useDesktop() ? runInDesktop() : runInBrowser()).finally(() =>
  rmSync(workspace, { recursive: true, force: true, maxRetries: 5 }),
);
process.exit(passed ? 0 : 1);

function useDesktop(): boolean {
  if (process.env.VSCODE_EXECUTABLE) return true;
  return process.env.SVC_HOST === 'desktop' && existsSync(process.env.DISPLAY ? '/' : '');
}

/** The suites configure their models in the workspace, which a user has to allow. @returns where the answer is stored. */
async function allowWorkspace(home: string): Promise<Record<string, string>> {
  const env = { XDG_STATE_HOME: join(home, 'state') };
  await allowFolder({ env, platform: process.platform, home }, workspace, true);
  return env;
}

async function runInDesktop(): Promise<boolean> {
  const named = process.env.VSCODE_EXECUTABLE;
  await runTests({
    ...(named ? { vscodeExecutablePath: named } : {}),
    extensionDevelopmentPath: ROOT,
    extensionTestsPath: SUITES,
    extensionTestsEnv: await allowWorkspace(mkdtempSync(join(tmpdir(), 'svc-suites-home-'))),
    launchArgs: [workspace, '--disable-workspace-trust', '--disable-extensions'],
  });
  return true;
}

async function runInBrowser(): Promise<boolean> {
  const home = mkdtempSync(join(tmpdir(), 'svc-suites-home-'));
  const reports = await receiveFailures();
  // A separate home folder: the suites must not read the developer's svc.jsonc.
  const host = await startCodeServer({
    settings: SETTINGS,
    env: {
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      ...(await allowWorkspace(home)),
      SVC_DISABLE_CATALOG_REFRESH: '1',
      SVC_TEST_ROOT: ROOT,
      SVC_TEST_REPORTS: reports.url,
    },
  });
  addEvidence(() => host.extensionLogs());
  const browser = await launchChromium();
  try {
    return await new Promise<boolean>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('VS Code printed nothing for 15 minutes.')), SILENCE_MS);
      openWorkbench(browser, host, {
        folder: workspace,
        extension: ROOT,
        tests: SUITES,
        viewport: SMALL,
        prepare: async (page) => {
          await page.exposeFunction('codeAutomationLog', (type: string, args: unknown[]) => {
            timer.refresh();
            log(type, args);
          });
          await page.exposeFunction('codeAutomationExit', (code: number) => {
            clearTimeout(timer);
            resolve(code === 0);
          });
        },
      }).catch(reject);
    });
  } finally {
    await browser.close();
    await host.close();
    reports.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The tests run in the extension host, and their window is here: each that fails is sent, and waits for its picture. */
async function receiveFailures(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(async (request, response) => {
    const { title, files } = (await json(request)) as { title: string; files: Record<string, string> };
    await reportFailure(title, files);
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function log(type: string, args: unknown[]): void {
  const text = format(...args);
  // VS Code's own agents look for an account that no test has, its log for a native module that is not built.
  if (text.startsWith('[AgentHost]') || text.includes('Could not locate the bindings file')) return;
  (type === 'error' ? process.stderr : process.stdout).write(`${text}\n`);
}
