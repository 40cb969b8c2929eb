import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../host/chromium.ts';
import { openFile, runCommand, webviewFrame, workbenchReady } from '../host/workbench.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** README's first command, as a newcomer without a key runs it. */
describe('npm start', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-start-'));
  let child: ChildProcess;
  let said = '';
  let browser: Browser;
  let page: Page;

  before(async function () {
    this.timeout(180_000);
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
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(address);
    await workbenchReady(page);
  });
  after(async () => {
    await browser?.close();
    if (child.exitCode === null) {
      child.kill('SIGINT');
      await once(child, 'exit');
    }
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  it('says that it uses the simulated provider, and why', () => {
    assert.match(said, /No provider key in the environment and no model server on this machine/);
    assert.match(said, /simulated provider/);
    assert.match(said, /^Gateway: http:\/\/127\.0\.0\.1:\d+$/m);
  });

  it('completes code in the sample workspace, labelled as simulated', async () => {
    // A folder that is new to VS Code shows its README, which would take the place of what is opened before.
    await page.locator('.tab.active', { hasText: 'README.md' }).waitFor();
    // Nor does a page hand on its keys before it is there.
    await (await webviewFrame(page, 'h1')).locator('h1', { hasText: 'Sample workspace' }).waitFor();
    await openFile(page, 'receipt.ts');
    await page.locator('.statusbar-item', { hasText: 'Svc simulated' }).waitFor();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('export function formatPrice(cents', { delay: 30 });
    await page.locator('.ghost-text-decoration, .ghost-text').first().waitFor();
  });

  it('answers in the panel', async () => {
    await runCommand(page, 'Svc: Open Chat');
    const panel = await webviewFrame(page, '.composer textarea');
    await panel.locator('.composer textarea').fill('Hello');
    await panel.locator('.composer textarea').press('Enter');
    await panel.locator('.message.assistant[aria-busy="false"]').waitFor();
    assert.match(await panel.locator('.message.assistant').innerText(), /simulated provider/);
  });

  it('ends all that it started at Ctrl-C', async () => {
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
