import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { History } from '../../src/chat/history/history.ts';
import type { Patch } from '../../src/chat/transcript.ts';
import { Conversations } from '../../src/extension/chat/conversations.ts';
import { waitingConversations } from './paused-conversations.ts';
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

describe('a conversation that another window streams into', () => {
  let folder: string;
  let file: string;
  let ahead: number;
  let conversations: Conversations;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-windows-'));
    file = join(folder, 'c1.jsonl');
    writeFileSync(file, [HEAD, ...OPEN].map(line).join(''));
    ahead = 0;
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
  afterEach(() => {
    conversations.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  const isEnd = (patch: Patch) => patch.type === 'end';

  it('is read along, and not written again', async () => {
    const { session, kept } = await conversations.open('c1').then((open) => ({
      session: open.session,
      kept: () => open.kept(),
    }));
    assert.equal(session.messages.at(-1)?.ending, undefined);
    appendFileSync(file, REST.map(line).join(''));
    const written = readFileSync(file, 'utf8');
    await whenPatch(session, isEnd);
    assert.deepEqual(session.messages.at(-1)?.parts, [{ type: 'text', text: 'Half and whole.' }]);
    assert.equal(session.messages.at(-1)?.ending?.type, 'finished');
    await kept();
    assert.equal(readFileSync(file, 'utf8'), written);
  });

  it('is ended with the truth once nobody writes any more', async () => {
    const { session } = await conversations.open('c1');
    ahead = 60_000;
    await whenPatch(session, isEnd);
    const { ending, parts } = session.messages.at(-1) ?? {};
    assert.deepEqual(ending, { type: 'finished', reason: 'closed', outcome: 'interrupted' });
    assert.deepEqual(parts, [{ type: 'text', text: 'Half' }]);
  });

  it('is ended at once where the file has long been quiet', async () => {
    ahead = 60_000;
    const { session } = await conversations.open('c1');
    assert.equal(session.messages.at(-1)?.ending?.type, 'finished');
  });
});

describe('conversations', () => {
  let folder: string;
  let goOn: () => void;
  let conversations: Conversations;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-windows-'));
    ({ conversations, goOn } = waitingConversations(folder, 'w'));
  });
  afterEach(() => {
    goOn();
    conversations.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are named without undoing what another window writes at that moment', async () => {
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

  it('go on answering when nobody shows them, and are closed then', async () => {
    const open = conversations.create();
    open.shown = 1;
    const sent = open.session.send({ text: 'Hi' });
    conversations.release(open);
    assert.equal(conversations.find(open.session.id), open);
    goOn();
    await sent;
    assert.equal(conversations.find(open.session.id), undefined);
    await open.kept();
    assert.equal(
      (await conversations.history.load(open.session.id))?.transcript.messages.at(-1)?.ending?.type,
      'finished',
    );
  });

  it('stay open when they are shown again before they have answered', async () => {
    const open = conversations.create();
    open.shown = 1;
    const sent = open.session.send({ text: 'Hi' });
    conversations.release(open);
    open.shown += 1;
    goOn();
    await sent;
    assert.equal(conversations.find(open.session.id), open);
  });
});
