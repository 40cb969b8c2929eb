import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import { History } from '../../src/chat/history/history.ts';
import type { ChatSession } from '../../src/chat/session/session.ts';
import { messageText, type Patch } from '../../src/chat/transcript.ts';
import { Conversations } from '../../src/extension/chat/conversations.ts';
import { until } from '../gateway/until.ts';
import { pausedConversations } from './paused-conversations.ts';
import { LABEL, modelAt, whenPatch } from './test-session.ts';

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const HEAD = { type: 'head', version: 1, id: 'c1', createdAt: 5, workspace: 'w' };
const OPEN: readonly Patch[] = [
  { type: 'add', message: { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }], createdAt: 1 } },
  { type: 'add', message: { id: 'a1', parent: 'u1', role: 'assistant', parts: [], createdAt: 1 } },
  { type: 'append', message: 'a1', part: 0, kind: 'text', text: 'Half' },
];
const REST: readonly Patch[] = [
  { type: 'append', message: 'a1', part: 0, kind: 'text', text: ' and whole.' },
  { type: 'end', message: 'a1', ending: { type: 'finished', reason: 'stop', outcome: 'complete' } },
];

describe('a conversation that another window streams', () => {
  let folder: string;
  let file: string;
  let ahead: number;
  let conversations: Conversations;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-windows-'));
    file = join(folder, 'c1.jsonl');
    writeFileSync(file, [HEAD, ...OPEN].map(line).join(''));
    ahead = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    conversations = new Conversations({
      session: {
        model: () => ({ model: modelAt({ url: 'http://127.0.0.1:1' }), label: LABEL }),
        converse: async function* () {},
        newId: () => 'new',
        now: Date.now,
      },
      history: new History(folder, () => Date.now() + ahead),
      workspace: 'w',
      onRemove: async () => undefined,
      onError: (what) => assert.fail(what),
    });
  });
  afterEach(async () => {
    mock.timers.reset();
    await conversations.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  const isEnd = (patch: Patch) => patch.type === 'end';

  /** Lets time pass until the window has seen a patch. It reads the file again after each second. */
  async function whenEnded(session: ChatSession): Promise<void> {
    const ended = whenPatch(session, isEnd);
    let over = false;
    void ended.then(() => {
      over = true;
    });
    // The next timer is set when the file has been read.
    while (!over) {
      mock.timers.tick(1_000);
      await new Promise(setImmediate);
    }
  }

  it('conversation in two windows: the answer is shown but not written a second time', async () => {
    const { session, kept } = await conversations.open('c1').then((open) => ({
      session: open.session,
      kept: () => open.kept(),
    }));
    assert.equal(session.messages.at(-1)?.ending, undefined);
    appendFileSync(file, REST.map(line).join(''));
    const written = readFileSync(file, 'utf8');
    await whenEnded(session);
    assert.deepEqual(session.messages.at(-1)?.parts, [{ type: 'text', text: 'Half and whole.' }]);
    assert.equal(session.messages.at(-1)?.ending?.type, 'finished');
    await kept();
    assert.equal(readFileSync(file, 'utf8'), written);
  });

  it('conversation in two windows: the answer is marked as interrupted once no window writes it', async () => {
    const { session } = await conversations.open('c1');
    ahead = 60_000;
    await whenEnded(session);
    const { ending, parts } = session.messages.at(-1) ?? {};
    assert.deepEqual(ending, { type: 'finished', reason: 'closed', outcome: 'interrupted' });
    assert.deepEqual(parts, [{ type: 'text', text: 'Half' }]);
  });

  it('conversation in two windows: an old unfinished answer is marked as interrupted immediately', async () => {
    ahead = 60_000;
    const { session } = await conversations.open('c1');
    assert.equal(session.messages.at(-1)?.ending?.type, 'finished');
  });
});

describe('conversations', () => {
  let folder: string;
  let resume: () => void;
  let conversations: Conversations;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-windows-'));
    ({ conversations, resume } = pausedConversations(folder, 'w'));
  });
  const openNew = async () => {
    const open = conversations.create();
    return { session: open.session, kept: () => open.kept() };
  };
  afterEach(async () => {
    resume();
    await conversations.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  it('conversations: a rename keeps changes that another window writes at the same time', async () => {
    const file = join(folder, 'c1.jsonl');
    writeFileSync(file, [HEAD, ...OPEN].map(line).join(''));
    const listed = await conversations.history.load('c1');
    assert.ok(listed);
    appendFileSync(file, REST.map(line).join(''));
    await conversations.amend(listed, { type: 'title', title: 'Named' });
    const { transcript } = (await new History(folder).load('c1')) ?? {};
    assert.equal(transcript?.title, 'Named');
    assert.deepEqual(transcript?.messages.at(-1)?.parts, [{ type: 'text', text: 'Half and whole.' }]);
  });

  it('conversations: a running answer that writes nothing shows other windows that it is running', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      const { session, kept } = await openNew();
      const sent = session.send({ text: 'Hi' });
      await kept();
      const file = join(folder, `${session.id}.jsonl`);
      utimesSync(file, 1, 1);
      mock.timers.tick(1500);
      await until('the file is marked as changed', () => statSync(file).mtimeMs >= 2000);
      resume();
      await sent;
    } finally {
      mock.timers.reset();
    }
  });

  it('conversations: a hidden conversation finishes its answer and is then closed', async () => {
    const open = conversations.create();
    open.users = 1;
    const sent = open.session.send({ text: 'Hi' });
    conversations.release(open);
    assert.equal(conversations.find(open.session.id), open);
    resume();
    await sent;
    assert.equal(conversations.find(open.session.id), undefined);
    await open.kept();
    assert.equal(
      (await conversations.history.load(open.session.id))?.transcript.messages.at(-1)?.ending?.type,
      'finished',
    );
  });

  it('conversations: a conversation stays open if it is shown again before its answer ends', async () => {
    const open = conversations.create();
    open.users = 1;
    const sent = open.session.send({ text: 'Hi' });
    conversations.release(open);
    open.users += 1;
    resume();
    await sent;
    assert.equal(conversations.find(open.session.id), open);
  });

  it('conversations: one that is opened while it is being closed has the text that was typed last', async () => {
    const { id } = conversations.create().session;
    const open = await conversations.open(id);
    open.users = 1;
    open.draft = { text: 'Typed last', attachments: [] };
    conversations.release(open);
    assert.equal((await conversations.open(id)).draft.text, 'Typed last');
  });

  it('conversations: a message that waits in two windows is sent once', async () => {
    const open = conversations.create();
    open.users = 1;
    const { id } = open.session;
    const sent = open.session.send({ text: 'First' });
    void open.session.send({ text: 'Deploy' });
    const second = pausedConversations(folder);
    try {
      await until(
        'the waiting message is stored',
        async () => (await conversations.history.draft(id)).queue?.length === 1,
      );
      const other = await second.conversations.open(id);
      other.users = 1;
      assert.deepEqual(
        other.session.queue.map(({ text }) => text),
        ['Deploy'],
      );
      resume();
      await sent;
      await open.kept();
      await until('the other window removes the message that was sent', () => other.session.queue.length === 0);
      const asked = other.session.messages.filter(({ role }) => role === 'user');
      assert.deepEqual(asked.map(messageText), ['First', 'Deploy']);
    } finally {
      second.resume();
      await second.conversations.dispose();
    }
  });
});
