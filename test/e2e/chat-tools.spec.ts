import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFile, runCommand } from '../host/workbench.ts';
import type { Script } from '../upstream/answers.ts';
import { type ChatDesk, ended, saying, setChatDesk } from './chat-harness.ts';

describe('tools and code in the editor', () => {
  let desk: ChatDesk;
  before(async () => {
    desk = await setChatDesk();
    desk.write('target.ts', '');
  });
  after(() => desk.close());
  beforeEach(async () => {
    desk.write('note.txt', 'The old line.\n');
    await desk.fresh();
  });

  const call = (name: string, input: unknown, id = 'c1'): Script => ({
    tools: [{ id, name, arguments: [JSON.stringify(input)] }],
  });
  const edit = { path: 'note.txt', old_text: 'old', new_text: 'new' };
  const note = () => readFileSync(join(desk.workspace, 'note.txt'), 'utf8');

  it('looks into the workspace by itself, changes it only when allowed, and shows the change first', async () => {
    desk.answer(saying(call('read_file', { path: 'note.txt' }), call('edit_file', edit, 'c2'), { text: ['Changed.'] }));
    const frame = await desk.send('Make it new');
    await frame.getByRole('button', { name: 'Allow once' }).waitFor();
    assert.match(desk.lastBody(), /The old line\./);
    await frame.getByRole('button', { name: 'Show the change' }).click();
    await desk.page.locator('.tab', { hasText: 'note.txt (proposed)' }).waitFor();
    await desk.page.locator('.editor.modified .view-line', { hasText: 'The new line.' }).waitFor();
    assert.equal(note(), 'The old line.\n');
    await frame.getByRole('button', { name: 'Allow once' }).click();
    await frame.locator('.markdown', { hasText: 'Changed.' }).waitFor();
    assert.equal(note(), 'The new line.\n');
    await runCommand(desk.page, 'View: Close Editor');
  });

  it('does not ask again for the rest of a conversation, but in the next one', async () => {
    const back = { path: 'note.txt', old_text: 'new', new_text: 'newer' };
    desk.answer(saying(call('edit_file', edit), call('edit_file', back, 'c2'), { text: ['Twice.'] }));
    const frame = await desk.send('Make it newer');
    await frame.getByRole('button', { name: 'Allow in this conversation' }).click();
    await frame.locator('.markdown', { hasText: 'Twice.' }).waitFor();
    assert.equal(note(), 'The newer line.\n');
    await desk.fresh();
    desk.answer(saying(call('edit_file', { ...edit, old_text: 'newer' }), { text: ['Again.'] }));
    await desk.send('And again');
    await frame.getByRole('button', { name: 'Allow once' }).waitFor();
    await frame.getByRole('button', { name: 'Stop' }).click();
    await frame.getByText('Stopped.').waitFor();
    assert.equal(note(), 'The newer line.\n');
  });

  it('runs nothing that is denied, and tells the model why', async () => {
    desk.answer(saying(call('run_in_terminal', { command: 'touch never.txt' }), { text: ['Understood.'] }));
    const frame = await desk.send('Touch it');
    await frame.getByRole('textbox', { name: 'Reason for denying' }).fill('Not here.');
    await frame.getByRole('button', { name: 'Deny' }).click();
    await frame.locator('.markdown', { hasText: 'Understood.' }).waitFor();
    assert.match(desk.lastBody(), /Not here\./);
    assert.equal(existsSync(join(desk.workspace, 'never.txt')), false);
  });

  it('reads nothing outside of the workspace', async () => {
    desk.answer(saying(call('read_file', { path: '../svc.jsonc' }), { text: ['Well.'] }));
    const frame = await desk.send('Read it');
    await frame.locator('.markdown', { hasText: 'Well.' }).waitFor();
    assert.match(desk.lastBody(), /is not inside the workspace/);
  });

  it('offers the tools of VS Code, and asks before one of them runs', async () => {
    desk.answer(saying(call('vscode_listCodeUsages', { symbol: 'receipt', lineContent: 'x' }), { text: ['Done.'] }));
    const frame = await desk.send('Who uses it?');
    await frame.getByRole('button', { name: 'Allow once' }).click();
    await frame.locator('.markdown', { hasText: 'Done.' }).waitFor();
    assert.match(desk.lastBody(), /"role":"tool"/);
    assert.doesNotMatch(desk.lastBody(), /inline_chat_exit|_internal"/);
  });

  it('offers only the tools that were chosen, in the next conversation too', async () => {
    desk.answer(saying({ text: ['I see.'] }));
    const offered = () => desk.lastBody().includes('"name":"git_diff"');
    const choose = async () => {
      await frame.getByRole('button', { name: 'Choose tools' }).click();
      await desk.page.locator('.quick-input-title', { hasText: 'Tools (' }).waitFor();
      await desk.page.locator('.quick-input-list .monaco-list-row', { hasText: 'git_diff' }).click();
      await desk.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
      await desk.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    };
    const frame = await desk.send('One');
    await ended(frame);
    assert.equal(offered(), true);
    await choose();
    await desk.fresh();
    await ended(await desk.send('Two'));
    assert.equal(offered(), false);
    await choose();
    await desk.fresh();
    await ended(await desk.send('Three'));
    assert.equal(offered(), true);
  });

  it('stops a model that repeats itself, and says so', async () => {
    desk.answer(saying(call('get_problems', {})));
    const frame = await desk.send('Problems?');
    await frame.getByText('repeatedly without progress').waitFor();
  });

  it('puts code where the cursor is, and copies its source', async () => {
    desk.answer(saying({ text: ['```ts\nexport const inserted = true;\n```'] }));
    await openFile(desk.page, 'target.ts');
    await runCommand(desk.page, 'Svc: Open Chat');
    const frame = await desk.send('Give me code');
    await ended(frame);
    await frame.getByRole('button', { name: 'Copy code' }).click();
    await frame.getByRole('button', { name: 'Insert at cursor' }).click();
    await desk.page.locator('.view-line', { hasText: 'export const inserted = true;' }).waitFor();
    assert.equal(await desk.page.evaluate(() => navigator.clipboard.readText()), 'export const inserted = true;');
    await runCommand(desk.page, 'View: Revert and Close Editor');
  });

  it('runs code in a terminal as it was shown, and none with control characters', async () => {
    const answer =
      '```sh\nprintf "[%s]" "a\tb" "!!" > ran.txt # \u200b\n```\n\n```bash\necho a\u0015touch never.txt\n```';
    desk.answer(saying({ text: [answer] }));
    const frame = await desk.send('How do I run it?');
    await ended(frame);
    await frame.getByRole('button', { name: 'Run in terminal' }).first().click();
    const dialog = desk.page.locator('.monaco-dialog-box');
    await dialog.getByText('ran.txt # ⟨U+200B⟩').waitFor();
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await desk.page.locator('.terminal-tabs-entry, .single-terminal-tab', { hasText: 'Svc' }).first().waitFor();
    while (!existsSync(join(desk.workspace, 'ran.txt')))
      await desk.page.evaluate(() => new Promise(requestAnimationFrame));
    assert.equal(readFileSync(join(desk.workspace, 'ran.txt'), 'utf8'), '[a\tb][!!]');
    await frame.getByRole('button', { name: 'Run in terminal' }).last().click();
    await desk.page.getByText('The command has a control character (U+0015)').first().waitFor();
    assert.equal(existsSync(join(desk.workspace, 'never.txt')), false);
  });

  it('asks for a secret file each time, though reading was allowed before', async () => {
    desk.write('prod.env', 'TOKEN=needle\n');
    const read = call('read_file', { path: './prod.env' });
    const again = call('read_file', { path: 'src/../prod.env' }, 'c2');
    desk.answer(saying(read, again, { text: ['Read once.'] }));
    const frame = await desk.send('Read it');
    await frame.getByText('prod.env may contain secrets').waitFor();
    assert.equal(await frame.getByRole('button', { name: 'Always allow' }).count(), 0);
    await frame.getByRole('button', { name: 'Allow once' }).click();
    await frame.getByText('src/../prod.env').waitFor();
    await frame.getByRole('button', { name: 'Deny' }).last().click();
    await frame.locator('.markdown', { hasText: 'Read once.' }).waitFor();
    assert.equal(desk.lastBody().split('TOKEN=needle').length, 2);
  });
});
