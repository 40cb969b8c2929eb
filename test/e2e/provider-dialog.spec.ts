import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { waitUntil } from '../host/wait-until.ts';
import {
  came,
  OPENS_WITHIN_MS,
  pickTyped,
  runCommand,
  screenshot,
  typeInList,
  webviewFrame,
} from '../host/workbench.ts';
import { type ReceivedRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { waitForCaret } from './chat-harness.ts';
import { startStory } from './story.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

const KEY = 'sk-typed-by-hand-0123456789';

describe('provider dialog', () => {
  let upstream: Upstream;
  let harness: VSCodeHarness;
  let page: Page;
  let config: string;
  /** Holds an answer back until it is called. */
  let release: (() => void) | undefined;
  const step = startStory();

  before(async () => {
    upstream = await startUpstream(answer);
    harness = await startVSCodeHarness({ settings: { 'window.dialogStyle': 'custom' } });
    config = join(dirname(harness.workspace), 'config', 'svc', 'svc.jsonc');
    page = await harness.open();
    await page.locator('.statusbar-item', { hasText: 'Svc' }).first().waitFor();
  });
  after(async () => {
    await harness?.close();
    await upstream.close();
  });

  async function answer(request: ReceivedRequest, response: ServerResponse): Promise<void> {
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    const { path, headers } = request;
    if (path.startsWith('/slow')) {
      await new Promise<void>((resolve) => {
        release = resolve;
        response.on('close', resolve);
      });
      return;
    }
    if (path.startsWith('/locked')) return json(401, { error: { message: 'Invalid API key' } });
    if (path === '/v1/models') {
      return json(200, { data: ['alpha', 'beta', 'beta-mini', 'gamma'].map((id) => ({ id, context_length: 64_000 })) });
    }
    if (path === '/v1/chat/completions' && headers.authorization === `Bearer ${KEY}`) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (choice: unknown) => `data: ${JSON.stringify({ id: 'x', choices: [choice] })}\n\n`;
      response.write(chunk({ index: 0, delta: { role: 'assistant', content: 'ready' }, finish_reason: null }));
      response.end(`${chunk({ index: 0, delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`);
      return;
    }
    if (path === '/v1/chat/completions') return json(401, { error: { message: 'Invalid API key' } });
    json(404, { error: { message: 'Not found' } });
  }

  async function open(command = 'Svc: Add Custom Provider'): Promise<Frame> {
    await runCommand(page, command);
    const frame = await webviewFrame(page, '#baseURL');
    await frame.locator('#name:focus').waitFor();
    return frame;
  }

  /** Tab until the control that a test is about has the focus; nothing is clicked. */
  async function tabTo(frame: Frame, selector: string): Promise<void> {
    for (let presses = 0; presses < 60; presses++) {
      if ((await frame.locator(`${selector}:focus`).count()) > 0) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`Tab never reaches ${selector}`);
  }

  /** The first request from number `n` on whose path begins so. */
  async function requestTo(path: string, n: number): Promise<ReceivedRequest> {
    for (let at = n; ; at++) {
      const request = await upstream.request(at);
      if (request.path.startsWith(path)) return request;
    }
  }

  /** Runs a command that opens a list, and searches in it. A second F1 of the first step can replace the list. */
  async function list(command: string, search: string): Promise<void> {
    const row = page.locator('.quick-input-list .monaco-list-row', { hasText: command }).first();
    const found = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: search });
    do {
      await pickTyped(page, 'F1', `>${command}`, row);
      const searched = page.locator('.quick-input-widget:has(.quick-input-title:text-matches(".")) input.input:focus');
      if (!(await came(searched.waitFor({ timeout: OPENS_WITHIN_MS })))) continue;
      await typeInList(page, search);
    } while (!(await came(found.waitFor({ timeout: OPENS_WITHIN_MS }))));
  }

  /** Not with Ctrl+A: VS Code carries that one out in a webview itself, some time after the key. */
  async function selectLine(): Promise<void> {
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+Home');
  }

  const problem = (frame: Frame, field: string) => frame.locator(`[id="${field}-problem"]`);
  const closed = (frame: Frame) =>
    frame
      .locator('#baseURL')
      .waitFor({ state: 'detached' })
      .catch(() => undefined);

  /** Closes a changed dialog without saving. */
  async function cancel(frame: Frame): Promise<void> {
    await frame.locator('button', { hasText: 'Cancel' }).last().press('Enter');
    const question = page.locator('.monaco-dialog-box', { hasText: 'Discard the changes' });
    await question.locator('.monaco-button', { hasText: 'Discard Changes' }).click();
    await closed(frame);
  }

  step('provider dialog: can be filled, tested and saved with the keyboard', async () => {
    const frame = await open();
    await page.keyboard.type('Ácme Models');
    assert.equal(await frame.locator('#id').inputValue(), 'acme-models');
    await tabTo(frame, '#id');
    await selectLine();
    await page.keyboard.type('My Provider');
    await problem(frame, 'id').filter({ hasText: 'my-provider' }).waitFor();
    await selectLine();
    await page.keyboard.type('svc');
    await problem(frame, 'id').filter({ hasText: 'already' }).waitFor();
    await selectLine();
    await page.keyboard.type('acme');
    await frame.locator('#id[aria-invalid="false"]').waitFor();

    await tabTo(frame, '#baseURL');
    await page.keyboard.type(upstream.url);
    await frame.locator('.status.note', { hasText: `${upstream.url}/v1` }).waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await frame.locator('#baseURL').inputValue(), `${upstream.url}/v1`);

    await tabTo(frame, '#key');
    await page.keyboard.type(KEY);
    await frame.locator('#select-all').waitFor();
    await tabTo(frame, '#model-search');
    await page.keyboard.type('beta');
    await tabTo(frame, '#select-all');
    await page.keyboard.press('Space');
    assert.equal(await frame.locator('[id^="models."][id$=".id"]').count(), 2);
    await tabTo(frame, '#add-model');
    await page.keyboard.press('Enter');
    await frame.locator('[id="models.2.id"]:focus').waitFor();
    await page.keyboard.type('hand');
    await tabTo(frame, '[id="models.2.name"]');
    await page.keyboard.type('By Hand');

    await tabTo(frame, '#add-header');
    await page.keyboard.press('Enter');
    await frame.locator('[id="headers.0.name"]:focus').waitFor();
    await page.keyboard.type('X-Api-Token');
    assert.equal(await frame.locator('[id="headers.0.value"]').getAttribute('type'), 'password');
    await tabTo(frame, '[id="headers.0.value"]');
    await page.keyboard.type('header-secret');

    await tabTo(frame, '#test');
    await page.keyboard.press('Enter');
    const trial = frame.locator('#trial');
    await trial.filter({ hasText: 'HTTP 200' }).waitFor();
    await trial.filter({ hasText: /Chat works: \S+ · HTTP 200 · \d+ ms/ }).waitFor();
    await screenshot(page, 'provider-dialog-filled');

    await page.keyboard.press('ControlOrMeta+S');
    await closed(frame);
    await waitForCaret(page, await webviewFrame(page, '.composer textarea'));
    const text = readFileSync(config, 'utf8');
    assert.deepEqual(JSON.parse(text), {
      provider: {
        acme: {
          name: 'Ácme Models',
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${upstream.url}/v1`, headers: { 'X-Api-Token': 'header-secret' } },
          models: { beta: {}, 'beta-mini': {}, hand: { name: 'By Hand' } },
        },
      },
    });
    assert.ok(!text.includes(KEY), 'the key is in the file');
  });

  step('provider dialog: saved models are available immediately', async () => {
    await list('Svc: Choose Chat Model', 'By Hand');
    await page.keyboard.press('Enter');
    await list('Svc: Choose Chat Model', 'By Hand');
    await page.locator('.quick-input-list .monaco-list-row.focused .codicon-check').waitFor();
    await page.keyboard.press('Escape');
  });

  step('provider dialog: edits keep comments, and the page never contains the stored key', async () => {
    const written = readFileSync(config, 'utf8')
      .replace('"hand": {', '// picked by hand\n        "hand": {\n          "limit": { "context": 9000 }, // tokens')
      .replace('"provider"', '// all of mine\n  "provider"');
    writeFileSync(config, written);
    await list('Svc: Edit Provider', 'acme');
    await page.keyboard.press('Enter');
    const frame = await webviewFrame(page, '#delete');
    await frame.locator('#name:focus').waitFor();
    assert.equal(await frame.locator('#key').inputValue(), '••••••••');
    assert.ok(!(await frame.content()).includes(KEY));
    assert.ok(!(await frame.content()).includes('header-secret'));
    await selectLine();
    await page.keyboard.type('Acme');
    await page.keyboard.press('ControlOrMeta+Enter');
    await closed(frame);
    assert.equal(readFileSync(config, 'utf8'), written.replace('Ácme Models', 'Acme'));
  });

  step('provider dialog: a stored key is not used for another address', async () => {
    await list('Svc: Edit Provider', 'acme');
    await page.keyboard.press('Enter');
    const frame = await webviewFrame(page, '#delete');
    await frame.locator('#name:focus').waitFor();
    const before = upstream.requests.length;
    await tabTo(frame, '#baseURL');
    await selectLine();
    await page.keyboard.type(`${upstream.url.replace('127.0.0.1', 'localhost')}/v1`);
    const request = await waitUntil(
      'a request to the new address',
      () => upstream.requests.slice(before).find(({ headers }) => headers.host?.startsWith('localhost')),
      (found) => found !== undefined,
    );
    assert.equal(request?.headers.authorization, undefined);
    await frame.locator('#select-all').waitFor();
    await page.keyboard.press('ControlOrMeta+S');
    await problem(frame, 'key').filter({ hasText: 'Enter it again' }).waitFor();
    await frame.locator('#key:focus').waitFor();
    await cancel(frame);
  });

  it('provider dialog: reports an invalid list or address, and cancels a slow request', async () => {
    const frame = await open();
    await tabTo(frame, '#baseURL');
    await page.keyboard.type('ftp://example.com');
    await page.keyboard.press('Tab');
    await problem(frame, 'baseURL').filter({ hasText: 'https://' }).waitFor();
    const address = async (text: string) => {
      await frame.locator('#baseURL').focus();
      await selectLine();
      await page.keyboard.type(text);
    };
    await address(`${upstream.url}/locked`);
    await frame.locator('.reason', { hasText: /key/i }).waitFor();
    await screenshot(page, 'provider-dialog-refused');
    const before = upstream.requests.length;
    await address(`${upstream.url}/slow`);
    await frame.locator('.status', { hasText: 'Fetching' }).waitFor();
    const slow = await requestTo('/slow', before);
    await frame.locator('.status button', { hasText: 'Cancel' }).press('Enter');
    assert.equal(await slow.closed, true, 'the socket stayed open');
    release?.();
    await frame.locator('.status', { hasText: 'could not be fetched' }).waitFor();
    await cancel(frame);
  });

  it('provider dialog: asks before it discards changes, also when its tab is closed', async () => {
    const frame = await open();
    await page.keyboard.type('Unsaved');
    await runCommand(page, 'View: Close Editor');
    const question = page.locator('.monaco-dialog-box', { hasText: 'Discard the changes to Unsaved?' });
    await question.locator('.monaco-button', { hasText: 'Cancel' }).click();
    await closed(frame);
    const again = await webviewFrame(page, '#baseURL');
    await again.locator('#name:focus').waitFor();
    assert.equal(await again.locator('#name').inputValue(), 'Unsaved');
    await cancel(again);
  });

  step('provider dialog: deletes after confirmation', async () => {
    await list('Svc: Delete Provider', 'acme');
    await page.keyboard.press('Enter');
    const question = page.locator('.monaco-dialog-box');
    await question.filter({ hasText: 'Delete the provider Acme?' }).waitFor();
    await question.locator('.monaco-button:focus', { hasText: 'Delete' }).waitFor();
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    const text = await waitUntil(
      'svc.jsonc without the provider',
      () => readFileSync(config, 'utf8'),
      (written) => !written.includes('acme'),
    );
    await list('Svc: Edit Provider', 'svc');
    assert.equal(await page.locator('.quick-input-list .monaco-list-row', { hasText: 'acme' }).count(), 0);
    await page.keyboard.press('Escape');
    assert.match(text, /all of mine/);
  });
});
