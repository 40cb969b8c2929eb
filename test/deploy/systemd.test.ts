import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServeHarness } from '../gateway/serve-harness.ts';

const UNIT = join(import.meta.dirname, '..', '..', 'deploy', 'svc-gateway.service');

describe('deploy/svc-gateway.service', () => {
  const text = readFileSync(UNIT, 'utf8');
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? '';

  it('systemd reads the unit without a warning', () => {
    // Where there is no systemd, nobody uses the file.
    const found = spawnSync('systemd-analyze', ['--version']).status === 0;
    if (!found) assert.notEqual(process.platform, 'linux', 'systemd-analyze is part of Debian’s package systemd');
    const folder = mkdtempSync(join(tmpdir(), 'svc-unit-'));
    try {
      const file = join(folder, 'svc-gateway.service');
      // The program and the user are not on this machine.
      const here = text.replace('/usr/bin/svc', process.execPath).replace('User=svc-gateway', 'User=root');
      writeFileSync(file, here);
      const { stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
      const own = (stderr ?? '').split('\n').filter((line) => line.includes('svc-gateway.service'));
      assert.deepEqual(own, []);
      if (found) assert.equal(status, 0, stderr);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('its commands start the workers, replace them and end them', async () => {
    const [program, command, ...args] = setting('ExecStart').split(' ');
    assert.deepEqual([program, command], ['/usr/bin/svc', 'serve']);
    assert.equal(setting('ExecReload'), '/bin/kill -USR2 $MAINPID');
    const harness = await ServeHarness.start();
    try {
      const gateway = await harness.serve(args);
      await gateway.logged('all workers accept requests');
      gateway.child.kill('SIGUSR2');
      await gateway.logged('all workers were replaced');
      assert.equal((await harness.send(gateway.url)).status, 200);
      const exit = once(gateway.child, 'exit');
      gateway.child.kill('SIGTERM');
      assert.deepEqual(await exit, [0, null]);
    } finally {
      await harness.close();
    }
  });

  it('it is stopped only after the times of --drain and --drain-delay', () => {
    const times = /--drain (\d+) --drain-delay (\d+)/.exec(setting('ExecStart'));
    assert.ok(Number(setting('TimeoutStopSec')) > Number(times?.[1]) + Number(times?.[2]));
  });
});
