import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { inPage, typeInto } from '../host/person.ts';
import { waitUntil } from '../host/wait-until.ts';
import { actUntil, openFile, runCommand, screenshot } from '../host/workbench.ts';
import type { Script } from '../upstream/answers.ts';
import { answerWith, type ChatHarness, startChatHarness, waitForAnswerEnd, waitForCaret } from './chat-harness.ts';

const LF = 'export const rate = 1;\n\nexport function total(price: number): number {\n  return price * rate;\n}\n';
const CRLF = 'first\r\nsecond\r\nthird\r\n';

describe('tools and code in the editor', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness();
    harness.write('target.ts', '');
  });
  after(() => harness?.close());
  beforeEach(async () => {
    harness.write('note.txt', 'The old line.\n');
    await harness.newConversation();
  });

  const call = (name: string, input: unknown, id = 'c1'): Script => ({
    tools: [{ id, name, arguments: [JSON.stringify(input)] }],
  });
  const edit = { path: 'note.txt', old_text: 'old', new_text: 'new' };
  const note = () => readFileSync(join(harness.workspace, 'note.txt'), 'utf8');

  it('tools: read the workspace without approval, and change it only after the change is shown and approved', async () => {
    harness.answer(
      answerWith(call('read_file', { path: 'note.txt' }), call('edit_file', edit, 'c2'), { text: ['Changed.'] }),
    );
    const frame = await harness.send('Make it new');
    await frame.getByRole('button', { name: 'Allow once' }).waitFor();
    assert.match(harness.lastBody(), /The old line\./);
    await frame.getByRole('button', { name: 'View diff' }).click();
    await harness.page.locator('.tab', { hasText: 'note.txt (proposed)' }).waitFor();
    await harness.page.locator('.editor.modified .view-line', { hasText: 'The new line.' }).waitFor();
    assert.equal(note(), 'The old line.\n');
    await frame.getByRole('button', { name: 'Allow once' }).click();
    await frame.locator('.markdown', { hasText: 'Changed.' }).waitFor();
    assert.equal(note(), 'The new line.\n');
    await harness.page.locator('.tab', { hasText: '(proposed)' }).waitFor({ state: 'detached' });
  });

  const answers: readonly [button: string, text: string, sent: RegExp][] = [
    ['Accept Proposed Change', 'The new line.\n', /was changed/],
    ['Reject Proposed Change', 'The old line.\n', /did not allow/],
  ];
  for (const [button, text, sent] of answers) {
    it(`tools: “${button}” in the diff editor answers the card and closes the diff`, async () => {
      harness.answer(answerWith(call('edit_file', edit), { text: ['Continued.'] }));
      const frame = await harness.send('Make it new');
      await frame.getByRole('button', { name: 'View diff' }).click();
      await harness.page.locator('.editor.modified .view-line', { hasText: 'The new line.' }).waitFor();
      await harness.page.locator('.editor-actions').getByRole('button', { name: button }).click();
      await frame.locator('.markdown', { hasText: 'Continued.' }).waitFor();
      await harness.page.locator('.tab', { hasText: '(proposed)' }).waitFor({ state: 'detached' });
      assert.equal(note(), text);
      assert.match(harness.lastBody(), sent);
      assert.equal(await frame.getByRole('button', { name: 'Allow once' }).count(), 0);
    });
  }

  it('tools: an approval for the conversation is not valid in the next one', async () => {
    const back = { path: 'note.txt', old_text: 'new', new_text: 'newer' };
    harness.answer(answerWith(call('edit_file', edit), call('edit_file', back, 'c2'), { text: ['Twice.'] }));
    const frame = await harness.send('Make it newer');
    await frame.getByRole('button', { name: 'Allow in this conversation' }).click();
    await frame.locator('.markdown', { hasText: 'Twice.' }).waitFor();
    assert.equal(note(), 'The newer line.\n');
    await harness.newConversation();
    harness.answer(answerWith(call('edit_file', { ...edit, old_text: 'newer' }), { text: ['Again.'] }));
    await harness.send('And again');
    await frame.getByRole('button', { name: 'Allow once' }).waitFor();
    await frame.getByRole('button', { name: 'Stop' }).click();
    await frame.getByText('Stopped.').waitFor();
    assert.equal(note(), 'The newer line.\n');
  });

  it('tools: a denied call does not run, and the model gets the reason', async () => {
    harness.answer(answerWith(call('run_in_terminal', { command: 'touch never.txt' }), { text: ['Understood.'] }));
    const frame = await harness.send('Touch it');
    await typeInto(frame.getByRole('textbox', { name: 'Reason for denying' }), 'Not here.');
    await frame.getByRole('button', { name: 'Deny' }).click();
    await frame.locator('.markdown', { hasText: 'Understood.' }).waitFor();
    assert.match(harness.lastBody(), /Not here\./);
    assert.equal(existsSync(join(harness.workspace, 'never.txt')), false);
  });

  it('tools: read nothing outside the workspace', async () => {
    harness.answer(answerWith(call('read_file', { path: '../svc.jsonc' }), { text: ['Well.'] }));
    const frame = await harness.send('Read it');
    await frame.locator('.markdown', { hasText: 'Well.' }).waitFor();
    assert.match(harness.lastBody(), /is not inside the workspace/);
  });

  it('tools: tools of VS Code that work outside of its chat are offered and need approval', async () => {
    harness.answer(answerWith(call('testFailure', {}), { text: ['Done.'] }));
    const frame = await harness.send('What failed?');
    await frame.getByRole('button', { name: 'Allow once' }).click();
    await frame.locator('.markdown', { hasText: 'Done.' }).waitFor();
    assert.match(harness.lastBody(), /"role":"tool"/);
    assert.doesNotMatch(
      harness.lastBody(),
      /inline_chat_exit|_internal"|vscode_get_confirmation|vscode_askQuestions|copilot_/,
    );
  });

  it('tools: the selection of tools is kept for the next conversation', async () => {
    harness.answer(answerWith({ text: ['I see.'] }));
    const offered = () => harness.lastBody().includes('"name":"git_diff"');
    const choose = async () => {
      await frame.getByRole('button', { name: 'Choose tools' }).click();
      await harness.page.locator('.quick-input-title', { hasText: 'Tools (' }).waitFor();
      await harness.page.locator('.quick-input-list .monaco-list-row', { hasText: 'git_diff' }).click();
      await harness.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
      await harness.page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
      // VS Code returns the focus to the chat later, which would close the list that is opened next.
      await waitForCaret(harness.page, frame);
    };
    const frame = await harness.send('One');
    await waitForAnswerEnd(frame);
    assert.equal(offered(), true);
    await choose();
    await harness.newConversation();
    await waitForAnswerEnd(await harness.send('Two'));
    assert.equal(offered(), false);
    await choose();
    await harness.newConversation();
    await waitForAnswerEnd(await harness.send('Three'));
    assert.equal(offered(), true);
  });

  it('permissions: an allowed command runs without a question until “Manage Permissions” revokes it', async () => {
    const command = (id: string) => call('run_in_terminal', { command: `git init ${id}` }, id);
    harness.answer(answerWith(command('one'), { text: ['Made one.'] }));
    const frame = await harness.send('Make it');
    await frame.getByText('Lasting permissions cover: git init').waitFor();
    await frame.getByRole('button', { name: 'Always allow' }).click();
    await frame.locator('.markdown', { hasText: 'Made one.' }).waitFor();
    await harness.newConversation();
    harness.answer(answerWith(command('two'), { text: ['Made two.'] }));
    await harness.send('Make another');
    await frame.locator('.markdown', { hasText: 'Made two.' }).waitFor();
    assert.equal(existsSync(join(harness.workspace, 'two')), true);
    await runCommand(harness.page, 'Svc: Manage Permissions');
    const list = harness.page.locator('.quick-input-list');
    const row = list.locator('.monaco-list-row', { hasText: 'command:git init' });
    await row.filter({ hasText: 'Always allow in this workspace' }).hover();
    await row.getByRole('button', { name: 'Allow in All Workspaces' }).click();
    await row.filter({ hasText: 'workspace' }).waitFor({ state: 'detached' });
    await row.hover();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    await harness.page.keyboard.press('Escape');
    await harness.newConversation();
    harness.answer(answerWith(command('three'), { text: ['Well.'] }));
    await harness.send('And a third');
    await frame.getByRole('button', { name: 'Deny' }).click();
    await frame.locator('.markdown', { hasText: 'Well.' }).waitFor();
    assert.equal(existsSync(join(harness.workspace, 'three')), false);
  });

  it('tools: a model that repeats itself is stopped with a message', async () => {
    harness.answer(answerWith(call('get_problems', {})));
    const frame = await harness.send('Problems?');
    await frame.getByText('repeatedly without progress').waitFor();
  });

  it('code block: is inserted at the cursor, and its source is copied', async () => {
    harness.answer(answerWith({ text: ['```ts\nexport const inserted = true;\n```'] }));
    await openFile(harness.page, 'target.ts');
    await runCommand(harness.page, 'Svc: Open Chat');
    const frame = await harness.send('Give me code');
    await waitForAnswerEnd(frame);
    await frame.getByRole('button', { name: 'Copy code' }).click();
    await frame.getByRole('button', { name: 'Insert at cursor' }).click();
    await harness.page.locator('.view-line', { hasText: 'export const inserted = true;' }).waitFor();
    await waitUntil(
      'the source in the clipboard',
      () => inPage(harness.page, 'the clipboard is invisible', () => navigator.clipboard.readText()),
      (copied) => copied === 'export const inserted = true;',
    );
    await runCommand(harness.page, 'View: Revert and Close Editor');
  });

  it('code block: runs in a terminal as shown, and not with control characters', async () => {
    const answer =
      '```sh\nprintf "[%s]" "a\tb" "!!" > ran.txt # \u200b\n```\n\n```bash\necho a\u0015touch never.txt\n```';
    harness.answer(answerWith({ text: [answer] }));
    const frame = await harness.send('How do I run it?');
    await waitForAnswerEnd(frame);
    await frame.getByRole('button', { name: 'Run in terminal' }).first().click();
    const dialog = harness.page.locator('.monaco-dialog-box');
    await dialog.getByText('ran.txt # ⟨U+200B⟩').waitFor();
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await harness.page.locator('.terminal-tabs-entry, .single-terminal-tab', { hasText: 'Svc' }).first().waitFor();
    // The shell creates the file before the command writes to it.
    const file = join(harness.workspace, 'ran.txt');
    const ran = () => (existsSync(file) ? readFileSync(file, 'utf8') : '');
    await waitUntil('the output of the command', ran, (output) => output === '[a\tb][!!]');
    await frame.getByRole('button', { name: 'Run in terminal' }).last().click();
    await harness.page.getByText('The command has a control character (U+0015)').first().waitFor();
    assert.equal(existsSync(join(harness.workspace, 'never.txt')), false);
  });

  it('tools: a file with secrets needs approval each time, even after reading was approved', async () => {
    harness.write('prod.env', 'TOKEN=needle\n');
    const read = call('read_file', { path: './prod.env' });
    const again = call('read_file', { path: 'src/../prod.env' }, 'c2');
    harness.answer(answerWith(read, again, { text: ['Read once.'] }));
    const frame = await harness.send('Read it');
    await frame.getByText('prod.env may contain secrets').waitFor();
    assert.equal(await frame.getByRole('button', { name: 'Always allow' }).count(), 0);
    await frame.getByRole('button', { name: 'Allow once' }).click();
    await frame.getByRole('region', { name: 'src/../prod.env' }).waitFor();
    await frame.getByRole('button', { name: 'Deny' }).last().click();
    await frame.locator('.markdown', { hasText: 'Read once.' }).waitFor();
    assert.equal(harness.lastBody().split('TOKEN=needle').length, 2);
  });

  /** A whole task of an agent, with the keyboard alone, as an ordinary repository has it. */
  describe('agent task in the chat', () => {
    beforeEach(() => {
      harness.write('agent/total.ts', LF);
      harness.write('agent/windows.txt', CRLF);
      harness.write('agent/other.ts', 'export {};\n');
    });

    let calls = 0;
    const call = (name: string, input: unknown) => {
      calls += 1;
      return { id: `agent${calls}`, name, arguments: [JSON.stringify(input)] };
    };
    const edit = (path: string, from: string, to: string) =>
      call('edit_file', { path: `agent/${path}`, old_text: from, new_text: to });
    const file = (name: string) => join(harness.workspace, 'agent', name);
    const read = (name: string) => readFileSync(file(name), 'utf8');

    const task = (): readonly Script[] => [
      { tools: [call('search_text', { query: 'rate' })] },
      { tools: ['total.ts', 'windows.txt', 'other.ts'].map((name) => call('read_file', { path: `agent/${name}` })) },
      {
        tools: [
          edit('total.ts', 'rate = 1', 'rate = 2'),
          edit('total.ts', 'price * rate', 'Math.round(price * rate)'),
          edit('windows.txt', 'second\n', '2nd\nand a half\n'),
          call('create_file', { path: 'agent/made.ts', content: 'export const made = true;\n' }),
        ],
      },
      { tools: [call('run_in_terminal', { command: 'git status' })] },
      { tools: [call('run_in_terminal', { command: 'touch agent/built.txt' })] },
      { text: ['All is done.'] },
    ];

    async function tabTo(frame: Frame, name: string): Promise<void> {
      for (let step = 0; step < 80; step++) {
        const focused = await inPage(
          frame,
          'the focus is no text',
          () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent,
        );
        if (focused === name) return;
        await harness.page.keyboard.press('Shift+Tab');
      }
      assert.fail(`${name} can't be reached with the keyboard`);
    }

    it('agent task: needs three decisions with the keyboard alone, and Undo all gives back each byte', async () => {
      harness.answer(answerWith(...task()));
      const frame = await harness.panel();
      const { keyboard } = harness.page;
      await keyboard.type('Double the rate');
      await keyboard.press('Enter');
      await frame.getByText('4 calls need approval').waitFor();
      await screenshot(harness.page, 'agent-waiting');
      assert.equal(read('total.ts'), LF);
      // The first decision: all edits.
      await keyboard.press('Control+Shift+Enter');
      // The second: the command that no rule knows.
      await frame.getByRole('textbox', { name: 'Command' }).waitFor();
      assert.equal(await frame.getByRole('textbox', { name: 'Command' }).inputValue(), 'touch agent/built.txt');
      // Until the card is in view, the key only shows it; and what the changes add to the transcript moves it.
      await frame.getByText('3 files changed').waitFor();
      await frame.locator('.tool.asking:focus').waitFor();
      await keyboard.press('Control+Enter');
      await frame.locator('.markdown', { hasText: 'All is done.' }).waitFor();
      await frame.getByText('3 files changed').waitFor();
      await screenshot(harness.page, 'agent-done');
      await frame.locator('.turn-bar', { hasText: /\+5\s*−3/ }).waitFor();
      assert.equal(
        read('total.ts'),
        LF.replace('rate = 1', 'rate = 2').replace('price * rate', 'Math.round(price * rate)'),
      );
      assert.equal(read('windows.txt'), 'first\r\n2nd\r\nand a half\r\nthird\r\n');
      assert.ok(existsSync(file('built.txt')));
      // The third: the changes are kept.
      await tabTo(frame, 'Keep');
      await keyboard.press('Enter');
      await frame.getByRole('button', { name: 'Keep' }).waitFor({ state: 'detached' });
      await tabTo(frame, 'Undo all');
      await keyboard.press('Enter');
      await frame.getByText('3 files: changes undone').waitFor();
      assert.equal(read('total.ts'), LF);
      assert.equal(read('windows.txt'), CRLF);
      assert.equal(existsSync(file('made.ts')), false);
      await tabTo(frame, 'Redo');
      await keyboard.press('Enter');
      await frame.getByText('3 files changed').waitFor();
      assert.equal(read('made.ts'), 'export const made = true;\n');
    });

    it('agent task: changes are pending in the editor, and each is accepted or rejected with a key', async () => {
      const edits = [
        edit('total.ts', 'rate = 1', 'rate = 2'),
        edit('total.ts', '  return price', '  // Twice.\n  return 2 * price'),
      ];
      harness.answer(answerWith({ tools: edits }, { text: ['All is done.'] }));
      const frame = await harness.send('Double it');
      await frame.getByRole('button', { name: 'Allow all' }).click();
      await frame.getByText('1 file changed').waitFor();
      await openFile(harness.page, 'total.ts');
      const lens = (text: string) => harness.page.locator('.codelens-decoration a', { hasText: text });
      await lens('Accept').nth(1).waitFor();
      for (const name of ['Accept Changes of File', 'Reject Changes of File']) {
        await harness.page.locator('.editor-actions').getByRole('button', { name }).waitFor();
      }
      await screenshot(harness.page, 'agent-review');
      const { keyboard } = harness.page;
      await keyboard.press('ControlOrMeta+Home');
      // The keys are known some time after the changes are drawn: VS Code is told where the cursor is. A second key would
      // decide the next change, so it must not follow one that is only slow.
      const within = 40_000;
      await actUntil(harness.page, () => keyboard.press('Alt+Enter'), lens('Accept').nth(1), true, within);
      await actUntil(harness.page, () => keyboard.press('Shift+Alt+Enter'), lens('Accept').first(), true, within);
      await frame.getByRole('button', { name: 'Keep' }).waitFor({ state: 'detached' });
      assert.equal(read('total.ts'), LF.replace('rate = 1', 'rate = 2'));
    });

    it('agent task: Review compares all changed files in one editor', async () => {
      harness.answer(
        answerWith(
          { tools: [edit('total.ts', 'rate = 1', 'rate = 3'), edit('other.ts', '{}', '{ total }')] },
          { text: ['Done.'] },
        ),
      );
      const frame = await harness.send('Triple it');
      await frame.getByRole('button', { name: 'Allow all' }).click();
      await frame.getByText('2 files changed').waitFor();
      await waitForAnswerEnd(frame);
      await frame.getByRole('button', { name: 'Review' }).click();
      await harness.page.locator('.tab', { hasText: 'Changes of the answer' }).waitFor();
      await harness.page.locator('.multiDiffEntry .view-line', { hasText: 'rate = 3' }).first().waitFor();
      await harness.page.locator('.multiDiffEntry .view-line', { hasText: 'total };' }).first().waitFor();
      await screenshot(harness.page, 'agent-multi-diff');
      await frame.getByRole('button', { name: 'Undo all' }).click();
      await frame.getByText('2 files: changes undone').waitFor();
      assert.equal(read('total.ts'), LF);
    });
  });
});
