import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Unavailable, within } from '../../src/gateway/servers/unavailable.ts';

describe('deadlines of servers', () => {
  it('an answer that has arrived while this process was busy counts, and silence does not', async () => {
    const server = spawn('cat');
    try {
      server.stdin.write('ready');
      await once(server.stdout, 'data');
      server.stdin.write('answer');
      const answer = within(100, once(server.stdout, 'data'));
      // Nothing else runs in this process meanwhile.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
      assert.equal(String((await answer)[0]), 'answer');
      await assert.rejects(within(100, once(server.stdout, 'data')), Unavailable);
    } finally {
      server.kill();
    }
  });
});
