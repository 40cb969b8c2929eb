import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Attachment, textAttachment } from '../../src/chat/attachment.ts';
import { messageText } from '../../src/chat/transcript.ts';
import { Composer } from '../../src/extension/chat/composer.ts';
import type { Conversations, OpenConversation } from '../../src/extension/chat/conversations.ts';
import type { MessageSources } from '../../src/extension/chat/outgoing-message.ts';
import { Surface, type SurfaceOwner } from '../../src/extension/chat/surface.ts';
import type { MentionTopic } from '../../src/extension/chat/surface-topic.ts';
import type { ToPage } from '../../src/protocol/chat/page-messages.ts';
import { until } from '../gateway/until.ts';
import { pausedConversations } from './paused-conversations.ts';

/** A page of the panel, as VS Code provides it to the host. */
describe('ChatSurface', () => {
  const NOTHING = async () => [];
  let folder: string;
  let conversation: OpenConversation;
  let surface: Surface;
  let posted: ToPage[];
  let failures: unknown[];
  let resume: () => void;
  let conversations: Conversations;
  let say: (message: unknown) => void;
  let promptFile: MessageSources['fillPrompt'];
  let attachItem: () => Promise<readonly Attachment[]>;
  /** Names that were looked up in messages. */
  let lookedUp: string[];

  const FILLED = { prompt: 'Review it.', options: {} };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-surface-'));
    posted = [];
    failures = [];
    promptFile = async () => undefined;
    attachItem = NOTHING;
    lookedUp = [];
    ({ conversations, resume } = pausedConversations(folder));
    conversation = conversations.create();
    const webview = {
      postMessage: async (message: ToPage) => posted.push(message) > 0,
      onDidReceiveMessage: (hear: (message: unknown) => void) => {
        say = hear;
        return { dispose: () => undefined };
      },
    };
    const nothing = { handle: () => undefined };
    const attachments = { ...nothing, forCommand: NOTHING };
    const mentions: MentionTopic & MessageSources['mentions'] = {
      mentioned: async (text, _mention, answered) => {
        const names = [...text.matchAll(/@(\S+)/g)].map(([, name = '']) => name);
        lookedUp.push(...names.filter((name) => !answered.has(name)));
        return { text, attachments: [] };
      },
      handle: async (message, page) => {
        if (message.type === 'complete') return;
        page.conversation.answer(message.name);
        await page.attachLater(attachItem());
      },
    };
    const context = { ...nothing, chips: [], attachments: NOTHING };
    const failed = (error: unknown) => void failures.push(error);
    const fillPrompt = (name: string) => promptFile(name);
    const owner: SurfaceOwner = {
      conversations,
      topics: {
        composer: new Composer({ conversations, failed, sources: { attachments, mentions, context, fillPrompt } }),
        attachments,
        mentions,
        context,
        calls: nothing,
        changes: { ...nothing, follow: () => ({ dispose: () => undefined }) },
        answers: nothing,
        commands: nothing,
      },
      model: () => null,
      setup: () => ({ kind: 'none' }),
      trusted: () => true,
      startNew: async () => undefined,
      showHistory: async () => undefined,
      focused: () => undefined,
      left: () => undefined,
      listed: (open) => open(),
      ignored: () => assert.fail('a message was not understood'),
      failed,
    };
    surface = new Surface(webview, owner, conversation);
  });
  afterEach(async () => {
    resume();
    await conversations.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const drafts = () => posted.filter((message) => message.type === 'draft');
  const untilDraft = async (text: string) => {
    await until('the page gets the draft', () => drafts().at(-1)?.text === text);
  };
  const NOTE = textAttachment({ id: 'n', kind: 'file', label: 'note.txt', text: 'x' });

  it('ChatSurface: an unknown command stays in the input; with a blank before it, it is a text', async () => {
    const asked: string[] = [];
    promptFile = async (name) => void asked.push(name);
    say({ type: 'ready' });
    say({ type: 'send', text: '/reveiw the diff' });
    await until('the text is back', () =>
      posted.some((each) => each.type === 'draft' && each.text === '/reveiw the diff'),
    );
    assert.deepEqual(asked, ['reveiw']);
    assert.deepEqual(conversation.session.messages, []);
    for (const text of [' /tmp is full', '/etc/hosts is empty']) say({ type: 'send', text });
    resume();
    await until(
      'both are sent',
      () => conversation.session.messages.filter(({ role }) => role === 'user').length === 2,
    );
    assert.deepEqual(conversation.session.messages.filter(({ role }) => role === 'user').map(messageText), [
      '/tmp is full',
      '/etc/hosts is empty',
    ]);
    assert.deepEqual(asked, ['reveiw']);
  });

  it('ChatSurface: the input gets the focus when the page is ready', () => {
    const focused = () => posted.filter(({ type }) => type === 'focus').length;
    surface.focusInput();
    assert.equal(focused(), 0);
    say({ type: 'ready' });
    assert.equal(focused(), 1);
    say({ type: 'ready' });
    assert.equal(focused(), 1);
    surface.focusInput();
    assert.equal(focused(), 2);
  });

  it('ChatSurface: a hidden page gets no focus; one that was asked for comes when it is shown', () => {
    const focused = () => posted.filter(({ type }) => type === 'focus').length;
    say({ type: 'ready' });
    surface.changeVisibility(false);
    assert.equal(posted.at(-1)?.type, 'hidden');
    surface.attach([NOTE]);
    surface.changeVisibility(true);
    assert.equal(focused(), 0);
    surface.changeVisibility(false);
    surface.focusInput();
    assert.equal(focused(), 0);
    surface.changeVisibility(true);
    assert.equal(focused(), 1);
  });

  it('ChatSurface: text that was typed before the page is added once, also if the page is loaded twice', async () => {
    const paused = Promise.withResolvers<boolean>();
    surface.takeOver({ handOver: () => paused.promise, take: () => 'typed early' });
    say({ type: 'ready' });
    say({ type: 'ready' });
    paused.resolve(false);
    await untilDraft('typed early');
    assert.equal(conversation.draft.text, 'typed early');
    assert.ok(!posted.some(({ type }) => type === 'focus'));
  });

  it('ChatSurface: text that was typed before the page stays in the draft if the page never comes', () => {
    surface.takeOver({ handOver: async () => true, take: () => 'typed early' });
    surface.dispose();
    assert.equal(conversation.draft.text, 'typed early');
  });

  it('ChatSurface: a message that is sent while an answer is running waits, survives on disk, and can be edited', async () => {
    void conversation.session.send({ text: 'First' });
    conversation.draft = { text: 'Second', attachments: [NOTE] };
    say({ type: 'send', text: 'Second' });
    const queued = () => posted.findLast((message) => message.type === 'queue')?.messages ?? [];
    await until('the page gets a waiting message', () => queued().length > 0);
    assert.deepEqual(
      queued().map(({ text, attachments }) => [text, attachments[0]?.label]),
      [['Second', 'note.txt']],
    );
    assert.equal(conversation.draft.queue?.[0]?.text, 'Second');
    assert.equal(conversation.draft.text, '');
    say({ type: 'draft', text: 'newer' });
    say({ type: 'queue-edit', message: queued()[0]?.id });
    await untilDraft('Second\nnewer');
    assert.deepEqual(conversation.draft.queue, []);
    assert.equal(conversation.draft.attachments[0]?.label, 'note.txt');
  });

  it('ChatSurface: returns a message that cannot be sent, together with newer input, and the reason', async () => {
    const reading = Promise.withResolvers<undefined>();
    promptFile = () => reading.promise;
    conversation.draft = { text: '/review this', attachments: [NOTE] };
    say({ type: 'send', text: '/review this' });
    say({ type: 'draft', text: 'And then' });
    reading.reject(new Error('The disk is gone.'));
    await untilDraft('/review this\nAnd then');
    assert.deepEqual(
      conversation.draft.attachments.map(({ label }) => label),
      ['note.txt'],
    );
    assert.match(String(failures[0]), /The disk is gone/);
    assert.equal(conversation.session.messages.length, 0);
  });

  it('ChatSurface: a message that is still being completed is sent and saved, also if another conversation is shown meanwhile', async () => {
    const reading = Promise.withResolvers<typeof FILLED>();
    promptFile = () => reading.promise;
    const { session } = conversation;
    say({ type: 'send', text: '/review this' });
    surface.change(conversations.create());
    conversations.release(conversation);
    reading.resolve(FILLED);
    await until('the message is sent', () => session.messages.length > 0);
    resume();
    await session.quiet;
    await until('the conversation is closed', () => !conversations.find(session.id));
    const saved = async () => (await conversations.history.load(session.id))?.transcript.messages ?? [];
    await until('the conversation is stored', async () => (await saved()).length > 0);
    assert.deepEqual((await saved()).slice(0, 1).map(messageText), ['/review this']);
  });

  it('ChatSurface: a message that is still being completed is in the draft on disk', async () => {
    const reading = Promise.withResolvers<typeof FILLED>();
    promptFile = () => reading.promise;
    const onDisk = () => conversations.history.draft(conversation.session.id);
    const untilOnDisk = async (text: string) => {
      await until('the draft is stored', async () => (await onDisk()).text === text);
    };
    conversation.draft = { text: '/review this', attachments: [NOTE] };
    say({ type: 'send', text: '/review this' });
    say({ type: 'draft', text: 'And then' });
    await untilOnDisk('/review this\nAnd then');
    assert.equal((await onDisk()).attachments[0]?.label, 'note.txt');
    reading.resolve(FILLED);
    await untilOnDisk('And then');
    assert.equal(conversation.session.messages.length, 2);
  });

  it('ChatSurface: an attachment that is still being read belongs to the message that is sent meanwhile', async () => {
    const reading = Promise.withResolvers<readonly Attachment[]>();
    attachItem = () => reading.promise;
    say({ type: 'attach-item', item: 'file:note.txt', name: 'note.txt' });
    say({ type: 'send', text: 'Explain @note.txt' });
    reading.resolve([NOTE]);
    await until('the message is sent', () => conversation.session.messages.length > 0);
    assert.deepEqual(
      conversation.session.messages[0]?.attachments?.map(({ label }) => label),
      ['note.txt'],
    );
    assert.deepEqual(conversation.draft, { text: '', attachments: [] });
    assert.deepEqual(lookedUp, []);
  });

  it('ChatSurface: an attachment that is still being read belongs to the conversation that it was chosen in', async () => {
    const reading = Promise.withResolvers<readonly Attachment[]>();
    attachItem = () => reading.promise;
    say({ type: 'attach-item', item: 'file:note.txt', name: 'note.txt' });
    const other = conversations.create();
    surface.change(other);
    conversations.release(conversation);
    reading.resolve([NOTE]);
    await until('the draft has the attachment', () => conversation.draft.attachments.length > 0);
    assert.deepEqual(other.draft.attachments, []);
    say({ type: 'send', text: 'Explain @note.txt' });
    await until('the other conversation sends the message', () => other.session.messages.length > 0);
    assert.deepEqual(lookedUp, ['note.txt']);
  });

  it('ChatSurface: messages are sent in the order in which they were written', async () => {
    const reading = Promise.withResolvers<typeof FILLED>();
    promptFile = () => reading.promise;
    say({ type: 'send', text: '/first' });
    say({ type: 'send', text: 'Second' });
    await new Promise(setImmediate);
    reading.resolve(FILLED);
    await until('a message waits', () => conversation.session.queue.length > 0);
    assert.deepEqual(conversation.session.messages.slice(0, 1).map(messageText), ['/first']);
    assert.deepEqual(
      conversation.session.queue.map(({ text }) => text),
      ['Second'],
    );
  });

  it('ChatSurface: an edit that cannot be sent because an answer is running becomes a draft', async () => {
    void conversation.session.send({ text: 'First' });
    const [first] = conversation.session.messages;
    say({ type: 'draft', text: 'newer' });
    say({ type: 'edit', message: first?.id, text: 'First, better' });
    await untilDraft('First, better\nnewer');
    assert.deepEqual(conversation.session.messages.slice(0, 1).map(messageText), ['First']);
  });

  it('ChatSurface: reports other failures to the user', async () => {
    promptFile = () => Promise.reject(new Error('No.'));
    say({ type: 'edit', message: 'x', text: '/nothing' });
    await until('a failure is reported', () => failures.length > 0);
    assert.match(String(failures[0]), /No\./);
  });

  it('ChatSurface: a summary keeps the attachments of the draft', async () => {
    conversation.draft = { text: '/compact', attachments: [NOTE] };
    say({ type: 'send', text: '/compact' });
    assert.deepEqual(conversation.draft, { text: '', attachments: [NOTE] });
    assert.deepEqual(
      drafts()
        .at(-1)
        ?.attachments.map(({ label }) => label),
      ['note.txt'],
    );
  });

  it('ChatSurface: clears the draft after sending', async () => {
    conversation.draft = { text: 'Hello', attachments: [NOTE] };
    say({ type: 'send', text: 'Hello' });
    await until('the message is sent', () => conversation.session.messages.length > 0);
    assert.deepEqual(conversation.draft, { text: '', attachments: [] });
    assert.deepEqual(conversation.session.messages.slice(0, 1).map(messageText), ['Hello']);
  });
});
