import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { runCommand, webviewFrame } from '../host/workbench.ts';
import { type ReceivedRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

const KEY = 'sk-entered-in-the-dialog';

describe('a key that was entered in VS Code', () => {
  let upstream: Upstream;
  let harness: VSCodeHarness;
  let page: Page;

  before(async () => {
    upstream = await startUpstream(answer);
    harness = await startVSCodeHarness({
      config: {},
      settings: { 'terminal.integrated.gpuAcceleration': 'off', 'terminal.integrated.defaultProfile.linux': 'bash' },
    });
    page = await harness.open();
    await page.locator('.statusbar-item', { hasText: 'Set up Svc' }).waitFor();
  });
  after(async () => {
    await harness.close();
    await upstream.close();
  });

  function answer(request: ReceivedRequest, response: ServerResponse): void {
    const accepted = request.headers.authorization === `Bearer ${KEY}`;
    response.writeHead(accepted ? 200 : 401, { 'content-type': 'application/json' });
    const body = { data: [{ id: 'alpha' }] };
    response.end(JSON.stringify(accepted ? body : { error: { message: 'Invalid API key' } }));
  }

  it('key in the terminal: svc lists the models of a provider whose key was entered in the dialog', async () => {
    await runCommand(page, 'Svc: Add Custom Provider');
    const frame = await webviewFrame(page, '#baseURL');
    await frame.locator('#name').fill('Acme');
    await frame.locator('#baseURL').fill(`${upstream.url}/v1`);
    await frame.locator('#key').fill(KEY);
    await frame.locator('#save').click();
    await page.locator('.tab').waitFor({ state: 'detached' });
    await runCommand(page, 'Terminal: Create New Terminal');
    await page.locator('.terminal.xterm').waitFor();
    const out = join(dirname(harness.workspace), 'models.txt');
    for (let tries = 0; tries < 20 && !(existsSync(out) && readFileSync(out, 'utf8') !== ''); tries++) {
      // A shell that is still starting loses what is typed.
      await page.locator('.terminal.xterm textarea').focus();
      await page.keyboard.type(`svc models --provider acme > ${out}`);
      await page.keyboard.press('Enter');
      await sleep(2000);
    }
    assert.equal(readFileSync(out, 'utf8'), 'acme/alpha\n');
    assert.ok(!(await page.locator('.terminal.xterm').innerText()).includes(KEY));
  });
});
