import assert from 'node:assert/strict';
import { openFile } from '../host/workbench.ts';
import { answerWith, type ChatHarness, pausedAnswer, startChatHarness, waitForAnswerEnd } from './chat-harness.ts';

describe('composer in the editor', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness();
    harness.write('AGENTS.md', 'Always answer in rhymes.\n');
    await openFile(harness.page, 'receipt.ts');
  });
  after(() => harness?.close());
  beforeEach(() => harness.newConversation());

  it('composer: a mention that is typed faster than its list arrives is sent with the file', async () => {
    harness.answer(answerWith({ text: ['I see.'] }));
    const frame = await harness.panel();
    await harness.page.keyboard.type('What does @basket.t');
    await harness.page.keyboard.press('Enter');
    await waitForAnswerEnd(frame);
    await frame.locator('.message.user', { hasText: 'What does @basket.ts' }).waitFor();
    assert.match(harness.lastBody(), /export function basketTotal/);
  });

  it('composer: AGENTS.md and the open file are sent, and each can be switched off', async () => {
    harness.answer(answerWith({ text: ['I see.'] }));
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
    await frame.locator('.message.assistant').waitFor();
    await harness.send('Second');
    await frame.locator('.queue', { hasText: 'Second' }).waitFor();
    harness.answer(answerWith({ text: ['Two.'] }));
    paused.resume();
    await frame.locator('.markdown', { hasText: 'Two.' }).waitFor();
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
    await harness.page.locator('.statusbar-item', { hasText: 'Ln 3' }).waitFor();
  });
});
