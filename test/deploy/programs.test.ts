import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROGRAMS, type Program } from '../host/programs.ts';

const MODULE = pathToFileURL(join(import.meta.dirname, '..', 'host', 'programs.ts')).href;

/** A program that is on no machine. */
const ABSENT: Program = {
  name: 'Absent',
  paths: ['/usr/bin/svc-absent'],
  packageName: 'svc-absent',
  reason: 'shows what is missing',
  how: 'installed',
};

describe('programs that the tests need', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'svc-programs-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Installs programs in another process, which finds commands only in the folder. */
  const install = (programs: readonly Program[]) => {
    const program = `const { installPrograms } = await import('${MODULE}');
      try { installPrograms(${JSON.stringify(programs)}); } catch ({ message }) { console.log(message); }`;
    const options = { encoding: 'utf8', env: { PATH: folder } } as const;
    return spawnSync(process.execPath, ['--input-type=module', '--eval', program], options).stdout;
  };

  it('each has a name, a package and a reason', () => {
    for (const { name, packageName, reason } of PROGRAMS) {
      assert.ok(
        [name, packageName, reason].every((text) => text.length > 2),
        name,
      );
    }
    assert.equal(new Set(PROGRAMS.map(({ packageName }) => packageName)).size, PROGRAMS.length);
  });

  it('a machine without apt: the message says what is missing, why it is needed and how to install it', () => {
    const second = { ...ABSENT, name: 'Second', packageName: 'svc-second', variable: 'SVC_TEST_SECOND' };
    assert.equal(
      install([ABSENT, second]),
      [
        'Programs that the tests need are missing:',
        '- Absent: shows what is missing',
        '- Second: shows what is missing; its path may be in SVC_TEST_SECOND',
        'On Debian or Ubuntu: sudo apt-get install -y svc-absent svc-second. Elsewhere, install them with the system’s package manager.',
        '',
      ].join('\n'),
    );
  });

  it('a machine that has them: apt is not called, so no network is needed', () => {
    const called = join(folder, 'called');
    writeFileSync(join(folder, 'apt-get'), `#!/bin/sh\necho called > ${called}\n`);
    chmodSync(join(folder, 'apt-get'), 0o755);
    assert.equal(install([{ ...ABSENT, paths: [process.execPath] }]), '');
    assert.ok(!existsSync(called));
    install([ABSENT]);
    assert.ok(existsSync(called));
  });
});
