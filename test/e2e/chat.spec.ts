import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Frame, Locator, Page } from 'playwright-core';
import { openFile, runCommand, screenshot, webviewFrame } from '../host/workbench.ts';
import { type Script, streamFrames } from '../upstream/answers.ts';
import { type ReceivedRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { type Desk, setDesk } from './desk.ts';

describe('chat in the editor', () => {
  let upstream: Upstream;
  let desk: Desk;
  let page: Page;
  let answer: (request: ReceivedRequest, response: ServerResponse) => void;

  before(async () => {
    upstream = await startUpstream((request, response) => answer(request, response));
    const model = {
      name: 'Large',
      tool_call: true,
      limit: { context: 50_000, output: 4000 },
      cost: { input: 3, output: 15 },
    };
    desk = await setDesk({
      config: () => ({
        model: 'up/large',
        provider: { up: { name: 'Up', options: { baseURL: `${upstream.url}/v1` }, models: { large: model } } },
      }),
    });
    writeFileSync(join(desk.workspace, 'target.ts'), '');
    page = await desk.open();
    await openFile(page, 'receipt.ts');
  });
  after(async () => {
    await desk.close();
    await upstream.close();
  });
  beforeEach(async () => {
    answer = saying({ text: ['Hello', ' there.'] });
    await fresh();
  });

  /** No page of ours has the focus: when one has it again, it was asked to. */
  async function letGo(): Promise<void> {
    for (const frame of page.frames()) {
      await frame.evaluate(
        () => document.activeElement instanceof HTMLTextAreaElement && document.activeElement.blur(),
      );
    }
  }

  /** A new conversation whose page has the focus that it asked for: what comes next keeps its own. */
  async function fresh(): Promise<void> {
    await letGo();
    await runCommand(page, 'Svc: New Conversation');
    const frame = await panel();
    await frame.locator('.empty').waitFor();
    await frame.locator('.composer textarea:focus').waitFor();
  }

  /** Opens a list of ours: it stays open, which `runCommand` would wait for the end of. */
  async function openList(on: Page, title: string): Promise<Locator> {
    await on.keyboard.press('F1');
    const input = on.locator('.quick-input-widget input.input');
    await input.fill(`>${title}`);
    await on.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().waitFor();
    await on.keyboard.press('Enter');
    await on.locator('.quick-input-title', { hasText: 'Conversations' }).waitFor();
    return input;
  }

  const panel = () => webviewFrame(page, '.composer textarea');
  const requests = () => upstream.requests.filter(({ method }) => method === 'POST');

  /** Answers with scripts, one a request, the last from then on. */
  function saying(...scripts: readonly Script[]): typeof answer {
    let at = 0;
    return (_request, response) => {
      const script = scripts[Math.min(at, scripts.length - 1)] ?? {};
      at += 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        streamFrames('chat', script)
          .map((frame) => `${frame}\n\n`)
          .join(''),
      );
    };
  }

  /** Says the beginning at once and the rest when the test lets it. */
  function halting(): { readonly goOn: () => void } {
    const gate = Promise.withResolvers<void>();
    const frames = streamFrames('chat', { text: ['The beginning', ' and the end.'] });
    answer = async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${frames.slice(0, 2).join('\n\n')}\n\n`);
      await gate.promise;
      response.end(`${frames.slice(2).join('\n\n')}\n\n`);
    };
    return { goOn: () => gate.resolve() };
  }

  async function send(text: string): Promise<Frame> {
    const frame = await panel();
    await frame.locator('.composer textarea').fill(text);
    await frame.locator('.composer textarea').press('Enter');
    return frame;
  }

  const ended = (frame: Frame) => frame.locator('.message.assistant[aria-busy="false"]').last().waitFor();

  it('sends, shows the answer with its price, and goes on from it', async () => {
    const frame = await send('Hi');
    await ended(frame);
    assert.match(await frame.locator('.message.assistant .markdown').innerText(), /Hello there\./);
    assert.match(
      await frame.locator('.message.assistant .figures').last().innerText(),
      /Large · 11 in, 7 out · \$0\.0001/,
    );
    await send('And?');
    await frame.locator('.message.assistant').nth(1).waitFor();
    await ended(frame);
    assert.match(JSON.stringify(requests().at(-1)?.body), /Hello there\..*And\?/);
  });

  it('stops: the socket closes and the text stays', async () => {
    halting();
    const frame = await send('Begin');
    await frame.locator('.markdown', { hasText: 'The beginning' }).waitFor();
    const closed = requests().at(-1)?.closed;
    await frame.getByRole('button', { name: 'Stop' }).click();
    await frame.getByText('Stopped.').waitFor();
    assert.equal(await closed, true);
    assert.match(await frame.locator('.message.assistant .markdown').innerText(), /The beginning/);
  });

  it('streams on while the view is hidden, and shows all of it when it is back', async () => {
    const { goOn } = halting();
    const frame = await send('Begin');
    await frame.locator('.markdown', { hasText: 'The beginning' }).waitFor();
    await page.keyboard.press('ControlOrMeta+Shift+E');
    await page.locator('.explorer-folders-view').waitFor();
    goOn();
    await runCommand(page, 'Svc: Open Chat');
    const again = await webviewFrame(page, '.message.assistant');
    await again.locator('.markdown', { hasText: 'The beginning and the end.' }).waitFor();
    assert.equal(await again.locator('.message').count(), 2);
  });

  it('moves to an editor tab while it streams, and a new conversation takes its place', async () => {
    const { goOn } = halting();
    const frame = await send('Begin here');
    await frame.locator('.markdown', { hasText: 'The beginning' }).waitFor();
    await runCommand(page, 'Svc: Move Conversation to Editor');
    await page.locator('.tab', { hasText: 'Begin here' }).waitFor();
    await frame.locator('.empty').waitFor();
    goOn();
    const tab = await webviewFrame(page, '.message.assistant[aria-busy="false"]');
    assert.match(await tab.locator('.markdown').innerText(), /The beginning and the end\./);
    await screenshot(page, 'chat-editor-tab');
    await page.locator('.tab', { hasText: 'Begin here' }).click();
    await runCommand(page, 'View: Close Editor');
  });

  it('keeps a draft with its attachment through hiding and through a restart of the window', async () => {
    await openFile(page, 'receipt.ts');
    await runCommand(page, 'Svc: Open Chat');
    const frame = await panel();
    await frame.locator('.composer textarea').pressSequentially('What is @sel');
    await frame.locator('.completions [role="option"]', { hasText: '@selection' }).click();
    await frame.locator('.composer .chip', { hasText: 'receipt.ts' }).waitFor();
    await page.keyboard.press('ControlOrMeta+Shift+E');
    await page.locator('.explorer-folders-view').waitFor();
    await runCommand(page, 'Svc: Open Chat');
    await webviewFrame(page, '.composer .chip');
    await page.reload();
    await page.locator('.statusbar-item', { hasText: 'Svc' }).first().waitFor();
    await runCommand(page, 'Svc: Open Chat');
    const restored = await webviewFrame(page, '.composer .chip');
    assert.equal(await restored.locator('.composer textarea').inputValue(), 'What is ');
    await restored.getByRole('button', { name: 'Send' }).click();
    await ended(restored);
    assert.match(JSON.stringify(requests().at(-1)?.body), /export/);
  });

  it('branches when a message is edited, and goes back', async () => {
    answer = saying({ text: ['first'] }, { text: ['second'] });
    const frame = await send('One');
    await ended(frame);
    await frame.locator('.message.user').hover();
    await frame.getByRole('button', { name: 'Edit message' }).click();
    await frame.locator('.edit-box textarea').fill('Two');
    await frame.locator('.edit-box textarea').press('Enter');
    await frame.locator('.markdown', { hasText: 'second' }).waitFor();
    await ended(frame);
    await frame.locator('.message.user').getByRole('button', { name: 'Version before' }).click();
    await frame.locator('.markdown', { hasText: 'first' }).waitFor();
    assert.equal(await frame.locator('.markdown', { hasText: 'second' }).count(), 0);
  });

  it('looks into the workspace by itself, changes it only when allowed, and shows the change first', async () => {
    writeFileSync(join(desk.workspace, 'note.txt'), 'The old line.\n');
    const edit = { path: 'note.txt', old_text: 'old', new_text: 'new' };
    answer = saying(
      { tools: [{ id: 'c1', name: 'read_file', arguments: ['{"path":"note.txt"}'] }] },
      { tools: [{ id: 'c2', name: 'edit_file', arguments: [JSON.stringify(edit)] }] },
      { text: ['Changed.'] },
    );
    const frame = await send('Make it new');
    await frame.getByRole('button', { name: 'Allow once' }).waitFor();
    assert.match(JSON.stringify(requests().at(-1)?.body), /The old line\./);
    await frame.getByRole('button', { name: 'Show the change' }).click();
    await page.locator('.tab', { hasText: 'note.txt (proposed)' }).waitFor();
    await page.locator('.editor.modified .view-line', { hasText: 'The new line.' }).waitFor();
    assert.equal(readFileSync(join(desk.workspace, 'note.txt'), 'utf8'), 'The old line.\n');
    await screenshot(page, 'chat-approval', { docs: true });
    await frame.getByRole('button', { name: 'Allow once' }).click();
    await frame.locator('.markdown', { hasText: 'Changed.' }).waitFor();
    assert.equal(readFileSync(join(desk.workspace, 'note.txt'), 'utf8'), 'The new line.\n');
    await runCommand(page, 'View: Close Editor');
  });

  it('runs nothing that is denied, and tells the model why', async () => {
    answer = saying(
      { tools: [{ id: 'c1', name: 'run_in_terminal', arguments: ['{"command":"touch never.txt"}'] }] },
      { text: ['Understood.'] },
    );
    const frame = await send('Touch it');
    await frame.getByRole('textbox', { name: 'Reason for not allowing' }).fill('Not here.');
    await frame.getByRole('button', { name: 'Deny' }).click();
    await frame.locator('.markdown', { hasText: 'Understood.' }).waitFor();
    assert.match(JSON.stringify(requests().at(-1)?.body), /Not here\./);
    assert.throws(() => readFileSync(join(desk.workspace, 'never.txt')), { code: 'ENOENT' });
  });

  it('reads nothing outside of the workspace', async () => {
    answer = saying(
      { tools: [{ id: 'c1', name: 'read_file', arguments: ['{"path":"../svc.jsonc"}'] }] },
      { text: ['Well.'] },
    );
    const frame = await send('Read it');
    await frame.locator('.markdown', { hasText: 'Well.' }).waitFor();
    assert.match(JSON.stringify(requests().at(-1)?.body), /is not inside of the workspace/);
  });

  it('puts code where the cursor is', async () => {
    answer = saying({ text: ['```ts\nexport const inserted = true;\n```'] });
    await openFile(page, 'target.ts');
    await runCommand(page, 'Svc: Open Chat');
    const frame = await send('Give me code');
    await ended(frame);
    await frame.getByRole('button', { name: 'Insert at cursor' }).click();
    await page.locator('.view-line', { hasText: 'export const inserted = true;' }).waitFor();
    await runCommand(page, 'View: Revert and Close Editor');
  });

  it('summarizes by hand and shows it as a fold', async () => {
    answer = saying({ text: ['About apples.'] }, { text: ['They spoke of apples.'] }, { text: ['Going on.'] });
    const frame = await send('Apples?');
    await ended(frame);
    await send('/compact');
    await frame.getByText('Earlier messages were summarized').waitFor();
    await send('And now?');
    await frame.locator('.markdown', { hasText: 'Going on.' }).waitFor();
    const sent = JSON.stringify(requests().at(-1)?.body);
    assert.match(sent, /They spoke of apples\./);
    assert.doesNotMatch(sent, /About apples/);
  });

  it('shows a failure as a card with one thing to do', async () => {
    answer = (_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'Invalid key.' } }));
    };
    const frame = await send('Hi');
    await frame.locator('.card.error').waitFor();
    assert.match(await frame.locator('.card.error').innerText(), /The key was not accepted/);
    assert.match(await frame.locator('.card.error .primary').innerText(), /Set key/);
  });

  it('finds a conversation again by what was said in it', async () => {
    answer = saying({ text: ['The zebra has stripes.'] });
    const frame = await send('A question');
    await ended(frame);
    await fresh();
    await letGo();
    const input = await openList(page, 'Svc: Show Conversations');
    await input.fill('zebra');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'A question' }).waitFor();
    await page.keyboard.press('Enter');
    await frame.locator('.markdown', { hasText: 'The zebra has stripes.' }).waitFor();
    await frame.locator('.composer textarea:focus').waitFor();
  });

  it('lets a second window hold its own conversation, and both see all of them', async () => {
    const frame = await send('From the first window');
    await ended(frame);
    const second = await desk.open();
    await second.locator('.statusbar-item', { hasText: 'Svc' }).first().waitFor();
    await runCommand(second, 'Svc: New Conversation');
    const other = await webviewFrame(second, '.composer textarea');
    await other.locator('.empty').waitFor();
    await other.locator('.composer textarea').fill('From the second window');
    await other.locator('.composer textarea').press('Enter');
    await ended(other);
    assert.equal(await frame.getByText('From the second window').count(), 0);
    await openList(second, 'Svc: Show Conversations');
    await second.locator('.quick-input-list .monaco-list-row', { hasText: 'From the first window' }).waitFor();
    await second.context().close();
  });
});
