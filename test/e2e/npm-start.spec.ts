import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { sharedBrowser } from '../host/chromium.ts';
import { observePage } from '../host/failure-report.ts';
import { openFile, runCommand, WITHIN_MS, webviewFrame, workbenchReady } from '../host/workbench.ts';
import { sendMessage } from './chat-harness.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** README's first command, as a newcomer without a key runs it. */
describe('npm start', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-start-'));
  let child: ChildProcess;
  let said = '';
  let page: Page;

  before(async () => {
    // No keys, no desktop, nothing of the developer's.
    const env = { PATH: process.env.PATH, HOME: home, SVC_HOST: 'browser' };
    child = spawn(process.execPath, [join(ROOT, 'scripts', 'start.ts')], { env, cwd: ROOT, stdio: 'pipe' });
    const address = await new Promise<string>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        said += chunk.toString('utf8');
        const [, url] = /^ {2}(http:\S+)$/m.exec(said) ?? [];
        if (url !== undefined && said.includes('Ctrl-C ends it.')) resolve(url);
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('exit', (code) => reject(new Error(`It ended with ${code}:\n${said}`)));
    });
    page = await (await sharedBrowser()).newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(WITHIN_MS);
    observePage(page);
    await page.goto(address);
    await workbenchReady(page);
  });
  after(async () => {
    await page?.context().close();
    if (child.exitCode === null) {
      child.kill('SIGINT');
      await once(child, 'exit');
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  it('npm start: states that it uses the simulated provider, and why', () => {
    assert.match(said, /No provider key in the environment and no model server on this machine/);
    assert.match(said, /simulated provider/);
    assert.match(said, /^Gateway: http:\/\/127\.0\.0\.1:\d+$/m);
  });

  it('npm start: completes code in the sample workspace, marked as simulated', async () => {
    // VS Code shows the README of a new folder, which would replace an editor opened before.
    await page.locator('.tab.active', { hasText: 'README.md' }).waitFor();
    // A page does not forward keys before it is loaded.
    await (await webviewFrame(page, 'h1')).locator('h1', { hasText: 'Sample workspace' }).waitFor();
    await openFile(page, 'receipt.ts');
    await page.locator('.statusbar-item', { hasText: 'Svc simulated' }).waitFor();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Enter');
    // After a space the editor suggests no words, which would hide ghost text.
    await page.keyboard.type('export function averagePrice(items: readonly Item[]): ', { delay: 30 });
    await page.locator('.ghost-text-decoration, .ghost-text').first().waitFor();
  });

  it('npm start: answers in the panel', async () => {
    await runCommand(page, 'Svc: Open Chat');
    const panel = await webviewFrame(page, '.composer textarea');
    await sendMessage(page, panel, 'Hello');
    await panel.locator('.message.assistant[aria-busy="false"]').waitFor();
    await panel.locator('.message.assistant', { hasText: /Simulated provider/ }).waitFor();
  });

  it('npm start: Ctrl-C ends all processes that it started', async () => {
    const [, gateway = ''] = /^Gateway: (\S+)$/m.exec(said) ?? [];
    assert.ok((await fetch(`${gateway}/healthz`)).ok);
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
    await assert.rejects(fetch(`${gateway}/healthz`));
    const [, host = ''] = /^ {2}(http:\/\/[^/]+)/m.exec(said) ?? [];
    await assert.rejects(fetch(host));
  });
});

/** The arguments that `npm start` passes to `code`, reported by a substitute program: there is no desktop. */
const STAND_IN = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
if (process.argv[2] === '--version') process.exit(0);
const text = readFileSync(process.env.SVC_CONFIG, 'utf8');
const { provider } = JSON.parse(text);
const { baseURL, apiKey } = Object.values(provider)[0].options;
fetch(baseURL + '/models', { headers: { authorization: 'Bearer ' + apiKey } }).then(async (answer) => {
  const said = { args: process.argv.slice(2), config: process.env.SVC_CONFIG, models: await answer.json() };
  writeFileSync(process.env.SAID, JSON.stringify(said));
});
`;

describe('npm start with a desktop VS Code', () => {
  it('npm start: opens VS Code with the sample workspace and a running gateway, and ends with it', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-desktop-'));
    const code = join(home, 'code');
    writeFileSync(code, STAND_IN, { mode: 0o755 });
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      DISPLAY: ':0',
      VSCODE_EXECUTABLE: code,
      SAID: join(home, 'said'),
    };
    const child = spawn(process.execPath, [join(ROOT, 'scripts', 'start.ts')], { env, cwd: ROOT, stdio: 'ignore' });
    const [ended] = await once(child, 'exit');
    assert.equal(ended, 0);
    const { args, config, models } = JSON.parse(readFileSync(env.SAID, 'utf8'));
    assert.ok(args.includes('--wait'), args);
    assert.equal(args[args.indexOf('--extensionDevelopmentPath') + 1], ROOT);
    assert.ok(existsSync(join(args.at(-1), 'src', 'receipt.ts')), args);
    assert.ok(models.data.length > 0);
    assert.equal(existsSync(config), false, 'the key stays on disk');
    rmSync(home, { recursive: true });
  });
});
