import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRegularFile, readRegularFile } from '../../src/base/regular-file.ts';

describe('regular file at its real path', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'svc-regular-')));
  for (const folder of ['in', 'out']) mkdirSync(join(base, folder));
  writeFileSync(join(base, 'in/a'), 'inside');
  writeFileSync(join(base, 'out/a'), 'outside');
  symlinkSync('../out/a', join(base, 'in/link'));
  symlinkSync('out', join(base, 'swapped'));
  after(() => rmSync(base, { recursive: true, force: true }));

  it('regular file: is read only if the opened file has the expected path', async () => {
    const read = (file: string) => readRegularFile(join(base, file), { limit: 100, at: join(base, file) });
    assert.deepEqual(await read('in/a'), { bytes: Buffer.from('inside') });
    for (const file of ['in/link', 'swapped/a', 'in/../in/link'])
      assert.deepEqual(await read(file), { problem: 'outside' });
  });

  it('regular file: is not created through a folder that became a link', async () => {
    await createRegularFile(join(base, 'in/new'), Buffer.from('text'));
    assert.equal(readFileSync(join(base, 'in/new'), 'utf8'), 'text');
    await assert.rejects(createRegularFile(join(base, 'swapped/new'), Buffer.from('text')), /another folder now/);
    assert.ok(!existsSync(join(base, 'out/new')));
  });

  it('regular file: creation does not change a file or the target of a link', async () => {
    for (const file of ['in/a', 'in/link', 'swapped/a'])
      await assert.rejects(createRegularFile(join(base, file), Buffer.from('text')), { code: 'EEXIST' });
    assert.equal(readFileSync(join(base, 'out/a'), 'utf8'), 'outside');
  });
});
