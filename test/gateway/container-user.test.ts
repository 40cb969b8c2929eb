import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openState, stateFile } from '../../src/gateway/state/state-database.ts';

/** Runs work as another user and group of this machine, which only root can do. */
async function as<T>(user: number, group: number, work: () => Promise<T>): Promise<T> {
  const { setegid, seteuid, setgroups } = process;
  assert.ok(
    setegid && seteuid && setgroups && process.getuid?.() === 0,
    'Run this test as root: only root may act as others.',
  );
  const groups = process.getgroups?.() ?? [];
  setgroups([group]);
  setegid(group);
  seteuid(user);
  try {
    return await work();
  } finally {
    seteuid(0);
    setegid(0);
    setgroups(groups);
  }
}

describe('the state in a container of any user', () => {
  let folder: string;
  const file = () => stateFile({ platform: 'linux', home: folder, env: { XDG_DATA_HOME: path.join(folder, 'data') } });
  const open = async () => {
    const database = await openState(file());
    database.exec('CREATE TABLE IF NOT EXISTS probe (x); INSERT INTO probe VALUES (1)');
    database.close();
  };
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-user-'));
    chmodSync(folder, 0o755);
    // As deploy/Dockerfile makes it.
    mkdirSync(path.join(folder, 'data'));
    chownSync(path.join(folder, 'data'), 1_000, 0);
    chmodSync(path.join(folder, 'data'), 0o2770);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('a user that the platform chose, of group 0: creates the state, which others can’t read', async () => {
    await as(1_000_650_000, 0, open);
    assert.equal(statSync(file()).mode & 0o777, 0o600);
  });

  it('another user of the volume’s group: uses the state of the user before', async () => {
    await as(1_000, 2_000, open).catch(() => undefined);
    const svc = path.dirname(file());
    mkdirSync(svc, { recursive: true });
    chownSync(path.join(folder, 'data'), 1_000, 2_000);
    await as(1_000, 2_000, open);
    // What Kubernetes does for `fsGroup` when it mounts the volume.
    for (const each of [svc, file()]) chownSync(each, 1_000, 2_000);
    chmodSync(svc, 0o2770);
    chmodSync(file(), 0o660);
    await as(1_001, 2_000, open);
    assert.equal(statSync(file()).mode & 0o007, 0);
  });
});
