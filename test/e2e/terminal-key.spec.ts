import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { tabInto } from '../host/person.ts';
import { waitUntil } from '../host/wait-until.ts';
import { runCommand, webviewFrame } from '../host/workbench.ts';
import { type ReceivedRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { waitForCaret } from './chat-harness.ts';
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
    await harness?.close();
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
    await frame.locator('#name:focus').waitFor();
    await page.keyboard.type('Acme');
    await tabInto(page, frame.locator('#baseURL'), `${upstream.url}/v1`);
    await tabInto(page, frame.locator('#key'), KEY);
    await frame.locator('#save').click();
    await page.locator('.tab').waitFor({ state: 'detached' });
    await waitForCaret(page, await webviewFrame(page, '.transcript .empty'));
    await runCommand(page, 'Terminal: Create New Terminal');
    await page.locator('.terminal.xterm').waitFor();
    const out = join(dirname(harness.workspace), 'models.txt');
    // A shell that is still starting loses what is typed: its prompt ends with # or $.
    await page.locator('.terminal.xterm .xterm-rows', { hasText: /[#$]\s*$/ }).waitFor();
    await page.locator('.terminal.xterm').click();
    await page.keyboard.type(`svc models --provider acme > ${out}`);
    await page.keyboard.press('Enter');
    const written = () => (existsSync(out) ? readFileSync(out, 'utf8') : '');
    await waitUntil('the output of svc models', written, (text) => text === 'acme/alpha\n');
    assert.ok(!(await page.locator('.terminal.xterm').innerText()).includes(KEY));
  });
});
