import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from '../gateway/until.ts';

const HELPER = join(import.meta.dirname, '..', 'end-with-tests.ts');
const PARENT = `
  import { spawn } from 'node:child_process';
  import { endChildWithTests } from ${JSON.stringify(HELPER)};
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
  endChildWithTests(child, 'SIGKILL');
  console.log(child.pid);
`;

describe('programs that tests start', () => {
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    it(`end when the tests are ended by ${signal}`, async () => {
      const tests = spawn(process.execPath, ['--input-type=module', '-e', PARENT], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [pid] = await once(tests.stdout, 'data');
      const isAlive = () => {
        try {
          return process.kill(Number(pid), 0);
        } catch {
          return false;
        }
      };
      assert.ok(isAlive());
      tests.kill(signal);
      await until('the program has ended', () => !isAlive());
    });
  }
});
