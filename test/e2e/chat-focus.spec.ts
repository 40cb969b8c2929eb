import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { drawn, inPage, setText, tabTo, typeInto } from '../host/person.ts';
import { waitUntil } from '../host/wait-until.ts';
import {
  actUntil,
  came,
  OPENS_WITHIN_MS,
  openFile,
  runCommand,
  screenshot,
  typeInList,
  webviewFrame,
  workbenchReady,
} from '../host/workbench.ts';
import {
  answerWith,
  type ChatHarness,
  focusEditors,
  openList,
  showExplorer,
  startChatHarness,
  typeMessage,
  waitForAnswerEnd,
  waitForCaret,
  waitForDraft,
} from './chat-harness.ts';

const chatIcon = (page: Page) => page.locator('.activitybar .action-item', { has: page.getByLabel('Svc') }).first();

describe('focus of the chat and of its lists', () => {
  let harness: ChatHarness;
  before(async () => {
    harness = await startChatHarness();
    harness.answer(answerWith({ text: ['I see.'] }));
  });
  after(() => harness?.close());
  // A conversation that is new already keeps its draft.
  afterEach(async () => {
    const input = (await harness.panel()).locator('.composer textarea');
    if ((await input.inputValue()) !== '') await typeInto(input, '');
  });

  /** After each of these, the user types a message without a click. */
  describe('caret in the input of the chat', () => {
    const ACTIONS: Readonly<Record<string, () => Promise<unknown>>> = {
      '“Open Chat”': () => runCommand(harness.page, 'Svc: Open Chat'),
      'a click on the icon in the activity bar': () => chatIcon(harness.page).click(),
      '“New Conversation”': () => runCommand(harness.page, 'Svc: New Conversation'),
      '“Ask About Selection”': () => runCommand(harness.page, 'Svc: Ask About Selection'),
    };

    for (const [name, act] of Object.entries(ACTIONS)) {
      for (const [before, prepare] of [
        ['the Explorer is visible', () => showExplorer(harness.page)],
        ['an editor has the focus', () => openFile(harness.page, 'basket.ts')],
      ] as const) {
        if (name.includes('icon') && before.includes('editor')) continue;
        it(`chat: has the caret after ${name} while ${before}`, async () => {
          await openFile(harness.page, 'receipt.ts');
          await harness.page.keyboard.press('ControlOrMeta+A');
          await prepare();
          await act();
          const frame = await webviewFrame(harness.page, '.transcript .empty');
          await waitForCaret(harness.page, frame);
          await typeMessage(harness.page, frame, ' typed');
        });
      }
    }

    it('chat: shown again by its icon, it has the caret in the input at once, whatever had the focus before', async () => {
      const { page } = harness;
      await harness.newConversation();
      const frame = await harness.enter();
      const tools = frame.getByRole('button', { name: 'Choose tools' });
      await tabTo(page, tools);
      await showExplorer(page);
      await chatIcon(page).click();
      // The same page: one that is loaded again has no ears for a moment.
      await waitForCaret(page, frame);
      await typeMessage(page, frame, 'typed');
    });
  });

  it('chat: Ctrl+F finds in the conversation, in the side bar and in a tab, and Escape leads back to the message', async () => {
    const { page } = harness;
    await openFile(page, 'receipt.ts');
    await harness.newConversation();
    await harness.send('What do you see?');
    await waitForAnswerEnd(await harness.panel());
    const finds = async (frame: Frame) => {
      await waitForCaret(page, frame);
      await page.keyboard.press('ControlOrMeta+F');
      await page.keyboard.type('see');
      await frame.getByRole('search').getByText('1 of 2').waitFor();
      await page.keyboard.press('Enter');
      await frame.getByRole('search').getByText('2 of 2').waitFor();
      await page.keyboard.press('Escape');
      await frame.getByRole('search').waitFor({ state: 'detached' });
      await waitForCaret(page, frame);
      await typeMessage(page, frame, 'next');
      await typeInto(frame.locator('.composer textarea'), '');
      assert.equal(await page.locator('.find-widget.visible, .simple-find-part.visible').count(), 0);
    };
    await finds(await harness.enter());
    await runCommand(page, 'Svc: Move Conversation to Editor');
    await page.locator('.tab', { hasText: 'What do you see?' }).waitFor();
    await finds(await webviewFrame(page, '.message.assistant'));
    await runCommand(page, 'View: Close Editor');
    await page.locator('.tab', { hasText: 'What do you see?' }).waitFor({ state: 'detached' });
  });

  /** Each list is opened from the chat, by a button or by a command, and closed without a choice or with one. */
  describe('caret after a list of VS Code', () => {
    before(async () => {
      await harness.newConversation();
      await harness.send('First question');
      await waitForAnswerEnd(await harness.panel());
    });

    const button = (name: string | RegExp) => async () => (await harness.panel()).getByRole('button', { name }).click();
    const command = (title: string) => () => runCommand(harness.page, title);
    const OPENED: Readonly<Record<string, () => Promise<void>>> = {
      'the button of the model': button(/Large/),
      'the button of the tools': button('Choose tools'),
      'the button of attachments': button('Attach'),
      '“Choose Chat Model”': command('Svc: Choose Chat Model'),
      '“Show Conversations”': command('Svc: Show Conversations'),
      '“Choose Tools”': command('Svc: Choose Tools'),
      '“Manage Permissions”': command('Svc: Manage Permissions'),
    };
    const list = () => harness.page.locator('.quick-input-widget');
    const close = async (open: () => Promise<void>, key: string) => {
      await open();
      await list().locator('.monaco-list-row').first().waitFor();
      await harness.page.keyboard.press(key);
    };

    for (const [name, open] of Object.entries(OPENED)) {
      it(`chat: text typed after ${name} and Escape is in the message`, async () => {
        const frame = await harness.enter();
        await close(open, 'Escape');
        await waitForCaret(harness.page, frame);
        await typeMessage(harness.page, frame, 'next');
      });
    }

    for (const [name, open] of [
      ['a model', button(/Large/)],
      ['tools', button('Choose tools')],
      ['a model by “Choose Chat Model”', command('Svc: Choose Chat Model')],
    ] as const) {
      it(`chat: text typed after ${name} was chosen is in the message`, async () => {
        const frame = await harness.enter();
        await close(open, 'Enter');
        await list().waitFor({ state: 'hidden' });
        await waitForCaret(harness.page, frame);
        await typeMessage(harness.page, frame, 'next');
      });
    }

    for (const [name, way, enter] of [
      ['“Choose Tools”', 'another file was opened', () => openFile(harness.page, 'basket.ts')],
      // VS Code does not report that the active editor gets the focus.
      ['“Choose Tools”', 'a key has moved the focus to the active editor', () => focusEditors(harness.page)],
      ['“Choose Chat Model”', 'a key has moved the focus to the active editor', () => focusEditors(harness.page)],
    ] as const) {
      it(`chat: the list of ${name} leaves the focus in the editor after ${way}`, async () => {
        await openFile(harness.page, 'receipt.ts');
        const frame = await harness.enter();
        await enter();
        await harness.page.locator('.monaco-editor.focused').waitFor();
        await waitUntil(
          'the chat to have lost the focus',
          () => inPage(frame, 'no text or element shows it', () => document.hasFocus()),
          (focused) => !focused,
        );
        await close(OPENED[name] ?? assert.fail(name), 'Escape');
        await list().waitFor({ state: 'hidden' });
        await harness.page.keyboard.type('// typed in the editor');
        await harness.page.locator('.view-line', { hasText: '// typed in the editor' }).waitFor();
        await harness.page.keyboard.press('ControlOrMeta+Z');
      });
    }
  });

  /** Opened by its button in the chat. */
  describe('the list of models', () => {
    before(() => harness.newConversation());

    const row = (text: string) => harness.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
    const titled = (text: string) => harness.page.locator('.quick-input-title', { hasText: text });
    const opened = async () => {
      const frame = await harness.enter();
      await frame.getByRole('button', { name: /Large/ }).click();
      await row('up/small').waitFor();
      return frame;
    };
    const press = async (name: string, action: string) => {
      await row(name).hover();
      await row(name).locator(`.action-label[aria-label="${action}"]`).click();
    };
    const formHasCaret = async () => (await webviewFrame(harness.page, '#baseURL')).locator('#name:focus').waitFor();
    const closeForm = () => runCommand(harness.page, 'View: Close Editor');

    it('model list: a hidden model can be shown again, and the caret is then in the message', async () => {
      const frame = await opened();
      await press('up/small', 'Hide this model');
      await row('up/small').waitFor({ state: 'detached' });
      await screenshot(harness.page, 'chat/model-hidden');
      await row('Show hidden models (1)').click();
      await titled('Hidden models').waitFor();
      await screenshot(harness.page, 'chat/hidden-models');
      await harness.page.keyboard.press('Escape');
      await waitForCaret(harness.page, frame);
      await frame.getByRole('button', { name: /Large/ }).click();
      await row('Show hidden models (1)').click();
      await titled('Hidden models').waitFor();
      await row('up/small').click();
      await harness.page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).click();
      await titled('Model for chat').waitFor();
      await row('up/small').waitFor();
      assert.equal(await row('Show hidden models').count(), 0);
      await harness.page.keyboard.press('Escape');
      await waitForCaret(harness.page, frame);
      await typeMessage(harness.page, frame, 'next');
    });

    it('model list: its pencil opens the provider of the model, which keeps the focus', async () => {
      await opened();
      await press('up/small', 'Edit the provider');
      await formHasCaret();
      await screenshot(harness.page, 'chat/model-edit');
      await closeForm();
    });

    it('model list: “Add a provider…” opens the form, which keeps the focus', async () => {
      await opened();
      await row('Add a provider…').click();
      await formHasCaret();
      await screenshot(harness.page, 'chat/model-add');
      await closeForm();
    });
  });

  describe('the list of conversations', () => {
    beforeEach(() => harness.newConversation());

    const row = (text: string) => harness.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
    const first = () => harness.page.locator('.quick-input-list .monaco-list-row[data-index="0"]');
    const titled = (text: string) => harness.page.locator('.quick-input-title', { hasText: text });
    const dialog = () => harness.page.locator('.monaco-dialog-box');
    const list = () => openList(harness.page, 'Svc: Show Conversations', 'Conversations');
    const press = async (title: string, button: string) => {
      await row(title).hover();
      await row(title).locator(`.action-label[aria-label="${button}"]`).click();
    };
    /** The dialog of the browser host for files of the server. @param listed a file or folder beside the file. */
    const fileDialog = async (path: string, listed: string) => {
      const widget = harness.page.locator('.quick-input-widget');
      await row('..').waitFor();
      await setText(widget.locator('input.input'), path, 'VS Code completes a path while it is typed');
      // If OK is pressed before VS Code knows the folder, the dialog does nothing from then on.
      await row(listed).first().waitFor();
      // A press while VS Code reads the folder has no effect.
      const ok = widget.getByRole('button', { name: 'OK' });
      await actUntil(harness.page, async () => void (await came(ok.click({ timeout: OPENS_WITHIN_MS }))), ok, true);
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
      await showExplorer(harness.page);
      const explorer = harness.page.locator('.explorer-folders-view');
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
      await fileDialog(file, 'src');
      await titled('Conversations').waitFor();
      assert.match(readFileSync(file, 'utf8'), /To be kept/);
      await harness.page.keyboard.press('Escape');
      await harness.newConversation();
      await focusEditors(harness.page);
      await runCommand(harness.page, 'Svc: Import Conversation');
      await fileDialog(file, 'kept.json');
      await frame.locator('.message.user', { hasText: 'To be kept' }).waitFor();
      await frame.locator('.markdown', { hasText: 'I see.' }).waitFor();
    });
  });
});

/** Each in a window in which the chat was not loaded before. */
describe('text that is typed while the chat opens', () => {
  let harness: ChatHarness;
  beforeEach(async () => {
    harness = await startChatHarness();
  });
  afterEach(() => harness?.close());

  const box = (page: Page) => page.locator('.quick-input-widget', { hasText: 'The chat is opening.' });
  const WAYS: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
    '“Open Chat”': (page) => runCommand(page, 'Svc: Open Chat'),
    '“New Conversation”': (page) => runCommand(page, 'Svc: New Conversation'),
    '“Ask About Selection”': async (page) => {
      await openFile(page, 'receipt.ts');
      await page.keyboard.press('ControlOrMeta+A');
      await runCommand(page, 'Svc: Ask About Selection');
    },
  };

  /** Holds the frame of the page back until the returned function is called. */
  async function holdPage(page: Page): Promise<() => void> {
    const gate = Promise.withResolvers<void>();
    await page.context().route(/webview\/browser\/pre\/index/, async (route) => {
      await gate.promise;
      await route.continue();
    });
    return () => gate.resolve();
  }

  /** @param waits the rest is typed when the page has the focus. */
  async function typeEarly(act: (page: Page) => Promise<unknown>, waits = false): Promise<void> {
    const { page } = harness;
    const release = await holdPage(page);
    await act(page);
    await box(page).waitFor();
    const text = 'What does the receipt print, and which of its lines can be empty?';
    await page.keyboard.type(text.slice(0, 20), { delay: 20 });
    release();
    if (waits) await (await webviewFrame(page, '.composer')).locator('.composer textarea:focus').waitFor();
    await page.keyboard.type(text.slice(20), { delay: 20 });
    await waitForText(page, text);
  }

  async function waitForText(page: Page, text: string): Promise<void> {
    const frame = await webviewFrame(page, '.transcript .empty');
    await waitForDraft(frame, text);
    await waitForCaret(page, frame);
  }

  for (const [name, act] of Object.entries(WAYS)) {
    it(`chat: text that is typed while its first page loads after ${name} stands in the input, and no key is lost`, () =>
      typeEarly(act));
  }

  it('chat: no key of a slow writer is lost when the input gets the focus', async () => {
    const { page } = harness;
    await runCommand(page, 'Svc: New Conversation');
    await box(page).waitFor();
    const text = 'Which lines can be empty?';
    // The focus moves after a pause of 700 ms: before one of these keys.
    for (const key of text) await page.keyboard.type(key, { delay: 740 });
    await waitForText(page, text);
  });

  it('chat: its first page keeps the keys, if VS Code gives it the focus while text is typed', () =>
    // Until the page hears keys, those of this moment are lost: VS Code has given the focus to its frame before.
    typeEarly((page) => chatIcon(page).click(), true));

  it('chat: its icon puts the caret into the input, and a view that VS Code restores keeps the draft but does not take the focus', async () => {
    const { page } = harness;
    await chatIcon(page).click();
    const first = await webviewFrame(page, '.transcript .empty');
    await waitForCaret(page, first);
    await page.keyboard.type('Which lines can be empty?', { delay: 20 });
    await harness.waitForSaved('Which lines can be empty?');
    await page.reload();
    await workbenchReady(page);
    const frame = await webviewFrame(page, '.transcript .empty');
    await waitForDraft(frame, 'Which lines can be empty?');
    await drawn(frame);
    assert.equal(await box(page).count(), 0);
    assert.equal(await inPage(frame, 'no text or element shows it', () => document.hasFocus()), false);
  });

  it('chat: its first page does not take the focus from a list that was opened meanwhile, and keeps the text', async () => {
    const { page } = harness;
    const release = await holdPage(page);
    await runCommand(page, 'Svc: Open Chat');
    await box(page).waitFor();
    await page.keyboard.type('Half a question');
    await page.keyboard.press('F1');
    await box(page).waitFor({ state: 'detached' });
    await page.keyboard.type('Svc: New', { delay: 20 });
    release();
    const frame = await webviewFrame(page, '.transcript .empty');
    await waitForDraft(frame, 'Half a question');
    await page.keyboard.type(' Conv', { delay: 20 });
    assert.equal(await page.locator('.quick-input-widget input.input').inputValue(), '>Svc: New Conv');
  });
});
