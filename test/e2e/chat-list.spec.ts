import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setText } from '../host/person.ts';
import { runCommand, typeInList, webviewFrame } from '../host/workbench.ts';
import {
  answerWith,
  type ChatHarness,
  focusEditors,
  openList,
  startChatHarness,
  waitForAnswerEnd,
} from './chat-harness.ts';

describe('the list of conversations', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness();
  });
  after(() => harness?.close());
  beforeEach(async () => {
    harness.answer(answerWith({ text: ['I see.'] }));
    await harness.newConversation();
  });

  const row = (text: string) => harness.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
  const first = () => harness.page.locator('.quick-input-list .monaco-list-row[data-index="0"]');
  const titled = (text: string) => harness.page.locator('.quick-input-title', { hasText: text });
  const dialog = () => harness.page.locator('.monaco-dialog-box');
  const list = () => openList(harness.page, 'Svc: Show Conversations', 'Conversations');
  const press = async (title: string, button: string) => {
    await row(title).hover();
    await row(title).locator(`.action-label[aria-label="${button}"]`).click();
  };
  /** The dialog of the browser host for files of the server. */
  const fileDialog = async (path: string) => {
    const widget = harness.page.locator('.quick-input-widget');
    await row('..').waitFor();
    await setText(widget.locator('input.input'), path, 'VS Code completes a path while it is typed');
    await widget.getByRole('button', { name: 'OK' }).click();
  };

  it('conversation list: renames, pins and deletes after confirmation, and closes the deleted conversation', async () => {
    const frame = await harness.send('About apples');
    await waitForAnswerEnd(frame);
    await harness.waitForSaved('About apples');
    await list();
    await press('About apples', 'Rename');
    await titled('Name of the conversation').waitFor();
    await typeInList(harness.page, 'About pears');
    await harness.page.keyboard.press('Enter');
    await press('About pears', 'Pin');
    await first().filter({ hasText: 'About pears' }).filter({ hasText: 'Pinned' }).waitFor();
    await press('About pears', 'Delete');
    await dialog().getByText('Delete “About pears”?').waitFor();
    await dialog().getByRole('button', { name: 'Delete', exact: true }).click();
    await frame.locator('.transcript .empty').waitFor();
    await titled('Conversations').waitFor();
    await row('About pears').waitFor({ state: 'detached' });
    await harness.page.keyboard.press('Escape');
    await frame.locator('.composer textarea').click();
    await harness.send('Still here?');
    await frame.locator('.markdown', { hasText: 'I see.' }).waitFor();
    await harness.waitForSaved('Still here?');
    await list();
    await row('Still here?').waitFor();
    assert.equal(await row('About pears').count(), 0);
    await harness.page.keyboard.press('Escape');
  });

  it('conversation list: the view changes only after a selection, and then gets the focus', async () => {
    await waitForAnswerEnd(await harness.send('About plums'));
    await harness.waitForSaved('About plums');
    await harness.page.keyboard.press('ControlOrMeta+Shift+E');
    const explorer = harness.page.locator('.explorer-folders-view');
    await explorer.waitFor();
    await list();
    await row('About plums').waitFor();
    await harness.page.keyboard.press('Escape');
    await titled('Conversations').waitFor({ state: 'hidden' });
    assert.equal(await explorer.isVisible(), true);
    await list();
    await row('About plums').click();
    const shown = await webviewFrame(harness.page, '.message.user');
    await shown.locator('.composer textarea:focus').waitFor();
    assert.equal(await explorer.isVisible(), false);
  });

  it('conversation list: exports a conversation to a file and imports it', async () => {
    const file = join(harness.workspace, 'kept.json');
    const frame = await harness.send('To be kept');
    await waitForAnswerEnd(frame);
    await harness.waitForSaved('To be kept');
    await list();
    await press('To be kept', 'Export');
    await fileDialog(file);
    await titled('Conversations').waitFor();
    assert.match(readFileSync(file, 'utf8'), /To be kept/);
    await harness.page.keyboard.press('Escape');
    await harness.newConversation();
    await focusEditors(harness.page);
    await runCommand(harness.page, 'Svc: Import Conversation');
    await fileDialog(file);
    await frame.locator('.message.user', { hasText: 'To be kept' }).waitFor();
    await frame.locator('.markdown', { hasText: 'I see.' }).waitFor();
  });
});
