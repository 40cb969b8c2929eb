import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../../src/base/replace-file.ts';

describe('replaceFile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-replace-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('replaceFile: creates the folder and the file for the owner only', async () => {
    const file = join(folder, 'deep', 'svc.jsonc');
    await replaceFile(file, '{}');
    assert.equal(readFileSync(file, 'utf8'), '{}');
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('replaceFile: keeps the mode and the symbolic link', async () => {
    const file = join(folder, 'real.jsonc');
    const link = join(folder, 'link.jsonc');
    writeFileSync(file, 'old');
    chmodSync(file, 0o640);
    symlinkSync(file, link);
    await replaceFile(link, 'new');
    assert.ok(lstatSync(link).isSymbolicLink());
    assert.equal(readFileSync(file, 'utf8'), 'new');
    assert.equal(statSync(file).mode & 0o777, 0o640);
  });

  it('replaceFile: a failed rename keeps the old file and leaves no temporary file', async () => {
    const place = join(folder, 'place');
    await mkdir(join(place, 'svc.jsonc', 'a-folder'), { recursive: true });
    await assert.rejects(replaceFile(join(place, 'svc.jsonc'), 'new'));
    assert.deepEqual(readdirSync(place), ['svc.jsonc']);
  });

  it('replaceFile: readers always get a complete file', async () => {
    const file = join(folder, 'busy.json');
    const texts = ['a', 'b'].map((letter) => letter.repeat(2_000_000));
    await replaceFile(file, texts[0] ?? '');
    const read = new Set<number>();
    let writing = true;
    const reading = (async () => {
      while (writing) {
        read.add(readFileSync(file, 'utf8').length);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let turn = 1; turn < 20; turn += 1) await replaceFile(file, texts[turn % 2] ?? '');
    writing = false;
    await reading;
    assert.deepEqual([...read], [2_000_000]);
  });
});
