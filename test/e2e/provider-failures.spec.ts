import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { actUntil, openFile, runCommand, screenshot, webviewFrame } from '../host/workbench.ts';
import { type ReceivedRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { newConversation, sendMessage } from './chat-harness.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

const KEY = 'sk-of-the-user-0123456789';

describe('providers that refuse requests', () => {
  let upstream: Upstream;
  let harness: VSCodeHarness;
  let page: Page;
  let status: number;

  before(async () => {
    status = 200;
    upstream = await startUpstream(answer);
    const options = { baseURL: `${upstream.url}/v1`, fimURL: `${upstream.url}/v1/fim`, apiKey: KEY };
    harness = await startVSCodeHarness({
      config: { provider: { acme: { name: 'Acme Models', fim: 'mistral', options } } },
      settings: { 'window.dialogStyle': 'custom' },
    });
    page = await harness.open();
    await page.locator('.statusbar-item[aria-label^="Svc: Completions by"]').waitFor();
  });
  after(async () => {
    await harness?.close();
    await upstream.close();
  });

  /** Refuses requests without the key, which a project must not get. */
  function answer(request: ReceivedRequest, response: ServerResponse): void {
    const json = (code: number, body: unknown, headers = {}) => {
      response.writeHead(code, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${KEY}`) return json(401, { error: { message: 'No key' } });
    if (request.method !== 'POST') return json(200, { data: [{ id: 'codestral' }] });
    if (status !== 200) return json(status, { error: { message: 'Slow down' } }, { 'retry-after': '18' });
    json(200, { choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] });
  }

  it('rate limit: the chat and the status menu say when the request is sent again, and how to stop', async () => {
    status = 429;
    await runCommand(page, 'Svc: Open Chat');
    const frame = await webviewFrame(page, '.composer textarea');
    await sendMessage(page, frame, 'Hello');
    const note = frame.locator('.note', { hasText: /Rate limited, retrying in \d+ s/ });
    await note.waitFor();
    await screenshot(page, 'rate-limit-chat');
    await note.locator('button', { hasText: 'Use another model' }).waitFor();
    await note.locator('button', { hasText: 'Stop' }).click();
    await frame.locator('.note', { hasText: 'Stopped' }).waitFor();

    const file = join(harness.workspace, 'limited.ts');
    writeFileSync(file, 'const value = ');
    await openFile(page, file);
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.type('some');
    const rows = page.locator('.quick-input-list .monaco-list-row');
    // A menu that is opened during a request has no problem.
    await actUntil(
      page,
      () => page.locator('.statusbar-item.warning-kind', { hasText: 'Svc' }).click(),
      rows.filter({ hasText: /Try again now.*Rate limited, retrying in \d+ s.*Acme Models/s }),
    );
    await rows.filter({ hasText: 'Stop retrying' }).waitFor();
    await rows.filter({ hasText: 'Use another model…' }).waitFor();
    await screenshot(page, 'rate-limit-menu');
    await page.keyboard.press('Escape');
    status = 200;
  });

  it('refused key: the menu begins with the key of the provider, by its display name', async () => {
    status = 401;
    const again = page.locator('.quick-input-list .monaco-list-row', { hasText: 'Try again now' });
    await actUntil(page, () => page.locator('.statusbar-item.warning-kind', { hasText: 'Svc' }).click(), again);
    await again.click();
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    await page.locator('.editor-instance .monaco-editor.focused').first().waitFor();
    await page.keyboard.type('thing');
    await page.locator('.statusbar-item.warning-kind[aria-label*="Slow down"]:not([aria-label*="retrying"])').click();
    const first = page.locator('.quick-input-list .monaco-list-row').first();
    await first.filter({ hasText: 'Set the key of Acme Models…' }).waitFor();
    await page.keyboard.press('Escape');
    status = 200;
  });

  const moved = () => upstream.url.replace('127.0.0.1', 'localhost');
  const requestsToMoved = () =>
    upstream.requests.filter(({ headers }) => String(headers.host).startsWith('localhost')).length;

  it('project settings: wait with a question that names them, and nothing is sent to the address of the project', async () => {
    const options = { baseURL: `${moved()}/v1`, fimURL: moved() };
    writeFileSync(join(harness.workspace, 'svc.jsonc'), JSON.stringify({ provider: { acme: { options } } }));
    const item = page.locator('.statusbar-item', { hasText: 'Project settings wait' });
    await item.waitFor();
    const frame = await newConversation(page);
    await sendMessage(page, frame, 'Hello');
    await frame.locator('.markdown', { hasText: 'Hello' }).waitFor();
    assert.equal(requestsToMoved(), 0);
    await item.click();
    const question = page.locator('.monaco-dialog-box', { hasText: 'This project wants to change where and how' });
    await question.getByText('provider.acme.options.baseURL').waitFor();
    await screenshot(page, 'project-settings-wait');
    await question.locator('.monaco-button', { hasText: 'Allow This Project' }).click();
    await page.locator('.monaco-dialog-box', { hasText: 'This project wants to send your key' }).waitFor();
    await page.keyboard.press('Escape');
  });

  it('key withheld: is shown with its question, also if the list of models was refused for lack of the key', async () => {
    const project = join(harness.workspace, 'svc.jsonc');
    await page.locator('.statusbar-item', { hasText: 'Key withheld' }).waitFor();
    await runCommand(page, 'Svc: New Conversation');
    const frame = await webviewFrame(page, '.ways');
    await frame.locator('p', { hasText: 'The key of Acme Models was withheld' }).waitFor();
    assert.doesNotMatch(await frame.locator('body').innerText(), /No model is set up/);
    await screenshot(page, 'key-withheld');
    await frame.locator('.ways button').first().click();
    const question = page.locator('.monaco-dialog-box', {
      hasText: 'This project wants to send your key for Acme Models',
    });
    await question.locator('.monaco-button', { hasText: 'Send It There' }).click();
    await page.locator('.statusbar-item[aria-label^="Svc: Completions by"]').waitFor();
    rmSync(project);
  });
});
