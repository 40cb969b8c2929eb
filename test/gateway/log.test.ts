import assert from 'node:assert/strict';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { objectOrEmpty } from '../../src/base/json.ts';
import { openLog, redacted } from '../../src/gateway/accounting/log.ts';
import { ServeHarness } from './serve-harness.ts';

type Fields = Record<string, unknown>;

describe('warnings of Node', () => {
  it('are lines of the log in JSON, as all others', async () => {
    const harness = await ServeHarness.start();
    try {
      const warn = "process.on('SIGWINCH', () => process.emitWarning('a canary', 'ExperimentalWarning'))";
      harness.nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(warn)}`];
      const { child, logged, written } = await harness.serve();
      child.kill('SIGWINCH');
      await logged('a canary');
      const lines = written().trim().split('\n');
      const [line] = lines.filter((each) => each.includes('a canary'));
      assert.deepEqual((({ level, warning, msg }) => [level, warning, msg])(JSON.parse(line ?? '')), [
        40,
        'ExperimentalWarning',
        'a canary',
      ]);
    } finally {
      await harness.close();
    }
  });
});

describe('log', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'svc-log-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** The lines that are in the file when the log is closed. */
  async function written(lines: readonly (readonly [Fields, string])[]): Promise<readonly string[]> {
    const file = path.join(folder, 'log');
    const handle = await open(file, 'w');
    try {
      const log = openLog(handle.fd, 'info');
      // A closed log still takes lines.
      for (const [fields, message] of lines) log.info(fields, message);
      await log.close();
      for (const [fields, message] of lines) log.info(fields, message);
      log.debug({}, 'not asked for');
      await log.close();
    } finally {
      await handle.close();
    }
    const text = await readFile(file, 'utf8');
    assert.ok(text.endsWith('\n'));
    return text.trimEnd().split('\n');
  }

  it('log: writes one JSON line for each call in order, for any values', async () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme' }),
      fc.double(),
      fc.constant(undefined),
    );
    const fields = fc.dictionary(fc.constantFrom('id', 'method', 'route', 'status', 'ms', 'errorType'), value);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fields, fc.string({ unit: 'binary' })), { minLength: 1, maxLength: 20 }),
        async (calls) => {
          const lines = await written(calls);
          const expected = [...calls, ...calls].map(([each, message]) =>
            JSON.parse(JSON.stringify({ ...each, msg: message })),
          );
          const read = lines.map((line) => {
            const { level: _level, time: _time, pid: _pid, ...members } = objectOrEmpty(JSON.parse(line));
            return members;
          });
          assert.deepEqual(read, expected);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('log: writes time, level, process and the stack of an error', async () => {
    const [line = ''] = await written([[{ id: 'x', error: new Error('broke') }, 'said']]);
    const { time, level, pid, id, error, msg } = objectOrEmpty(JSON.parse(line));
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual({ level, pid, id, msg }, { level: 30, pid: process.pid, id: 'x', msg: 'said' });
    assert.match(String(error), /^Error: broke\n {4}at /);
  });

  it('log: contains no credential at any depth', async () => {
    const line = redacted({ id: 'x', headers: { authorization: 'canary' }, request: { apiKey: 'canary', model: 'm' } });
    assert.deepEqual(line, { id: 'x', headers: '[redacted]', request: { apiKey: '[redacted]', model: 'm' } });
    for (const text of await written([[{ authorization: 'canary', id: 'x' }, 'said']]))
      assert.doesNotMatch(text, /canary/);
  });
});
