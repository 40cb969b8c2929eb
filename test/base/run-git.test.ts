import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findProgram } from '../../src/base/run-git.ts';

describe('git', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-git-'));
    mkdirSync(path.join(folder, 'bin'));
    writeFileSync(path.join(folder, 'bin', 'git'), '');
    chmodSync(path.join(folder, 'bin', 'git'), 0o755);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('git: is the first one in an absolute folder of the PATH', () => {
    const bin = path.join(folder, 'bin');
    assert.equal(findProgram('git', { PATH: `.::bin:${folder}:${bin}:/usr/bin` }, 'linux'), path.join(bin, 'git'));
  });

  it('git: is not looked up in the working folder', () => {
    assert.equal(findProgram('git', { PATH: '.:bin:' }, 'linux'), undefined);
    assert.equal(findProgram('git', {}, 'linux'), undefined);
  });
});
