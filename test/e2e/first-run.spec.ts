import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { tabInto } from '../host/person.ts';
import { waitUntil } from '../host/wait-until.ts';
import { actUntil, findNotification, pickTyped, runCommand, screenshot, webviewFrame } from '../host/workbench.ts';
import { type ReceivedRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { waitForCaret } from './chat-harness.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

const KEY = 'sk-entered-in-the-dialog';

describe('first run', () => {
  let harness: VSCodeHarness;
  let page: Page;
  let home: string;
  let upstream: Upstream;

  before(async () => {
    upstream = await startUpstream(answer);
    harness = await startVSCodeHarness({
      config: {},
      settings: {
        'window.dialogStyle': 'custom',
        // The text of the terminal is in the page only when it is not drawn by the graphics card.
        'terminal.integrated.gpuAcceleration': 'off',
        'terminal.integrated.defaultProfile.linux': 'bash',
      },
    });
    home = dirname(harness.workspace);
    page = await harness.open();
    await page.locator('.statusbar-item', { hasText: 'Svc' }).first().waitFor();
  });
  after(async () => {
    await harness?.close();
    await upstream.close();
  });

  /** Runs a command that opens something which keeps the quick input open. */
  async function run(command: string): Promise<void> {
    const row = page.locator('.quick-input-list .monaco-list-row', { hasText: command }).first();
    await pickTyped(page, 'F1', `>${command}`, row);
  }

  it('first run: opens nothing automatically', async () => {
    assert.equal(await page.locator('.notification-toast').count(), 0);
    assert.equal(await page.locator('.tab').count(), 0);
  });

  it('first run: the status item says that Svc must be set up, and its menu begins with the ways to do it', async () => {
    const item = page.locator('.statusbar-item', { hasText: 'Set up Svc' });
    await item.locator('.codicon-plug').waitFor();
    const rows = page.locator('.quick-input-list .monaco-list-row');
    // A window that was just loaded may still be moving the focus, which closes the menu.
    await actUntil(page, () => item.click(), rows.filter({ hasText: 'Add a provider…' }));
    const labels = (await rows.locator('.label-name').allInnerTexts()).slice(0, 3).map((text) => text.trim());
    assert.deepEqual(labels, ['Add a provider…', 'Use a model on this machine…', 'Use a gateway key…']);
    await screenshot(page, 'first-run-menu');
    await page.keyboard.press('Escape');
  });

  it('first run: without a model server on this machine, the list says how to get one', async () => {
    await run('Svc: Set Up a Local Model');
    const rows = page.locator('.quick-input-list .monaco-list-row');
    await rows.filter({ hasText: 'Get Ollama' }).waitFor();
    await rows.filter({ hasText: 'Look again' }).waitFor();
    await screenshot(page, 'first-run-no-server');
    await page.keyboard.press('Escape');
  });

  it('first run: the empty chat begins with the ways to get a model', async () => {
    await run('Svc: Open Chat');
    const frame = await webviewFrame(page, '.ways');
    const buttons = (await frame.locator('.ways button').allInnerTexts()).map((text) => text.trim());
    assert.deepEqual(buttons.slice(0, 3), ['Add a provider…', 'Use a model on this machine…', 'Use a gateway key…']);
    await screenshot(page, 'first-run-chat');
    await frame.locator('button', { hasText: 'Use a gateway key…' }).click();
    const dialog = await webviewFrame(page, '#baseURL');
    assert.equal(await dialog.locator('#id').inputValue(), 'svc');
    await dialog.locator('button', { hasText: 'Cancel' }).last().press('Enter');
    await page.locator('.tab').waitFor({ state: 'detached' });
  });

  it('first run: imports providers of another tool after each was shown, and signs out of all after one confirmation', async () => {
    const file = join(home, '.continue', 'config.json');
    mkdirSync(dirname(file));
    const model = {
      title: 'Mine',
      provider: 'openai',
      model: 'mine',
      apiBase: 'http://127.0.0.1:9/v1',
      apiKey: 'sk-imported',
    };
    writeFileSync(file, JSON.stringify({ models: [model] }));
    await run('Svc: Import Providers from Other Tools');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Continue' }).click();
    await page.locator('.quick-input-widget input.input').press('Enter');
    const frame = await webviewFrame(page, '#baseURL');
    assert.equal(await frame.locator('#baseURL').inputValue(), 'http://127.0.0.1:9/v1');
    assert.equal(await frame.locator('[id="models.0.id"]').inputValue(), 'mine');
    assert.ok(!(await frame.content()).includes('sk-imported'), 'the key is in the page');
    await frame.locator('#save').press('Enter');
    await frame
      .locator('#baseURL')
      .waitFor({ state: 'detached' })
      .catch(() => undefined);
    await page.locator('.tab').waitFor({ state: 'detached' });
    await waitForCaret(page, await webviewFrame(page, '.transcript .empty'));
    const text = readFileSync(join(home, 'config', 'svc', 'svc.jsonc'), 'utf8');
    assert.match(text, /"mine"/);
    assert.ok(!text.includes('sk-imported'), 'the key is in the file');
    await run('Svc: Sign Out of Everything');
    const question = page.locator('.monaco-dialog-box');
    await question.filter({ hasText: 'openai' }).waitFor();
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    await run('Svc: Sign Out of Everything');
    await findNotification(page, 'No key is stored.');
    await runCommand(page, 'Notifications: Clear All Notifications');
  });

  it('first run: a model server on this machine is used with one press, and the next key is in the chat', async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url?.endsWith('/models')) response.end(JSON.stringify({ data: [{ id: 'one' }, { id: 'two' }] }));
      else response.writeHead(404).end('{}');
    });
    const { port, hostname } = new URL(`http://${harness.ollamaHost}`);
    server.listen(Number(port), hostname);
    try {
      await run('Svc: Set Up a Local Model');
      const row = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: 'Ollama, 2 models. Use it' });
      await row.waitFor();
      await screenshot(page, 'first-run-one-server');
      await page.keyboard.press('Enter');
      const frame = await webviewFrame(page, '.transcript .empty');
      await waitForCaret(page, frame);
      await page.keyboard.type('hello');
      const typed = () => frame.locator('.composer textarea').inputValue();
      await waitUntil('the typed text in the chat', typed, (text) => text === 'hello');
      assert.ok(readFileSync(join(home, 'config', 'svc', 'svc.jsonc'), 'utf8').includes(harness.ollamaHost));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

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

/** Lists models to clients that have the key. */
function answer(request: ReceivedRequest, response: ServerResponse): void {
  const accepted = request.headers.authorization === `Bearer ${KEY}`;
  response.writeHead(accepted ? 200 : 401, { 'content-type': 'application/json' });
  const body = { data: [{ id: 'alpha' }] };
  response.end(JSON.stringify(accepted ? body : { error: { message: 'Invalid API key' } }));
}
