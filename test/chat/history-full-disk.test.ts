import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { History } from '../../src/chat/history/history.ts';
import { applyPatch, EMPTY_TRANSCRIPT, type Patch } from '../../src/chat/transcript.ts';

const HEAD = { id: 'c1', createdAt: 5, workspace: 'w' };
const message = (id: string) => ({ id, role: 'assistant' as const, parts: [], createdAt: 1 });
const append = (text: string, part: number): Patch => ({ type: 'append', message: 'a1', part, kind: 'text', text });
const BEFORE: readonly Patch[] = [{ type: 'add', message: message('a1') }, append('Hello – ', 0), append('wörld', 1)];
const AFTER: readonly Patch[] = [append(' 👋', 1), { type: 'title', title: 'Kept' }];
const EXPECTED = [...BEFORE, ...AFTER].reduce(applyPatch, EMPTY_TRANSCRIPT);

/** The prototype of Node's file handles, whose class is not exported. */
async function handles(): Promise<{ write: (bytes: Buffer, offset: number) => Promise<{ bytesWritten: number }> }> {
  const handle = await open(tmpdir(), 'r');
  await handle.close();
  return Object.getPrototypeOf(handle);
}

describe('history on a disk that becomes full during a write', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-history-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function written(room: { left: number }) {
    const failures: unknown[] = [];
    const writer = new History(folder).writer(HEAD, (error) => failures.push(error));
    for (const patch of BEFORE) writer.write(patch);
    await writer.flush();
    room.left = Number.POSITIVE_INFINITY;
    for (const patch of AFTER) writer.write(patch);
    await writer.flush();
    return failures;
  }

  it('history on a full disk: contains each step once after space is free, for any position of the failure', async () => {
    const prototype = await handles();
    const { write } = prototype;
    const room = { left: Number.POSITIVE_INFINITY };
    prototype.write = async function (bytes, offset) {
      if (room.left === 0) throw Object.assign(new Error('no space left on device, write'), { code: 'ENOSPC' });
      const taken = bytes.subarray(0, Math.min(bytes.length, offset + room.left));
      const result = await write.call(this, taken, offset);
      room.left -= result.bytesWritten;
      return result;
    };
    try {
      await written(room);
      const { length } = readFileSync(join(folder, 'c1.jsonl'));
      for (let at = 0; at < length; at++) {
        rmSync(join(folder, 'c1.jsonl'));
        room.left = at;
        const failures = await written(room);
        const stored = await new History(folder).load('c1');
        assert.deepEqual(stored?.transcript, EXPECTED, `at byte ${at}`);
        assert.deepEqual([stored?.createdAt, stored?.workspace], [5, 'w'], `at byte ${at}`);
        assert.ok(failures.length <= 1);
      }
    } finally {
      prototype.write = write;
    }
  });

  // A limit of the process on the size of its files breaks writes as a full disk does; prlimit lifts it.
  if (process.platform === 'linux') {
    it('history on a full disk: contains each step once after a partial write of the kernel', () => {
      const history = new URL('../../src/chat/history/history.ts', import.meta.url);
      const program = `
        import { execFileSync } from 'node:child_process';
        import { statSync } from 'node:fs';
        import { History } from '${history}';
        const limit = (size) => execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=' + size + ':unlimited']);
        const failures = [];
        const history = new History(${JSON.stringify(folder)});
        const writer = history.writer(${JSON.stringify(HEAD)}, (error) => failures.push(error.code));
        for (const patch of ${JSON.stringify(BEFORE)}) writer.write(patch);
        limit(200);
        await writer.flush();
        const { size } = statSync(${JSON.stringify(join(folder, 'c1.jsonl'))});
        limit('unlimited');
        for (const patch of ${JSON.stringify(AFTER)}) writer.write(patch);
        await writer.flush();
        const { transcript } = await history.load('c1');
        console.log(JSON.stringify({ failures, size, transcript }));`;
      const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
      assert.deepEqual(JSON.parse(said), {
        failures: ['EFBIG'],
        size: 200,
        transcript: JSON.parse(JSON.stringify(EXPECTED)),
      });
    });
  }
});
