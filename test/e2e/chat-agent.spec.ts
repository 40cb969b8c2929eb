import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { inPage } from '../host/person.ts';
import { openFile, screenshot } from '../host/workbench.ts';
import type { Script } from '../upstream/answers.ts';
import { answerWith, type ChatHarness, startChatHarness, waitForAnswerEnd } from './chat-harness.ts';

const LF = 'export const rate = 1;\n\nexport function total(price: number): number {\n  return price * rate;\n}\n';
const CRLF = 'first\r\nsecond\r\nthird\r\n';

/** A whole task of an agent, with the keyboard alone, as an ordinary repository has it. */
describe('agent task in the chat', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness();
  });
  after(() => harness?.close());
  beforeEach(async () => {
    harness.write('agent/total.ts', LF);
    harness.write('agent/windows.txt', CRLF);
    harness.write('agent/other.ts', 'export {};\n');
    await harness.newConversation();
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
    await keyboard.press('Control+Enter');
    await frame.locator('.markdown', { hasText: 'All is done.' }).waitFor();
    await frame.getByText('3 files changed').waitFor();
    await screenshot(harness.page, 'agent-done');
    assert.match(await frame.locator('.turn-bar').innerText(), /\+5\s*−3/);
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
    await keyboard.press('Alt+Enter');
    await lens('Accept').nth(1).waitFor({ state: 'detached' });
    await keyboard.press('Shift+Alt+Enter');
    await lens('Accept').waitFor({ state: 'detached' });
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
