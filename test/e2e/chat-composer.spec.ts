import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { focusedElements } from '../host/failure-report.ts';
import { inElement } from '../host/person.ts';
import { openFile, runCommand, webviewFrame } from '../host/workbench.ts';
import {
  answerWith,
  type ChatHarness,
  extensionReady,
  pausedAnswer,
  showExplorer,
  startChatHarness,
  typeMessage,
  waitForAnswerEnd,
  waitForDraft,
} from './chat-harness.ts';

/** A picture of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4\n%%EOF').toString('base64');
const ATTACHED = '.composer .chips:not(.context) .chip';

describe('input of the chat in the editor', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness();
    harness.write('AGENTS.md', 'Always answer in rhymes.\n');
    harness.write('broken.json', '{ "a": }');
    harness.write('.github/prompts/review.prompt.md', '---\nmode: ask\n---\nReview this as a stranger would.\n');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: harness.workspace });
    git('init', '-q');
    git('add', '.');
    git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '-q', '-m', 'Begin');
    harness.write('README.md', 'A changed line.\n');
  });
  after(() => harness?.close());
  beforeEach(async () => {
    harness.answer(answerWith({ text: ['I see.'] }));
    const shown = harness.page.locator('.tab.active[data-resource-name="receipt.ts"]');
    if ((await shown.count()) === 0) await openFile(harness.page, 'receipt.ts');
    await harness.newConversation();
  });

  it('composer: a mention that is typed faster than its list arrives is sent with the file', async () => {
    const frame = await harness.panel();
    await harness.page.keyboard.type('What does @basket.t');
    await harness.page.keyboard.press('Enter');
    await waitForAnswerEnd(frame);
    await frame.locator('.message.user', { hasText: 'What does @basket.ts' }).waitFor();
    assert.match(harness.lastBody(), /export function basketTotal/);
  });

  it('composer: AGENTS.md and the open file are sent, and each can be switched off', async () => {
    const frame = await harness.panel();
    const rules = frame.getByRole('button', { name: 'AGENTS.md' });
    await frame.getByRole('button', { name: /receipt\.ts/ }).waitFor();
    await rules.waitFor();
    await harness.send('First');
    await waitForAnswerEnd(frame);
    assert.match(harness.lastBody(), /Always answer in rhymes/);
    assert.match(harness.lastBody(), /Open file src\/receipt\.ts/);
    await rules.click();
    await frame.locator('.chips.context .off', { hasText: 'AGENTS.md' }).waitFor();
    await frame.locator('.composer textarea').click();
    await harness.send('Second');
    await frame.locator('.message.assistant[aria-busy="false"]').nth(1).waitFor();
    assert.doesNotMatch(harness.lastBody(), /Always answer in rhymes/);
  });

  it('composer: a message during an answer waits and is sent at its end', async () => {
    const paused = pausedAnswer({ text: ['One', ' and', ' more.'] });
    harness.answer(paused.answer);
    const frame = await harness.send('First');
    await frame.locator('.markdown', { hasText: 'One' }).waitFor();
    await harness.send('Second');
    await frame.locator('.queue', { hasText: 'Second' }).waitFor();
    harness.answer(answerWith({ text: ['Two.'] }));
    paused.resume();
    await frame.locator('.markdown', { hasText: 'Two.' }).waitFor();
    await frame.locator('.markdown', { hasText: 'One and more.' }).waitFor();
    assert.equal(await frame.locator('.queue').count(), 0);
    assert.deepEqual(await frame.locator('.bubble .plain').allTextContents(), ['First', 'Second']);
  });

  it('composer: a plan is made with reading tools only, and one click starts the work', async () => {
    harness.answer(answerWith({ text: ['1. Change basket.ts.'] }, { text: ['Done.'] }));
    const frame = await harness.panel();
    await frame.getByRole('button', { name: 'Plan' }).click();
    await frame.locator('.composer textarea').click();
    await harness.send('Use bigint');
    await waitForAnswerEnd(frame);
    assert.match(harness.lastBody(), /Plan mode: change nothing/);
    assert.doesNotMatch(harness.lastBody(), /"edit_file"/);
    await frame.getByRole('button', { name: 'Start the work' }).click();
    await frame.locator('.markdown', { hasText: 'Done.' }).waitFor();
    assert.match(harness.lastBody(), /"edit_file"/);
    assert.match(harness.lastBody(), /Carry out the plan/);
  });

  it('composer: a path in an answer opens the file at its line', async () => {
    harness.answer(answerWith({ text: ['See `src/basket.ts:3`.'] }));
    const frame = await harness.send('Where?');
    await frame.getByRole('link', { name: 'src/basket.ts:3' }).click();
    await harness.page.locator('.tab.active[data-resource-name="basket.ts"]').waitFor();
    await harness.page.locator('.statusbar-item', { hasText: 'Ln 3' }).waitFor();
  });

  async function complete(frame: Frame, typed: string, label: string | RegExp): Promise<void> {
    const area = frame.locator('.composer textarea');
    const options = frame.locator('.completions [role="option"]');
    await harness.page.keyboard.type(typed);
    try {
      await options.filter({ hasText: label }).first().click();
    } catch (cause) {
      const focused = await focusedElements(harness.page);
      const seen = JSON.stringify([await area.inputValue(), focused, await options.allInnerTexts()]);
      throw new Error(`no ${label} in the list; text, focus and list: ${seen}`, { cause });
    }
  }
  const chip = (frame: Frame, text: string | RegExp) => frame.locator(ATTACHED).filter({ hasText: text }).waitFor();

  async function sent(frame: Frame): Promise<string> {
    const answers = frame.locator('.message.assistant[aria-busy="false"]');
    const before = await answers.count();
    await frame.getByRole('button', { name: 'Send' }).click();
    await answers.nth(before).waitFor();
    assert.equal(await frame.locator(ATTACHED).count(), 0);
    return harness.lastBody();
  }

  it('attachments: @ adds a file, a folder and the changes in Git', async () => {
    const frame = await harness.panel();
    await complete(frame, 'Look at @bask', /^basket\.ts/);
    await chip(frame, /basket\.ts\d+ tokens/);
    await complete(frame, ' and @sr', /^src\//);
    await chip(frame, 'src/');
    await complete(frame, ' and @di', '@diff');
    await chip(frame, 'Git diff');
    const body = await sent(frame);
    assert.match(body, /export function basketTotal/);
    assert.match(body, /src\/basket\.ts\\nsrc\/receipt\.ts/);
    assert.match(body, /\+A changed line\./);
    assert.match(body, /Look at @basket\.ts +and @src\/ +and @diff"/);
  });

  it('attachments: a file with secrets needs confirmation, also through a link', async () => {
    harness.write('deploy.env', 'TOKEN=needle\n');
    symlinkSync('deploy.env', join(harness.workspace, 'harmless.txt'));
    const frame = await harness.panel();
    const dialog = harness.page.locator('.monaco-dialog-box');
    for (const name of ['deploy.env', 'harmless.txt']) {
      await complete(frame, ` @${name.slice(0, 6)}`, name);
      await dialog.getByText(`${name} may contain secrets. Attach it?`).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      await frame.locator('.composer textarea').click();
    }
    await complete(frame, ' @deploy', 'deploy.env');
    await dialog.getByRole('button', { name: 'Attach', exact: true }).click();
    await chip(frame, 'deploy.env');
    assert.equal(await frame.locator(ATTACHED).count(), 1);
    assert.match(await sent(frame), /TOKEN=needle/);
  });

  it('attachments: a symbol is found by name and attached completely', async () => {
    const frame = await harness.panel();
    await complete(frame, '@lineTot', /^lineTotal/);
    await chip(frame, 'lineTotal');
    assert.match(await sent(frame), /function lineTotal/);
  });

  it('attachments: the selection and the problems of the editor can be attached', async () => {
    await openFile(harness.page, 'broken.json');
    await harness.page.locator('.squiggly-error').first().waitFor();
    await openFile(harness.page, 'receipt.ts');
    await harness.page.keyboard.press('ControlOrMeta+A');
    await runCommand(harness.page, 'Svc: Ask About Selection');
    const frame = await harness.panel();
    await chip(frame, /receipt\.ts:1-\d+/);
    await complete(frame, '@prob', '@problems');
    await chip(frame, 'Problems');
    const body = await sent(frame);
    assert.match(body, /A receipt as plain text/);
    assert.match(body, /broken\.json:1:\d+: error/);
  });

  it('attachments: a pasted image and a dropped PDF are shown and can be removed', async () => {
    const frame = await harness.panel();
    await give(frame, 'paste', 'dot.png', 'image/png', PIXEL);
    await frame.locator('.composer .chip img').waitFor();
    await give(frame, 'drop', 'page.pdf', 'application/pdf', PDF);
    await give(frame, 'drop', 'other.pdf', 'application/pdf', PDF);
    await chip(frame, 'page.pdf');
    await frame.getByRole('button', { name: 'Remove other.pdf' }).click();
    await frame.locator(ATTACHED, { hasText: 'other.pdf' }).waitFor({ state: 'detached' });
    const body = await sent(frame);
    assert.match(body, /data:image\/png;base64,/);
    assert.match(body, /page\.pdf/);
    assert.doesNotMatch(body, /other\.pdf/);
    await frame.locator('.message.user .chip', { hasText: 'dot.png' }).waitFor();
  });

  it('prompt file: is inserted into the message, and a slash command attaches the open file', async () => {
    const frame = await harness.panel();
    await complete(frame, '/rev', '/review');
    assert.match(await sent(frame), /Review this as a stranger would\./);
    await typeMessage(harness.page, frame, '/tests');
    assert.match(await sent(frame), /A receipt as plain text/);
  });

  it('draft: keeps its text and attachment after a window reload and while the view is hidden', async () => {
    await openFile(harness.page, 'receipt.ts');
    await harness.page.keyboard.press('ControlOrMeta+A');
    const frame = await harness.enter();
    await complete(frame, 'What is @sel', '@selection');
    await chip(frame, 'receipt.ts');
    // Not directly after the view was hidden and shown: VS Code would not have stored that it is visible, and the chat
    // would take it for one that the user has just opened.
    await harness.page.reload();
    await extensionReady(harness.page);
    await runCommand(harness.page, 'Svc: Open Chat');
    await waitForDraft(await webviewFrame(harness.page, ATTACHED), 'What is @selection ');
    await showExplorer(harness.page);
    await runCommand(harness.page, 'Svc: Open Chat');
    const shown = await webviewFrame(harness.page, ATTACHED);
    await waitForDraft(shown, 'What is @selection ');
    assert.match(await sent(shown), /A receipt as plain text/);
  });
});

/** Pastes or drops a file with the events of the browser. */
async function give(frame: Frame, kind: 'paste' | 'drop', name: string, type: string, base64: string): Promise<void> {
  await inElement(
    frame.locator('.composer textarea'),
    'the clipboard is invisible',
    (area, { kind, name, type, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], name, { type }));
      const init = { bubbles: true, cancelable: true };
      const event =
        kind === 'paste'
          ? new ClipboardEvent('paste', { ...init, clipboardData: data })
          : new DragEvent('drop', { ...init, dataTransfer: data });
      area.dispatchEvent(event);
    },
    { kind, name, type, base64 },
  );
}
