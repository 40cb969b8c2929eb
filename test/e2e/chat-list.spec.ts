import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, webviewFrame } from '../host/workbench.ts';
import { type ChatDesk, ended, letGo, openList, saying, setChatDesk } from './chat-harness.ts';

describe('the list of conversations', () => {
  let desk: ChatDesk;
  before(async () => {
    desk = await setChatDesk();
  });
  after(() => desk.close());
  beforeEach(async () => {
    desk.answer(saying({ text: ['I see.'] }));
    await desk.fresh();
  });

  const row = (text: string) => desk.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
  const first = () => desk.page.locator('.quick-input-list .monaco-list-row[data-index="0"]');
  const titled = (text: string) => desk.page.locator('.quick-input-title', { hasText: text });
  const dialog = () => desk.page.locator('.monaco-dialog-box');
  const list = () => openList(desk.page, 'Svc: Show Conversations', 'Conversations');
  const press = async (title: string, button: string) => {
    await row(title).hover();
    await row(title).locator(`.action-label[aria-label="${button}"]`).click();
  };
  /** The dialog of the browser host for files of the server. */
  const fileDialog = async (path: string) => {
    const widget = desk.page.locator('.quick-input-widget');
    await row('..').waitFor();
    await widget.locator('input.input').fill(path);
    await widget.getByRole('button', { name: 'OK' }).click();
  };

  it('names, pins and deletes one, which is asked for once, and takes it away where it is shown', async () => {
    const frame = await desk.send('About apples');
    await ended(frame);
    await desk.kept('About apples');
    const input = await list();
    await press('About apples', 'Rename');
    await titled('Name of the conversation').waitFor();
    await input.fill('About pears');
    await desk.page.keyboard.press('Enter');
    await press('About pears', 'Pin');
    await first().filter({ hasText: 'About pears' }).filter({ hasText: 'Pinned' }).waitFor();
    await press('About pears', 'Delete');
    await dialog().getByText('Delete “About pears”?').waitFor();
    await dialog().getByRole('button', { name: 'Delete', exact: true }).click();
    await frame.locator('.transcript .empty').waitFor();
    await titled('Conversations').waitFor();
    await row('About pears').waitFor({ state: 'detached' });
    await desk.page.keyboard.press('Escape');
    await desk.send('Still here?');
    await frame.locator('.markdown', { hasText: 'I see.' }).waitFor();
    await desk.kept('Still here?');
    await list();
    await row('Still here?').waitFor();
    assert.equal(await row('About pears').count(), 0);
    await desk.page.keyboard.press('Escape');
  });

  it('leaves the view alone until one is chosen, which is then shown with the focus', async () => {
    await ended(await desk.send('About plums'));
    await desk.kept('About plums');
    await letGo(desk.page);
    await desk.page.keyboard.press('ControlOrMeta+Shift+E');
    const explorer = desk.page.locator('.explorer-folders-view');
    await explorer.waitFor();
    await list();
    await row('About plums').waitFor();
    await desk.page.keyboard.press('Escape');
    await titled('Conversations').waitFor({ state: 'hidden' });
    assert.equal(await explorer.isVisible(), true);
    await list();
    await row('About plums').click();
    const shown = await webviewFrame(desk.page, '.message.user');
    await shown.locator('.composer textarea:focus').waitFor();
    assert.equal(await explorer.isVisible(), false);
  });

  it('writes one to a file and takes it back from there', async () => {
    const file = join(desk.workspace, 'kept.json');
    const frame = await desk.send('To be kept');
    await ended(frame);
    await desk.kept('To be kept');
    await list();
    await press('To be kept', 'Export');
    await fileDialog(file);
    await titled('Conversations').waitFor();
    assert.match(readFileSync(file, 'utf8'), /To be kept/);
    await desk.page.keyboard.press('Escape');
    await desk.fresh();
    await letGo(desk.page);
    await runCommand(desk.page, 'Svc: Import Conversation');
    await fileDialog(file);
    await frame.locator('.message.user', { hasText: 'To be kept' }).waitFor();
    await frame.locator('.markdown', { hasText: 'I see.' }).waitFor();
  });
});
