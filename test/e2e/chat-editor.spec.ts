import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { typeInto } from '../host/person.ts';
import { waitUntil } from '../host/wait-until.ts';
import {
  actUntil,
  findNotification,
  openFile,
  runCommand,
  screenshot,
  typeInList,
  webviewFrame,
} from '../host/workbench.ts';
import {
  answerWith,
  type ChatHarness,
  openList,
  pausedAnswer,
  sendMessage,
  startChatHarness,
  waitForAnswerEnd,
} from './chat-harness.ts';

const TWELVE = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
const CHANGED = TWELVE.map((line) => (line === 'line 2' || line === 'line 11' ? `${line}, changed` : line));

describe('chat commands in the editor', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness({
      settings: {
        'terminal.integrated.defaultProfile.linux': 'bash',
        // The text of the terminal is in the page only when it is not drawn by the graphics card.
        'terminal.integrated.gpuAcceleration': 'off',
      },
    });
    harness.write('lines.txt', `${TWELVE.join('\n')}\n`);
    harness.write('part.txt', `${TWELVE.join('\n')}\n`);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: harness.workspace });
    git('init', '-q');
    git('add', '.');
    git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'Begin');
  });
  after(() => harness?.close());
  beforeEach(async () => {
    harness.answer(answerWith({ text: ['I see.'] }));
    await harness.newConversation();
  });

  const row = (text: string | RegExp) => harness.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
  const dialog = () => harness.page.locator('.monaco-dialog-box');
  const lines = () => readFileSync(join(harness.workspace, 'lines.txt'), 'utf8');

  async function complete(frame: Frame, typed: string, label: string): Promise<void> {
    await typeInto(frame.locator('.composer textarea'), typed);
    await frame.locator('.completions [role="option"]').filter({ hasText: label }).first().click();
  }

  it('attach command: reports that there is nothing to attach', async () => {
    const frame = await harness.panel();
    await complete(frame, '@prob', '@problems');
    await complete(frame, '@term', '@terminal');
    await frame.getByRole('button', { name: 'Attach' }).click();
    await row('Changes in Git').click();
    for (const text of [
      'There are no problems to attach.',
      'No terminal output is available',
      'There are no changes in Git to attach.',
    ]) {
      await findNotification(harness.page, text);
    }
    assert.equal(await frame.locator('.composer .chips:not(.context) .chip').count(), 0);
    await runCommand(harness.page, 'Notifications: Clear All Notifications');
  });

  it('terminal command: runs after confirmation, and its output can be attached', async () => {
    harness.answer(answerWith({ text: ['```sh\necho sum-$((40 + 2))\n```'] }, { text: ['I see.'] }));
    const frame = await harness.send('How much?');
    await waitForAnswerEnd(frame);
    await frame.getByRole('button', { name: 'Run in terminal' }).click();
    await dialog().getByText('echo sum-$((40 + 2))').waitFor();
    await dialog().getByRole('button', { name: 'Run', exact: true }).click();
    await harness.page.locator('.xterm-rows', { hasText: 'sum-42' }).waitFor();
    await harness.page.locator('.xterm-rows', { hasText: '[exit code 0]' }).waitFor();
    await frame.getByRole('button', { name: 'Attach' }).click();
    await row('Last output of the terminal').click();
    await frame.locator('.composer .chips:not(.context) .chip', { hasText: 'Terminal' }).waitFor();
    await harness.send('And?');
    await frame.locator('.markdown', { hasText: 'I see.' }).waitFor();
    assert.match(harness.lastBody(), /\$ echo sum-\$\(\(40 \+ 2\)\)\\nsum-42\\n\[exit code 0\]/);
    await runCommand(harness.page, 'Terminal: Kill All Terminals');
  });

  it('proposal: applies the selected changes only', async () => {
    harness.answer(answerWith({ text: [`\`\`\`text\n${CHANGED.join('\n')}\n\`\`\``] }));
    await openFile(harness.page, 'lines.txt');
    await runCommand(harness.page, 'Svc: Open Chat');
    const frame = await harness.send('Change two lines');
    await waitForAnswerEnd(frame);
    await frame.getByRole('button', { name: 'Compare and apply' }).click();
    await harness.page.locator('.editor.modified .view-line', { hasText: 'line 11, changed' }).waitFor();
    await openList(harness.page, 'Svc: Choose Changes to Apply', 'Changes to apply');
    await row('line 11, changed').click();
    await harness.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
    await harness.page.locator('.tab', { hasText: '(proposed)' }).waitFor({ state: 'detached' });
    assert.equal(lines(), `${TWELVE.join('\n')}\n`.replace('line 2\n', 'line 2, changed\n'));
  });

  describe('compare and apply', () => {
    const CODE = 'export function area(width: number): number {\n  return width;\n}\n\nexport const two = 2;\n';
    const apply = async (answer: string): Promise<void> => {
      harness.answer(answerWith({ text: [answer] }));
      await runCommand(harness.page, 'Svc: Open Chat');
      const frame = await harness.send('Change it');
      await waitForAnswerEnd(frame);
      await frame.getByRole('button', { name: 'Compare and apply' }).click();
    };
    const accept = async () => {
      await runCommand(harness.page, 'Svc: Accept Proposed Change');
      await harness.page.locator('.tab', { hasText: '(proposed)' }).waitFor({ state: 'detached' });
    };
    const area = () => readFileSync(join(harness.workspace, 'area.ts'), 'utf8');
    beforeEach(() => void harness.write('area.ts', CODE));

    it('compare and apply: changes the function in the file that the block names, not the open one', async () => {
      await openFile(harness.page, 'lines.txt');
      const open = lines();
      await apply('```ts area.ts\nexport function area(side: number): number {\n  return side ** 2;\n}\n```');
      await harness.page.locator('.editor.modified .view-line', { hasText: 'side ** 2' }).waitFor();
      await accept();
      assert.equal(area(), CODE.replace('width: number', 'side: number').replace('return width', 'return side ** 2'));
      assert.equal(lines(), open);
    });

    it('compare and apply: asks for a place that is not certain, and never replaces a whole file', async () => {
      await openFile(harness.page, 'area.ts');
      // VS Code reads the file again some time after it was changed on disk.
      await harness.page.locator('.view-line', { hasText: 'return width;' }).waitFor();
      await apply('```ts\nlog(1);\n```');
      await harness.page
        .locator('.quick-input-title', { hasText: 'Where does this code belong in area.ts?' })
        .waitFor();
      for (const label of ['Insert at the cursor', 'New file']) await row(label).waitFor();
      await row('Insert at the cursor').click();
      await harness.page.locator('.editor.modified .view-line', { hasText: 'log(1);' }).waitFor();
      await accept();
      assert.ok(area().includes('log(1);'));
      assert.equal(area().replace('log(1);\n', '').replace('log(1);', ''), CODE);
    });
  });

  describe('edit selection', () => {
    const view = (text: string) => harness.page.locator('.monaco-editor .view-line', { hasText: text });
    const lens = (text: string) => harness.page.locator('.codelens-decoration a', { hasText: text }).first();

    /** Selects lines 3 and 4 and instructs the model to change them. */
    async function change(...answers: readonly string[]): Promise<void> {
      harness.write('part.txt', `${TWELVE.join('\n')}\n`);
      harness.answer(answerWith(...answers.map((text) => ({ text: [text] }))));
      await openFile(harness.page, 'part.txt');
      // VS Code reads a file that is open again when it was changed on disk, which would move the selection.
      for (const line of ['line 3', 'line 4']) await view(line).first().waitFor();
      await harness.page.keyboard.press('ControlOrMeta+Home');
      for (const key of ['ArrowDown', 'ArrowDown', 'Shift+ArrowDown', 'Shift+ArrowDown']) {
        await harness.page.keyboard.press(key);
      }
      await instruct('Svc: Change Selection…', 'Change the selection', 'Make it short');
    }
    async function instruct(command: string, title: string, text: string): Promise<void> {
      await openList(harness.page, command, title);
      await typeInList(harness.page, text);
      await harness.page.keyboard.press('Enter');
    }
    /** The key is known some time after the change is drawn: VS Code is told where the cursor is. */
    const decide = (key: 'Alt+Enter' | 'Shift+Alt+Enter') =>
      actUntil(harness.page, () => harness.page.keyboard.press(key), lens('Accept'), true);
    const part = () => readFileSync(join(harness.workspace, 'part.txt'), 'utf8');
    const changed = (text: string) => `${TWELVE.toSpliced(2, 2, text).join('\n')}\n`;
    const saved = (text: string) => waitUntil('the saved file to be changed', part, (content) => content === text);

    it('edit selection: the change is drawn in place, and Alt+Enter accepts it', async () => {
      await change('```text\nonly this\n```');
      await lens('Accept').waitFor();
      await view('only this').waitFor();
      assert.match(harness.lastBody(), /line 2\\n<selection>line 3\\nline 4<\/selection>[\s\S]*Change: Make it short/);
      assert.equal(part(), `${TWELVE.join('\n')}\n`);
      await screenshot(harness.page, 'edit-selection');
      await decide('Alt+Enter');
      await saved(changed('only this'));
    });

    it('edit selection: a further instruction changes the change, and Shift+Alt+Enter rejects it', async () => {
      await change('first answer', 'second answer');
      await view('first answer').waitFor();
      await lens('Change Further…').click();
      await harness.page.locator('.quick-input-title', { hasText: 'Change the selection further' }).waitFor();
      await typeInList(harness.page, 'Shorter');
      await harness.page.keyboard.press('Enter');
      await view('second answer').waitFor();
      assert.match(harness.lastBody(), /first answer.*Change: Shorter/);
      assert.equal(await view('first answer').count(), 0);
      await decide('Shift+Alt+Enter');
      await view('line 3').waitFor();
      await lens('Reject').waitFor({ state: 'detached' });
      await saved(`${TWELVE.join('\n')}\n`);
    });

    it('edit selection: sentences and reasoning around the code do not get into the file', async () => {
      await change('<think>\nHm.\n</think>\n\nHere is the text:\n\n~~~text\nonly this\n~~~\n\nI made it short.');
      await lens('Accept').waitFor();
      await view('only this').waitFor();
      await decide('Alt+Enter');
      await saved(changed('only this'));
    });

    it('edit selection: an answer without code changes nothing and is shown', async () => {
      await change('The lines are already short; nothing to change.');
      await findNotification(harness.page, 'The lines are already short');
      assert.equal(await lens('Accept').count(), 0);
      assert.equal(part(), `${TWELVE.join('\n')}\n`);
      await runCommand(harness.page, 'Notifications: Clear All Notifications');
    });

    it('edit selection: Escape cancels the request', async () => {
      const { answer, resume } = pausedAnswer({ text: ['too', ' late'] });
      await change('x');
      await lens('Accept').waitFor();
      await decide('Alt+Enter');
      await saved(changed('x'));
      harness.answer(answer);
      await instruct('Svc: Change Selection…', 'Change the selection', 'Again');
      await lens('Cancel').waitFor();
      await harness.page.keyboard.press('Escape');
      await lens('Cancel').waitFor({ state: 'detached' });
      resume();
      assert.equal(await view('too late').count(), 0);
    });
  });

  it('commit message: is written from the changes', async () => {
    harness.answer(answerWith({ text: ['Shorten the lines'] }));
    harness.write('lines.txt', 'shorter\n');
    await runCommand(harness.page, 'Svc: Write Commit Message');
    await runCommand(harness.page, 'Source Control: Focus on Changes View');
    await harness.page.locator('.scm-editor .view-line', { hasText: 'Shorten the lines' }).waitFor();
    assert.match(harness.lastBody(), /\+shorter/);
  });

  it('commit message: is only the message, without a sentence and a fence around it', async () => {
    harness.answer(answerWith({ text: ['Here is a commit message:\n\n```\nfeat: add the constant y\n```'] }));
    harness.write('lines.txt', 'other\n');
    await runCommand(harness.page, 'Svc: Write Commit Message');
    await runCommand(harness.page, 'Source Control: Focus on Changes View');
    const lines = harness.page.locator('.scm-editor .view-line');
    await lines.filter({ hasText: 'feat: add the constant y' }).waitFor();
    assert.equal(await lines.count(), 1);
  });

  it('conversation: can be moved to a new window', async () => {
    const frame = await harness.send('Begin here');
    await waitForAnswerEnd(frame);
    const opening = harness.page.context().waitForEvent('page');
    await runCommand(harness.page, 'Svc: Move Conversation to New Window');
    const window = await opening;
    const moved = await webviewFrame(window, '.message.assistant');
    harness.answer(answerWith({ text: ['From the other window.'] }));
    await sendMessage(window, moved, 'And here?');
    await moved.locator('.markdown', { hasText: 'From the other window.' }).waitFor();
    await frame.locator('.transcript .empty').waitFor();
    await window.close();
  });

  it('tool permission: “always” is valid in other conversations', async () => {
    const call = (id: string, path: string) => ({
      tools: [{ id, name: 'edit_file', arguments: [JSON.stringify({ path, old_text: '', new_text: 'made' })] }],
    });
    harness.answer(answerWith(call('c1', 'one.txt'), { text: ['One.'] }));
    const frame = await harness.send('Make one');
    await frame.getByRole('button', { name: 'Always allow' }).click();
    await frame.locator('.markdown', { hasText: 'One.' }).waitFor();
    await harness.newConversation();
    harness.answer(answerWith(call('c2', 'two.txt'), { text: ['Two.'] }));
    await harness.send('Make two');
    await frame.locator('.markdown', { hasText: 'Two.' }).waitFor();
    assert.ok(existsSync(join(harness.workspace, 'two.txt')));
  });
});
