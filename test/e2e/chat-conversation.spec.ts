import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { docPicture } from '../host/doc-pictures.ts';
import { typeInto } from '../host/person.ts';
import { findNotification, openFile, pickTyped, runCommand, typeInList, webviewFrame } from '../host/workbench.ts';
import {
  answerWith,
  type ChatHarness,
  focusEditors,
  newConversation,
  openList,
  pausedAnswer,
  sendMessage,
  showExplorer,
  startChatHarness,
  typeMessage,
  waitForAnswerEnd,
  waitForDraft,
} from './chat-harness.ts';

const WHOLE = /The beginning and the end\./;

describe('a conversation in the editor', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness();
    await openFile(harness.page, 'receipt.ts');
  });
  after(() => harness?.close());
  beforeEach(async () => {
    harness.answer(answerWith({ text: ['Hello', ' there.'] }));
    await harness.newConversation();
  });

  /** A started answer, and the function that completes it. */
  async function begun(question: string) {
    const { answer, resume } = pausedAnswer({ text: ['The beginning', ' and the end.'] });
    harness.answer(answer);
    const frame = await harness.send(question);
    await frame.locator('.message.assistant[aria-busy="true"] .markdown', { hasText: 'The beginning' }).waitFor();
    return { frame, resume };
  }

  it('conversation: shows the answer with its price, and sends it with the next message', async () => {
    const frame = await harness.send('Hi');
    await waitForAnswerEnd(frame);
    await frame.locator('.message.assistant .markdown', { hasText: /Hello there\./ }).waitFor();
    await frame.locator('.message.assistant .figures', { hasText: /Large · 11 in, 7 out · \$0\.0001/ }).waitFor();
    await harness.send('And?');
    await frame.locator('.message.assistant[aria-busy="false"]').nth(1).waitFor();
    assert.match(harness.lastBody(), /Hello there\..*And\?/);
  });

  it('conversation: stop closes the socket and keeps the text', async () => {
    const { frame } = await begun('Begin');
    const closed = harness.requests().at(-1)?.closed;
    await frame.getByRole('button', { name: 'Stop' }).click();
    await frame.getByText('Stopped.').waitFor();
    assert.equal(await closed, true);
    await frame.locator('.message.assistant .markdown', { hasText: /The beginning/ }).waitFor();
  });

  it('conversation: streams while the view is hidden and then shows the whole answer', async () => {
    const { resume } = await begun('Begin');
    await showExplorer(harness.page);
    resume();
    await runCommand(harness.page, 'Svc: Open Chat');
    const again = await webviewFrame(harness.page, '.message.assistant[aria-busy="false"]');
    // The page is kept: it may be found before it is shown.
    await again.locator('.markdown', { hasText: WHOLE }).waitFor();
    assert.equal(await again.locator('.message').count(), 2);
  });

  it('conversation: shows the whole answer after its page was discarded during the stream', async () => {
    const { frame, resume } = await begun('Begin');
    const gone = frame.locator('.message').first().waitFor({ state: 'detached' });
    await runCommand(harness.page, 'Developer: Reload Webviews');
    await gone.catch(() => undefined);
    const again = await webviewFrame(harness.page, '.message.assistant[aria-busy="true"]');
    await again.locator('.markdown', { hasText: 'The beginning' }).waitFor();
    resume();
    await waitForAnswerEnd(again);
    await again.locator('.markdown', { hasText: WHOLE }).waitFor();
    assert.equal(await again.locator('.message').count(), 2);
  });

  it('conversation: continues in the other side bar after the view was moved during the stream', async () => {
    const { resume } = await begun('Move me');
    const rows = harness.page.locator('.quick-input-list .monaco-list-row');
    // A heading such as "recently used" is text of the row that it stands on.
    const moveView = rows.filter({ has: harness.page.getByText('View: Move View', { exact: true }) });
    await focusEditors(harness.page);
    await pickTyped(harness.page, 'F1', '>View: Move View', moveView);
    await rows.filter({ hasText: /^Chat.*Side Bar \/ Svc/ }).click();
    await rows.filter({ hasText: /^New Secondary Side Bar Entry/ }).click();
    await harness.page.locator('.part.auxiliarybar').waitFor();
    const moved = await webviewFrame(harness.page, '.message.assistant');
    resume();
    await waitForAnswerEnd(moved);
    await moved.locator('.markdown', { hasText: WHOLE }).waitFor();
    assert.equal(await moved.locator('.message').count(), 2);
    await runCommand(harness.page, 'View: Reset View Locations');
    await runCommand(harness.page, 'Svc: Open Chat');
    const back = await webviewFrame(harness.page, '.message.assistant');
    await back.locator('.markdown', { hasText: WHOLE }).waitFor();
  });

  it('conversation: moves to an editor tab during the stream, and a new conversation replaces it', async () => {
    const { frame, resume } = await begun('Begin here');
    await runCommand(harness.page, 'Svc: Move Conversation to Editor');
    await harness.page.locator('.tab', { hasText: 'Begin here' }).waitFor();
    await frame.locator('.empty').waitFor();
    resume();
    const tab = await webviewFrame(harness.page, '.message.assistant[aria-busy="false"]');
    await tab.locator('.markdown', { hasText: WHOLE }).waitFor();
    await harness.page.locator('.tab', { hasText: 'Begin here' }).click();
    await runCommand(harness.page, 'View: Close Editor');
    await harness.page.locator('.tab', { hasText: 'Begin here' }).waitFor({ state: 'detached' });
  });

  it('conversation: never takes the focus while the user types elsewhere', async () => {
    const { frame, resume } = await begun('While I type');
    await openFile(harness.page, harness.write('focus.txt', ''));
    await harness.page.keyboard.type('one ');
    const gone = frame.locator('.message').first().waitFor({ state: 'detached' });
    await runCommand(harness.page, 'Developer: Reload Webviews');
    await gone.catch(() => undefined);
    const again = await webviewFrame(harness.page, '.message.assistant[aria-busy="true"]');
    await harness.page.keyboard.type('two ');
    await harness.page.keyboard.press('F1');
    const palette = harness.page.locator('.quick-input-widget input.input');
    await palette.waitFor();
    await harness.page.keyboard.type('Svc: ');
    resume();
    await waitForAnswerEnd(again);
    await harness.page.keyboard.type('New');
    assert.equal(await palette.inputValue(), '>Svc: New');
    await harness.page.keyboard.press('Escape');
    await harness.page.keyboard.type('three');
    await harness.page.locator('.view-line', { hasText: 'one two three' }).waitFor();
    await runCommand(harness.page, 'File: Save');
    // VS Code would ask about a file that is being saved.
    await harness.page.locator('.tab.active:not(.dirty)[data-resource-name="focus.txt"]').waitFor();
    await runCommand(harness.page, 'View: Close Editor');
  });

  it('conversation: editing a message creates a branch, and the old one remains available', async () => {
    harness.answer(answerWith({ text: ['first'] }, { text: ['second'] }));
    const frame = await harness.send('One');
    await waitForAnswerEnd(frame);
    await frame.locator('.message.user').hover();
    await frame.getByRole('button', { name: 'Edit message' }).click();
    await typeInto(frame.locator('.edit-box textarea'), 'Two');
    await harness.page.keyboard.press('Enter');
    await frame.locator('.markdown', { hasText: 'second' }).waitFor();
    await waitForAnswerEnd(frame);
    await frame.locator('.message.user').getByRole('button', { name: 'Previous version' }).click();
    await frame.locator('.markdown', { hasText: 'first' }).waitFor();
    assert.equal(await frame.locator('.markdown', { hasText: 'second' }).count(), 0);
  });

  it('conversation: a message that is being edited remains so after its page was discarded', async () => {
    harness.answer(answerWith({ text: ['first'] }, { text: ['second'] }));
    const frame = await harness.send('One');
    await waitForAnswerEnd(frame);
    await frame.locator('.message.user').hover();
    await frame.getByRole('button', { name: 'Edit message' }).click();
    await typeInto(frame.locator('.edit-box textarea'), 'Two');
    const gone = frame.locator('.message').first().waitFor({ state: 'detached' });
    await runCommand(harness.page, 'Developer: Reload Webviews');
    await gone.catch(() => undefined);
    const again = await webviewFrame(harness.page, '.edit-box textarea');
    assert.equal(await again.locator('.edit-box textarea').inputValue(), 'Two');
    await again.locator('.edit-box textarea').press('Enter');
    await again.locator('.markdown', { hasText: 'second' }).waitFor();
  });

  it('conversation: a manual summary is shown as a fold', async () => {
    harness.answer(
      answerWith({ text: ['About apples.'] }, { text: ['They spoke of apples.'] }, { text: ['Going on.'] }),
    );
    const frame = await harness.send('Apples?');
    await waitForAnswerEnd(frame);
    await harness.send('/compact');
    await frame.getByText('Earlier messages were summarized').waitFor();
    await harness.send('And now?');
    await frame.locator('.markdown', { hasText: 'Going on.' }).waitFor();
    assert.match(harness.lastBody(), /They spoke of apples\./);
    assert.doesNotMatch(harness.lastBody(), /About apples/);
  });

  it('conversation: the model picker shows the capabilities of each model', async () => {
    const frame = await harness.panel();
    await frame.locator('.composer .model').click();
    const rows = harness.page.locator('.quick-input-list .monaco-list-row');
    await rows.filter({ hasText: 'up/large' }).first().waitFor();
    await typeInList(harness.page, 'small');
    await rows.filter({ hasText: 'up/large' }).first().waitFor({ state: 'detached' });
    await rows.filter({ hasText: 'up/small' }).first().waitFor();
    const listed = (await rows.allInnerTexts()).join('\n').replace(/:\d+/, '');
    await docPicture(harness.page, 'chat/picker', listed, 'test/e2e/chat-conversation.spec.ts');
    await harness.page.keyboard.press('Enter');
    await frame.locator('.composer .model', { hasText: 'Small' }).waitFor();
    await frame.locator('.composer textarea').click();
    await harness.send('Hi');
    await waitForAnswerEnd(frame);
    assert.match(harness.lastBody(), /"model":"small"/);
    await frame.locator('.composer .model').click();
    await typeInList(harness.page, 'large');
    await rows.filter({ hasText: 'up/large' }).first().waitFor();
    await harness.page.keyboard.press('Enter');
    await frame.locator('.composer .model', { hasText: 'Large' }).waitFor();
  });

  it('conversation: one that is new already keeps its draft when another one is requested', async () => {
    const frame = await harness.panel();
    await typeMessage(harness.page, frame, 'Half a ques');
    await harness.newConversation();
    await typeMessage(harness.page, frame, 'tion');
    assert.equal(await frame.locator('.composer textarea').inputValue(), 'Half a question');
    await typeInto(frame.locator('.composer textarea'), '');
  });

  it('conversation: drafts that were left in a tab and for another conversation are there again in the next new ones', async () => {
    const frame = await harness.send('To be read again');
    await waitForAnswerEnd(frame);
    await harness.newConversation();
    await harness.page.keyboard.type('In a tab');
    await waitForDraft(frame, 'In a tab');
    await runCommand(harness.page, 'Svc: Move Conversation to Editor');
    await waitForDraft(frame, '');
    await harness.page.locator('.tab', { hasText: 'Chat' }).waitFor();
    await runCommand(harness.page, 'View: Close Editor');
    await harness.page.locator('.tab', { hasText: 'Chat' }).waitFor({ state: 'detached' });
    await harness.newConversation();
    await harness.page.keyboard.type('Half a question');
    await waitForDraft(frame, 'Half a question');
    await openList(harness.page, 'Svc: Show Conversations', 'Conversations');
    await typeInList(harness.page, 'read again');
    await harness.page.keyboard.press('Enter');
    await frame.locator('.message.user', { hasText: 'To be read again' }).waitFor();
    await waitForDraft(frame, '');
    for (const draft of ['Half a question', 'In a tab']) {
      await harness.newConversation();
      await waitForDraft(frame, draft);
      await harness.page.keyboard.press('Enter');
      await waitForAnswerEnd(frame);
      assert.match(harness.lastBody(), new RegExp(draft));
    }
    await harness.newConversation();
    await waitForDraft(frame, '');
  });

  it('conversation: is found by its text in the history', async () => {
    harness.answer(answerWith({ text: ['The zebra has stripes.'] }));
    const frame = await harness.send('A question');
    await waitForAnswerEnd(frame);
    await harness.newConversation();
    await openList(harness.page, 'Svc: Show Conversations', 'Conversations');
    await typeInList(harness.page, 'zebra');
    await harness.page.keyboard.press('Enter');
    await frame.locator('.markdown', { hasText: 'The zebra has stripes.' }).waitFor();
    await frame.locator('.composer textarea:focus').waitFor();
  });

  it('diagram: one that never ends is ended in VS Code, and the panel goes on', async () => {
    // More than 10 seconds of layout.
    const slow = `flowchart LR\n${Array.from({ length: 3_000 }, (_, at) => `n${at}`).join('\n')}`;
    const blocks = [slow, 'flowchart LR\n  A --> B'].map((source) => `\`\`\`mermaid\n${source}\n\`\`\``);
    harness.answer(answerWith({ text: [blocks.join('\n\n')] }, { text: ['Next.'] }));
    const frame = await harness.send('Draw');
    await frame.locator('.diagram.failed', { hasText: 'longer than 5 seconds' }).waitFor();
    await frame.locator('.diagram img').waitFor();
    await harness.send('More');
    await frame.locator('.markdown', { hasText: 'Next.' }).waitFor();
  });

  describe('in two windows', () => {
    let second: Page;
    before(async () => {
      second = await harness.open();
    });
    after(() => second?.context().close());

    it('conversation: a second window has its own one, and both windows list all', async () => {
      const frame = await harness.send('From the first window');
      await waitForAnswerEnd(frame);
      const other = await newConversation(second);
      await sendMessage(second, other, 'From the second window');
      await waitForAnswerEnd(other);
      assert.equal(await frame.getByText('From the second window').count(), 0);
      await openList(second, 'Svc: Show Conversations', 'Conversations');
      await second.locator('.quick-input-list .monaco-list-row', { hasText: 'From the first window' }).waitFor();
      await second.keyboard.press('Escape');
    });

    it('conversation in two windows: a waiting call is answered once, in the window that asks', async () => {
      harness.write('shared.txt', 'The old line.\n');
      const input = JSON.stringify({ path: 'shared.txt', old_text: 'old', new_text: 'new' });
      const scripts = [{ tools: [{ id: 'two1', name: 'edit_file', arguments: [input] }] }, { text: ['Changed once.'] }];
      harness.answer(answerWith(...scripts));
      const shared = () => readFileSync(join(harness.workspace, 'shared.txt'), 'utf8');
      const frame = await harness.send('Edit in two windows');
      await frame.getByRole('button', { name: 'Allow once' }).waitFor();
      await openList(second, 'Svc: Show Conversations', 'Conversations');
      await typeInList(second, 'Edit in two windows');
      await second.locator('.quick-input-list .monaco-list-row', { hasText: 'Edit in two windows' }).click();
      const other = await webviewFrame(second, '.tool.asking');
      await other.getByRole('button', { name: 'Allow once' }).click();
      await findNotification(second, 'This call waits in another window.');
      assert.equal(shared(), 'The old line.\n');
      await frame.getByRole('button', { name: 'Allow once' }).click();
      await frame.locator('.markdown', { hasText: 'Changed once.' }).waitFor();
      await other.locator('.markdown', { hasText: 'Changed once.' }).waitFor();
      assert.equal(shared(), 'The new line.\n');
      // The changes can be taken back in both windows, once.
      await other.getByRole('button', { name: 'Undo all' }).click();
      await other.getByText('1 file: changes undone').waitFor();
      assert.equal(shared(), 'The old line.\n');
    });
  });
});
