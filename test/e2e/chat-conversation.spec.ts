import assert from 'node:assert/strict';
import { openFile, pickTyped, runCommand, screenshot, webviewFrame } from '../host/workbench.ts';
import { type ChatDesk, ended, fresh, halting, openList, saying, sendIn, setChatDesk } from './chat-harness.ts';

describe('a conversation in the editor', () => {
  let desk: ChatDesk;
  before(async () => {
    desk = await setChatDesk();
    await openFile(desk.page, 'receipt.ts');
  });
  after(() => desk.close());
  beforeEach(async () => {
    desk.answer(saying({ text: ['Hello', ' there.'] }));
    await desk.fresh();
  });

  /** An answer that has begun, and what lets it end. */
  async function begun(question: string) {
    const { answer, goOn } = halting({ text: ['The beginning', ' and the end.'] });
    desk.answer(answer);
    const frame = await desk.send(question);
    await frame.locator('.markdown', { hasText: 'The beginning' }).waitFor();
    return { frame, goOn };
  }
  const whole = (text: string) => /The beginning and the end\./.test(text);

  it('sends, shows the answer with its price, and goes on from it', async () => {
    const frame = await desk.send('Hi');
    await ended(frame);
    assert.match(await frame.locator('.message.assistant .markdown').innerText(), /Hello there\./);
    assert.match(
      await frame.locator('.message.assistant .figures').last().innerText(),
      /Large · 11 in, 7 out · \$0\.0001/,
    );
    await desk.send('And?');
    await frame.locator('.message.assistant').nth(1).waitFor();
    await ended(frame);
    assert.match(desk.lastBody(), /Hello there\..*And\?/);
  });

  it('stops: the socket closes and the text stays', async () => {
    const { frame } = await begun('Begin');
    const closed = desk.requests().at(-1)?.closed;
    await frame.getByRole('button', { name: 'Stop' }).click();
    await frame.getByText('Stopped.').waitFor();
    assert.equal(await closed, true);
    assert.match(await frame.locator('.message.assistant .markdown').innerText(), /The beginning/);
  });

  it('streams on while the view is hidden, and shows all of it when it is back', async () => {
    const { goOn } = await begun('Begin');
    await desk.page.keyboard.press('ControlOrMeta+Shift+E');
    await desk.page.locator('.explorer-folders-view').waitFor();
    goOn();
    await runCommand(desk.page, 'Svc: Open Chat');
    const again = await webviewFrame(desk.page, '.message.assistant[aria-busy="false"]');
    assert.ok(whole(await again.locator('.markdown').innerText()));
    assert.equal(await again.locator('.message').count(), 2);
  });

  it('shows all of an answer after the page was thrown away in the middle of it', async () => {
    const { frame, goOn } = await begun('Begin');
    const gone = frame.locator('.message').first().waitFor({ state: 'detached' });
    await runCommand(desk.page, 'Developer: Reload Webviews');
    await gone.catch(() => undefined);
    const again = await webviewFrame(desk.page, '.message.assistant[aria-busy="true"]');
    await again.locator('.markdown', { hasText: 'The beginning' }).waitFor();
    goOn();
    await ended(again);
    assert.ok(whole(await again.locator('.markdown').innerText()));
    assert.equal(await again.locator('.message').count(), 2);
  });

  it('goes on in the other side bar, where it was moved while it streamed', async () => {
    const { goOn } = await begun('Move me');
    const rows = desk.page.locator('.quick-input-list .monaco-list-row');
    // A heading such as "recently used" is text of the row that it stands on.
    const moveView = rows.filter({ has: desk.page.getByText('View: Move View', { exact: true }) });
    await pickTyped(desk.page, 'F1', '>View: Move View', moveView);
    await rows.filter({ hasText: /^Chat.*Side Bar \/ Svc/ }).click();
    await rows.filter({ hasText: /^New Secondary Side Bar Entry/ }).click();
    await desk.page.locator('.part.auxiliarybar').waitFor();
    const moved = await webviewFrame(desk.page, '.message.assistant');
    goOn();
    await ended(moved);
    assert.ok(whole(await moved.locator('.markdown').innerText()));
    assert.equal(await moved.locator('.message').count(), 2);
    await runCommand(desk.page, 'View: Reset View Locations');
    await runCommand(desk.page, 'Svc: Open Chat');
    const back = await webviewFrame(desk.page, '.message.assistant');
    assert.ok(whole(await back.locator('.markdown').innerText()));
  });

  it('moves to an editor tab while it streams, and a new conversation takes its place', async () => {
    const { frame, goOn } = await begun('Begin here');
    await runCommand(desk.page, 'Svc: Move Conversation to Editor');
    await desk.page.locator('.tab', { hasText: 'Begin here' }).waitFor();
    await frame.locator('.empty').waitFor();
    goOn();
    const tab = await webviewFrame(desk.page, '.message.assistant[aria-busy="false"]');
    assert.ok(whole(await tab.locator('.markdown').innerText()));
    await desk.page.locator('.tab', { hasText: 'Begin here' }).click();
    await runCommand(desk.page, 'View: Close Editor');
    await desk.page.locator('.tab', { hasText: 'Begin here' }).waitFor({ state: 'detached' });
  });

  it('never takes the focus from where a person types', async () => {
    const { frame, goOn } = await begun('While I type');
    await openFile(desk.page, desk.write('focus.txt', ''));
    await desk.page.keyboard.type('one ');
    const gone = frame.locator('.message').first().waitFor({ state: 'detached' });
    await runCommand(desk.page, 'Developer: Reload Webviews');
    await gone.catch(() => undefined);
    const again = await webviewFrame(desk.page, '.message.assistant[aria-busy="true"]');
    await desk.page.keyboard.type('two ');
    await desk.page.keyboard.press('F1');
    const palette = desk.page.locator('.quick-input-widget input.input');
    await palette.fill('>Svc: ');
    goOn();
    await ended(again);
    await desk.page.keyboard.type('New');
    assert.equal(await palette.inputValue(), '>Svc: New');
    await desk.page.keyboard.press('Escape');
    await desk.page.keyboard.type('three');
    await desk.page.locator('.view-line', { hasText: 'one two three' }).waitFor();
    await runCommand(desk.page, 'File: Save');
    await runCommand(desk.page, 'View: Close Editor');
  });

  it('branches when a message is edited, and goes back', async () => {
    desk.answer(saying({ text: ['first'] }, { text: ['second'] }));
    const frame = await desk.send('One');
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

  it('summarizes by hand and shows it as a fold', async () => {
    desk.answer(saying({ text: ['About apples.'] }, { text: ['They spoke of apples.'] }, { text: ['Going on.'] }));
    const frame = await desk.send('Apples?');
    await ended(frame);
    await desk.send('/compact');
    await frame.getByText('Earlier messages were summarized').waitFor();
    await desk.send('And now?');
    await frame.locator('.markdown', { hasText: 'Going on.' }).waitFor();
    assert.match(desk.lastBody(), /They spoke of apples\./);
    assert.doesNotMatch(desk.lastBody(), /About apples/);
  });

  it('chooses another model by what it can do', async () => {
    const frame = await desk.panel();
    await frame.locator('.composer .model').click();
    const rows = desk.page.locator('.quick-input-list .monaco-list-row');
    await rows.filter({ hasText: 'up/large' }).first().waitFor();
    await desk.page.locator('.quick-input-widget input.input').fill('small');
    await rows.filter({ hasText: 'up/small' }).first().waitFor();
    await screenshot(desk.page, 'chat/picker', { docs: true });
    await desk.page.keyboard.press('Enter');
    await frame.locator('.composer .model', { hasText: 'Small' }).waitFor();
    await desk.send('Hi');
    await ended(frame);
    assert.match(desk.lastBody(), /"model":"small"/);
    await frame.locator('.composer .model').click();
    await desk.page.locator('.quick-input-widget input.input').fill('large');
    await rows.filter({ hasText: 'up/large' }).first().waitFor();
    await desk.page.keyboard.press('Enter');
    await frame.locator('.composer .model', { hasText: 'Large' }).waitFor();
  });

  it('finds a conversation again by what was said in it', async () => {
    desk.answer(saying({ text: ['The zebra has stripes.'] }));
    const frame = await desk.send('A question');
    await ended(frame);
    await desk.fresh();
    const input = await openList(desk.page, 'Svc: Show Conversations', 'Conversations');
    await input.fill('zebra');
    await desk.page.keyboard.press('Enter');
    await frame.locator('.markdown', { hasText: 'The zebra has stripes.' }).waitFor();
    await frame.locator('.composer textarea:focus').waitFor();
  });

  it('lets a second window hold its own conversation, and both see all of them', async () => {
    const frame = await desk.send('From the first window');
    await ended(frame);
    const second = await desk.open();
    await second.locator('.statusbar-item', { hasText: 'Svc' }).first().waitFor();
    const other = await fresh(second);
    await sendIn(other, 'From the second window');
    await ended(other);
    assert.equal(await frame.getByText('From the second window').count(), 0);
    await openList(second, 'Svc: Show Conversations', 'Conversations');
    await second.locator('.quick-input-list .monaco-list-row', { hasText: 'From the first window' }).waitFor();
    await second.context().close();
  });
});
