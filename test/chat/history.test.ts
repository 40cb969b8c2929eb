import assert from 'node:assert/strict';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJson, exportMarkdown, importJson } from '../../src/chat/history/export.ts';
import { History } from '../../src/chat/history/history.ts';
import { applyPatch, EMPTY_TRANSCRIPT, messageText, type Patch, type Transcript } from '../../src/chat/transcript.ts';

const HEAD = { id: 'c1', createdAt: 5, workspace: 'w' };
const add = (id: string, text: string, parent?: string): Patch => ({
  type: 'add',
  message: {
    id,
    role: id.startsWith('u') ? 'user' : 'assistant',
    parts: [{ type: 'text', text }],
    createdAt: 1,
    ...(parent === undefined ? {} : { parent }),
  },
});
const PATCHES: readonly Patch[] = [
  add('u1', 'Is this – kept? 👋'),
  { type: 'title', title: 'Kept' },
  add('a1', '', 'u1'),
  { type: 'append', message: 'a1', part: 0, kind: 'text', text: 'Yes, ' },
  { type: 'append', message: 'a1', part: 0, kind: 'text', text: 'it is.' },
  { type: 'end', message: 'a1', ending: { type: 'finished', reason: 'stop', outcome: 'complete' } },
];
const fail = (error: unknown) => assert.fail(String(error));

describe('history', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-history-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function keep(patches: readonly Patch[], head = HEAD): Promise<string> {
    const writer = new History(folder).writer(head, fail);
    for (const patch of patches) writer.write(patch);
    await writer.flush();
    return join(folder, `${head.id}.jsonl`);
  }

  it('history: reads the conversation that it wrote', async () => {
    await keep(PATCHES);
    const stored = await new History(folder).load('c1');
    assert.deepEqual(stored?.transcript, PATCHES.reduce(applyPatch, EMPTY_TRANSCRIPT));
    assert.deepEqual([stored?.createdAt, stored?.workspace], [5, 'w']);
  });

  it('history: reads a conversation of version 0.1.0', async () => {
    const error = {
      errorType: 'temporarily_unavailable',
      status: 503,
      title: 'The provider is busy',
      message: 'The provider is temporarily unavailable.',
      action: 'retry',
    };
    const lines = [
      { type: 'head', version: 1, id: 'old', createdAt: 5, workspace: 'w' },
      {
        type: 'add',
        message: { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Is it kept?' }], createdAt: 1 },
      },
      { type: 'title', title: 'From before' },
      {
        type: 'add',
        message: { id: 'a1', role: 'assistant', parts: [{ type: 'text', text: '' }], createdAt: 1, parent: 'u1' },
      },
      { type: 'append', message: 'a1', part: 0, kind: 'text', text: 'Yes.' },
      { type: 'end', message: 'a1', ending: { type: 'failed', error } },
    ];
    writeFileSync(join(folder, 'old.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const stored = await new History(folder).load('old');
    const [question, answer] = stored?.transcript.messages ?? [];
    assert.equal(stored?.transcript.title, 'From before');
    assert.equal(question && messageText(question), 'Is it kept?');
    assert.equal(answer && messageText(answer), 'Yes.');
    assert.deepEqual(answer?.ending, { type: 'failed', error });
  });

  it('history: a crash at any byte loses only the incomplete last line', async () => {
    const file = await keep(PATCHES);
    const bytes = readFileSync(file);
    for (let length = bytes.length; length >= 0; length--) {
      truncateSync(file, length);
      const whole = bytes.subarray(0, length).toString('utf8').split('\n');
      const complete = whole.slice(0, -1);
      // The last line may be complete except for its line break.
      if (isJson(whole.at(-1) ?? '')) complete.push(whole.at(-1) ?? '');
      const expected = complete
        .slice(1)
        .map((row): Patch => JSON.parse(row))
        .reduce(applyPatch, EMPTY_TRANSCRIPT);
      const stored = await new History(folder).load('c1');
      assert.deepEqual(
        stored?.transcript ?? EMPTY_TRANSCRIPT,
        expected.messages.length === 0 ? EMPTY_TRANSCRIPT : expected,
        `at byte ${length}`,
      );
    }
  });

  it('history: appends after an incomplete line without data loss', async () => {
    const file = await keep(PATCHES);
    const { length } = readFileSync(file);
    truncateSync(file, length - 10);
    await keep([add('u2', 'Next', 'a1')]);
    const stored = await new History(folder).load('c1');
    assert.deepEqual(stored?.transcript.messages.map(messageText), ['Is this – kept? 👋', 'Yes, it is.', 'Next']);
  });

  it('history: skips unknown lines', async () => {
    const file = await keep(PATCHES);
    appendFileSync(
      file,
      '{"type":"from-the-future","x":1}\n{"type":"append","message":"a1","part":-1,"kind":"text","text":"no"}\n\u0000\u0001\n',
    );
    await keep([add('u2', 'Next', 'a1')]);
    const stored = await new History(folder).load('c1');
    assert.deepEqual(stored?.transcript.messages.map(messageText), ['Is this – kept? 👋', 'Yes, it is.', 'Next']);
  });

  it('history: two windows can write to one conversation', async () => {
    const [one, two] = [new History(folder).writer(HEAD, fail), new History(folder).writer(HEAD, fail)];
    one.write(add('u1', 'From one'));
    await one.flush();
    two.write(add('u2', 'From two', 'u1'));
    one.write({ type: 'append', message: 'u1', part: 0, kind: 'text', text: ', more' });
    await Promise.all([one.flush(), two.flush()]);
    const stored = await new History(folder).load('c1');
    assert.deepEqual(stored?.transcript.messages.map(messageText), ['From one, more', 'From two']);
  });

  it('history: keeps data in memory while the disk is not writable, and reports it', async () => {
    const place = join(folder, 'not-a-folder');
    writeFileSync(place, '');
    const failures: unknown[] = [];
    const writer = new History(place).writer(HEAD, (error) => failures.push(error));
    for (const patch of PATCHES.slice(0, 4)) writer.write(patch);
    await writer.flush();
    assert.equal(failures.length, 1);
    rmSync(place);
    for (const patch of PATCHES.slice(4)) writer.write(patch);
    await writer.flush();
    assert.equal(failures.length, 1);
    const stored = await new History(place).load('c1');
    assert.deepEqual(stored?.transcript, PATCHES.reduce(applyPatch, EMPTY_TRANSCRIPT));
  });

  it('history: keeps steps in order and without duplicates while the disk is not writable', async () => {
    const place = join(folder, 'not-a-folder');
    writeFileSync(place, '');
    const writer = new History(place).writer(HEAD, () => undefined);
    writer.write(add('u1', 'One'));
    const first = writer.flush();
    // The first one is being written.
    await Promise.resolve();
    writer.write(add('u2', 'Two', 'u1'));
    await Promise.all([first, writer.flush()]);
    rmSync(place);
    writer.write(add('u3', 'Three', 'u2'));
    await writer.flush();
    const rows = readFileSync(join(place, 'c1.jsonl'), 'utf8').trim().split('\n');
    assert.deepEqual(
      rows.map((row) => JSON.parse(row).message?.id),
      [undefined, 'u1', 'u2', 'u3'],
    );
  });

  it('history: keeps lines that another window writes at the same time', async () => {
    const writers = Array.from({ length: 4 }, () => new History(folder).writer(HEAD, fail));
    await keep([add('u1', 'First')]);
    for (let n = 0; n < 50; n++) {
      writers.forEach((writer, index) => void writer.write(add(`u-${index}-${n}`, 'x'.repeat(1_000))));
      await Promise.all(writers.map((writer) => writer.flush()));
    }
    const stored = await new History(folder).load('c1');
    assert.equal(stored?.transcript.messages.length, 201);
  });

  it('history: lists date and workspace of a conversation, even after a damaged line', async () => {
    const file = await keep(PATCHES);
    const rows = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, ['{"type":"head","ver', ...rows].join('\n'));
    const stored = await new History(folder).load('c1');
    assert.deepEqual([stored?.createdAt, stored?.workspace], [5, 'w']);
    // A conversation without a head is shown, too.
    writeFileSync(file, rows.slice(1).join('\n'));
    assert.equal((await new History(folder).load('c1'))?.transcript.title, 'Kept');
  });

  it('history: lists pinned conversations first, then the latest, and searches titles and texts', async () => {
    await keep([add('u1', 'About apples'), { type: 'title', title: 'Fruit' }], { ...HEAD, id: 'old' });
    await keep([add('u1', 'About trains'), { type: 'title', title: 'Rails' }, { type: 'pin', pinned: true }], {
      ...HEAD,
      id: 'pinned',
    });
    await keep([{ type: 'title', title: 'Nothing said' }], { ...HEAD, id: 'empty' });
    const history = new History(folder);
    assert.deepEqual(
      (await history.list()).map(({ id }) => id),
      ['pinned', 'old'],
    );
    assert.deepEqual(
      (await history.search('FRUIT apples')).map(({ id }) => id),
      ['old'],
    );
    assert.deepEqual(await history.search('apples trains'), []);
  });

  it('history: other users of the machine cannot read it', async () => {
    const history = new History(join(folder, 'own'));
    const writer = history.writer(HEAD, fail);
    for (const patch of PATCHES) writer.write(patch);
    await writer.flush();
    await history.keepDraft('c1', { text: 'half', attachments: [] });
    const files = readdirSync(join(folder, 'own')).map((name) => join(folder, 'own', name));
    assert.equal(files.length, 2);
    for (const file of [join(folder, 'own'), ...files]) assert.equal(statSync(file).mode & 0o077, 0, file);
  });

  it('history: deletes a conversation together with its draft and its checkpoints', async () => {
    await keep(PATCHES);
    const history = new History(folder);
    await history.keepDraft('c1', { text: 'half', attachments: [] });
    mkdirSync(history.changesFolder('c1'));
    writeFileSync(join(history.changesFolder('c1'), 'journal.jsonl'), '');
    await history.remove('c1');
    assert.deepEqual(readdirSync(folder), []);
  });

  it('history: stores a draft with its attachments, and ignores a damaged draft', async () => {
    const history = new History(folder);
    const draft = {
      text: 'half a que',
      attachments: [{ id: 'x', kind: 'file' as const, label: 'a.ts', tokens: 3, text: 'abc' }],
    };
    await history.keepDraft('c1', draft);
    assert.deepEqual(await new History(folder).draft('c1'), draft);
    writeFileSync(join(folder, 'c1.draft.json'), '{"text": 3');
    assert.deepEqual(await new History(folder).draft('c1'), { text: '', attachments: [] });
  });

  it('history: no id can leave its folder', async () => {
    await keep(PATCHES, { ...HEAD, id: '../../evil' });
    assert.deepEqual(readdirSync(folder), ['______evil.jsonl']);
  });

  it('history: imports its own export and rejects other files', () => {
    const transcript: Transcript = PATCHES.reduce(applyPatch, EMPTY_TRANSCRIPT);
    assert.deepEqual(importJson(exportJson(transcript)), transcript);
    for (const text of ['', '{}', '[]', '{"svcConversation":1,"transcript":{"messages":[{}]}}']) {
      assert.equal(importJson(text), undefined);
    }
    assert.equal(exportMarkdown(transcript), '# Kept\n\n## You\n\nIs this – kept? 👋\n\n## Svc\n\nYes, it is.\n');
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
