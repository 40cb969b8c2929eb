import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { Checkpoints, type CheckpointsDeps } from '../../src/chat/checkpoints/checkpoints.ts';
import type { FileOperation, Files } from '../../src/chat/checkpoints/files.ts';
import { mergeLines } from '../../src/chat/checkpoints/merge-lines.ts';
import type { FileChange } from '../../src/chat/message-parts.ts';
import { opaqueDeletion, renameChange, textChange } from '../../src/chat/tools/file-change.ts';
import { until } from '../gateway/until.ts';

/** The files of a workspace in memory. */
class MemoryFiles implements Files {
  readonly files = new Map<string, string>();
  failing = false;

  async read(path: string): Promise<Uint8Array | undefined> {
    const text = this.files.get(path);
    return text === undefined ? undefined : Buffer.from(text, 'latin1');
  }

  async apply(operations: readonly FileOperation[]): Promise<void> {
    if (this.failing) throw new Error('The disk is gone.');
    for (const one of operations) {
      if (one.type === 'write') this.files.set(one.path, Buffer.from(one.content).toString('latin1'));
      else {
        const text = this.files.get(one.path);
        assert.ok(text !== undefined, `${one.type} of ${one.path}`);
        this.files.delete(one.path);
        if (one.type === 'delete') continue;
        assert.equal(this.files.has(one.newPath), false);
        this.files.set(one.newPath, text);
      }
    }
  }

  get all(): Record<string, string> {
    return Object.fromEntries([...this.files].sort());
  }
}

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\n';

describe('checkpoints', () => {
  let root: string;
  let folder: string;
  let memory: MemoryFiles;
  let checkpoints: Checkpoints;
  let time = 0;
  const open = (limits: Pick<CheckpointsDeps, 'limit' | 'stopMs'> = {}) => {
    let id = 0;
    const base = `${++time}`;
    return new Checkpoints({ folder, files: memory, newId: () => `${base}-${++id}`, now: () => ++time, ...limits });
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'svc-checkpoints-'));
    folder = root;
    memory = new MemoryFiles();
    checkpoints = open();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const record = (changes: readonly FileChange[], operations: readonly FileOperation[], message = 'm') =>
    checkpoints.record({ message, call: 'c' }, changes, () => memory.apply(operations));
  const write = (path: string, after: string, message?: string) => {
    const { change } = textChange(path, memory.files.get(path), after);
    return record([change], [{ type: 'write', path, content: Buffer.from(after, 'latin1') }], message);
  };
  const remove = (path: string) => record([opaqueDeletion(path).change], [{ type: 'delete', path }]);
  const rename = (path: string, newPath: string) =>
    record([renameChange(path, newPath).change], [{ type: 'rename', path, newPath }]);
  const ids = async () => (await checkpoints.changes()).map(({ id }) => id);
  const states = async () => (await checkpoints.changes()).map(({ state }) => state);
  const results = async (outcomes: Promise<readonly { readonly result: string }[]>) =>
    (await outcomes).map(({ result }) => result);

  it('checkpoints: undo and redo of edits, creations, deletions and renames give the bytes back, also after a restart', async () => {
    memory.files.set('edit.bin', '\u0000\u00ff\r\none');
    memory.files.set('gone.txt', 'kept');
    memory.files.set('old.txt', 'moved\r\n');
    const before = memory.all;
    await write('edit.bin', '\u0000\u00fe\r\none');
    await write('new.txt', 'created');
    await remove('gone.txt');
    await rename('old.txt', 'new name.txt');
    await write('new name.txt', 'moved and changed\r\n');
    await rename('new name.txt', 'newest.txt');
    const after = memory.all;
    checkpoints = open();
    assert.deepEqual(await results(checkpoints.undo(await ids())), Array(6).fill('done'));
    assert.deepEqual(memory.all, before);
    assert.deepEqual(await states(), Array(6).fill('undone'));
    checkpoints = open();
    await checkpoints.redo();
    assert.deepEqual(memory.all, after);
    assert.deepEqual(await states(), Array(6).fill('applied'));
    await checkpoints.undo(await ids());
    assert.deepEqual(memory.all, before);
  });

  it('checkpoints: undo keeps what the user changed in other lines', async () => {
    memory.files.set('a', LINES);
    await write('a', LINES.replace('two', 'TWO'));
    memory.files.set('a', LINES.replace('two', 'TWO').replace('six', 'six and more'));
    assert.deepEqual(await results(checkpoints.undo(await ids())), ['merged']);
    assert.equal(memory.files.get('a'), LINES.replace('six', 'six and more'));
    await checkpoints.redo();
    assert.equal(memory.files.get('a'), LINES.replace('two', 'TWO').replace('six', 'six and more'));
  });

  it('checkpoints: undo of lines that the user changed since is a conflict that changes nothing until it is forced', async () => {
    memory.files.set('a', LINES);
    await write('a', LINES.replace('two', 'TWO'));
    const users = LINES.replace('two', 'my two');
    memory.files.set('a', users);
    assert.deepEqual(await results(checkpoints.undo(await ids())), ['conflict']);
    assert.deepEqual([memory.files.get('a'), await states()], [users, ['applied']]);
    assert.deepEqual(await results(checkpoints.undo(await ids(), true)), ['done']);
    assert.equal(memory.files.get('a'), LINES);
    await checkpoints.redo();
    assert.equal(memory.files.get('a'), users);
  });

  it('checkpoints: a created file that the user changed, and a deleted file that exists again, are conflicts', async () => {
    memory.files.set('gone', 'old');
    await write('new', 'created');
    await remove('gone');
    memory.files.set('new', 'created and used');
    memory.files.set('gone', 'made again');
    const before = memory.all;
    assert.deepEqual(await results(checkpoints.undo(await ids())), ['conflict', 'conflict']);
    assert.deepEqual(memory.all, before);
  });

  it('checkpoints: one change of several can be undone, the later one stays', async () => {
    memory.files.set('a', LINES);
    await write('a', LINES.replace('one', 'ONE'));
    await write('a', LINES.replace('one', 'ONE').replace('six', 'SIX'));
    const [first = ''] = await ids();
    assert.deepEqual(await results(checkpoints.undo([first])), ['merged']);
    assert.equal(memory.files.get('a'), LINES.replace('six', 'SIX'));
    assert.deepEqual(await states(), ['undone', 'applied']);
    await checkpoints.redo([first]);
    assert.deepEqual(await states(), ['applied', 'applied']);
  });

  it('checkpoints: restoring a time takes back what was done since, and can be taken back itself', async () => {
    await write('a', 'first', 'm1');
    const middle = ++time;
    await write('a', 'second', 'm2');
    await write('b', 'new', 'm3');
    await checkpoints.restoreTo(middle);
    assert.deepEqual(memory.all, { a: 'first' });
    await checkpoints.redo();
    assert.deepEqual(memory.all, { a: 'second', b: 'new' });
    assert.equal((await checkpoints.changes('m2')).length, 1);
  });

  it('checkpoints: kept changes stay kept after a restart, and can be undone', async () => {
    await write('a', 'new');
    await checkpoints.keep(await ids());
    checkpoints = open();
    assert.deepEqual(await states(), ['kept']);
    await checkpoints.undo(await ids());
    assert.deepEqual([memory.all, await states()], [{}, ['undone']]);
  });

  it('checkpoints: a change that a crash interrupted can be undone, one that was not made is not listed', async () => {
    memory.files.set('a', 'old');
    memory.files.set('b', 'old');
    const crash = (path: string, work: () => void) =>
      checkpoints.record({ message: 'm', call: 'c' }, [textChange(path, 'old', 'new').change], () => {
        work();
        return new Promise(() => undefined);
      });
    void crash('a', () => memory.files.set('a', 'new'));
    await until('the file a changes', () => memory.files.get('a') !== 'old');
    checkpoints = open();
    let started = false;
    void crash('b', () => {
      started = true;
    });
    await until('the edit starts', () => started);
    appendFileSync(join(folder, 'journal.jsonl'), '{"type":"en');
    checkpoints = open();
    await checkpoints.settle();
    assert.deepEqual(
      (await checkpoints.changes()).map(({ path }) => path),
      ['a'],
    );
    await checkpoints.undo(await ids());
    assert.deepEqual(memory.all, { a: 'old', b: 'old' });
  });

  it('checkpoints: a change is not made if its contents can’t be kept', async () => {
    rmSync(folder, { recursive: true });
    appendFileSync(folder, 'a file in place of the folder');
    let applied = false;
    const { change } = textChange('a', undefined, 'x');
    await assert.rejects(
      checkpoints.record({ message: 'm', call: 'c' }, [change], async () => {
        applied = true;
      }),
    );
    assert.equal(applied, false);
  });

  it('checkpoints: a change that is stopped while its contents are kept is neither made nor listed', async () => {
    memory.files.set('a', 'old');
    const stop = new AbortController();
    let applied = false;
    const apply = async () => {
      applied = true;
    };
    const source = { message: 'm', call: 'c' };
    const recorded = checkpoints.record(source, [textChange('a', 'old', 'new').change], apply, stop.signal);
    stop.abort();
    await assert.rejects(recorded, { name: 'AbortError' });
    memory.files.set('a', 'by the user');
    await checkpoints.settle();
    assert.deepEqual([applied, await ids()], [false, []]);
  });

  it('checkpoints: a stopped change that does not end blocks no undo, and what it does later is recorded', async () => {
    checkpoints = open({ stopMs: 0 });
    for (const path of ['a', 'b', 'c']) memory.files.set(path, 'old');
    await write('c', 'new');
    const [first] = await ids();
    const [begun, goOn, stop] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), new AbortController()];
    const hangs = async () => {
      memory.files.set('a', 'new');
      begun.resolve();
      await goOn.promise;
      memory.files.set('b', 'new');
    };
    const changes = ['a', 'b'].map((path) => textChange(path, 'old', 'new').change);
    const recorded = checkpoints.record({ message: 'm', call: 'c' }, changes, hangs, stop.signal);
    await begun.promise;
    stop.abort();
    await assert.rejects(recorded, { name: 'AbortError' });
    assert.deepEqual(await results(checkpoints.undo([first ?? ''])), ['done']);
    const listed = async () => (await checkpoints.changes()).map(({ path, state }) => `${path} ${state}`);
    assert.deepEqual(await listed(), ['c undone', 'a applied']);
    memory.files.set('a', 'new, and by the user');
    const late = new Promise<void>((resolve) => void checkpoints.onChange(resolve));
    goOn.resolve();
    await late;
    assert.deepEqual(await listed(), ['c undone', 'a applied', 'b applied']);
    assert.deepEqual(await results(checkpoints.undo(await ids())), ['done', 'conflict']);
    assert.deepEqual(memory.all, { a: 'new, and by the user', b: 'old', c: 'old' });
  });

  it('checkpoints: a change that ends soon after it was stopped is recorded once, as a whole', async () => {
    memory.files.set('a', 'old');
    const stop = new AbortController();
    const apply = async () => {
      stop.abort();
      await new Promise(setImmediate);
      memory.files.set('a', 'new');
    };
    const { change } = textChange('a', 'old', 'new');
    await checkpoints.record({ message: 'm', call: 'c' }, [change], apply, stop.signal);
    assert.deepEqual(await results(checkpoints.undo(await ids())), ['done']);
    assert.deepEqual(memory.all, { a: 'old' });
  });

  it('checkpoints: other users of the machine cannot read them', async () => {
    folder = join(folder, 'own');
    checkpoints = open();
    memory.files.set('a', 'old');
    await write('a', 'new');
    const names = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
    assert.ok(names.length >= 4);
    for (const name of [folder, ...names]) assert.equal(statSync(name).mode & 0o077, 0, name);
  });

  it('checkpoints: a change that failed halfway records what was done', async () => {
    memory.files.set('a', 'old');
    const changes = [textChange('a', 'old', 'new').change, textChange('b', undefined, 'new').change];
    const failing = checkpoints.record({ message: 'm', call: 'c' }, changes, async () => {
      memory.files.set('a', 'new');
      throw new Error('No space.');
    });
    await assert.rejects(failing, /No space/);
    assert.deepEqual(
      (await checkpoints.changes()).map(({ path }) => path),
      ['a'],
    );
  });

  it('checkpoints: with too many contents the oldest are removed, and their undo says so', async () => {
    checkpoints = open({ limit: 3000 });
    for (const letter of 'abcd') await write(letter, letter.repeat(1000));
    for (const letter of 'abcd') await write(letter, 'short');
    assert.ok(readdirSync(join(folder, 'contents')).length <= 4);
    const all = await checkpoints.changes();
    assert.deepEqual(await results(checkpoints.undo([all[4]?.id ?? ''])), ['lost']);
    assert.deepEqual(await results(checkpoints.undo([all[7]?.id ?? ''])), ['done']);
    assert.equal(memory.files.get('d'), 'd'.repeat(1000));
  });

  it('checkpoints: undo of all changes gives the first contents back, for any changes', async () => {
    const path = fc.constantFrom('a', 'b', 'c');
    const step = fc.record({
      kind: fc.constantFrom('write', 'delete', 'rename'),
      path,
      target: path,
      text: fc.string(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        folder = mkdtempSync(join(root, 'run-'));
        memory = new MemoryFiles();
        memory.files.set('a', 'first a');
        memory.files.set('b', 'first b');
        checkpoints = open();
        const before = memory.all;
        for (const { kind, path, target, text } of steps) {
          if (kind === 'write') await write(path, text);
          else if (!memory.files.has(path)) continue;
          else if (kind === 'delete') await remove(path);
          else if (!memory.files.has(target)) await rename(path, target);
        }
        const after = memory.all;
        await checkpoints.undo(await ids());
        assert.deepEqual(memory.all, before);
        await checkpoints.redo();
        if ((await ids()).length > 0) assert.deepEqual(memory.all, after);
      }),
      { numRuns: 100 },
    );
  });
});

describe('merging of lines', () => {
  const CASES: readonly [name: string, base: string, ours: string, theirs: string, merged: string | undefined][] = [
    ['other lines', 'a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\n', 'A\nb\nc\nD\n'],
    ['the same line', 'a\nb\n', 'x\nb\n', 'y\nb\n', undefined],
    ['the same line in the same way', 'a\nb\nc\n', 'x\nb\nC\n', 'x\nb\nc\n', 'x\nb\nC\n'],
    ['adjacent lines', 'a\nb\n', 'x\nb\n', 'a\ny\n', undefined],
    ['insertions at one place', 'a\nb\n', 'a\nx\nb\n', 'a\ny\nb\n', undefined],
  ];
  for (const [name, base, ours, theirs, merged] of CASES) {
    it(`merge: ${name}`, () => assert.equal(mergeLines(base, ours, theirs), merged));
  }
});
