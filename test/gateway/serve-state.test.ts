import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { KEY, ServeHarness } from './serve-harness.ts';
import { until } from './until.ts';

describe('state of svc serve', () => {
  let harness: ServeHarness;

  beforeEach(async () => {
    harness = await ServeHarness.start();
  });
  afterEach(() => harness.close());

  it('svc serve: a kill loses no row older than one batch, and no key', async () => {
    const { url, child } = await harness.serve();
    await harness.svc('keys', 'create', '--name', 'kept');
    const ids: string[] = [];
    let running = true;
    const load = Array.from({ length: 4 }, async () => {
      while (running) {
        try {
          const response = await harness.send(url);
          await response.text();
          ids.push(response.headers.get('x-request-id') ?? '');
        } catch {
          return;
        }
      }
    });
    await until('100 requests are answered', () => ids.length >= 100);
    const answered = [...ids];
    // Rows are written in batches, while requests go on.
    const state = new DatabaseSync(harness.database);
    const rows = state.prepare('SELECT request_id FROM usage');
    const storedIds = () => new Set(rows.all().map(({ request_id }) => request_id));
    await until('their rows are written', () => {
      const ids = storedIds();
      return answered.every((id) => ids.has(id));
    });
    child.kill('SIGKILL');
    running = false;
    await Promise.all([once(child, 'exit'), ...load]);
    const stored = storedIds();
    assert.deepEqual(
      answered.filter((id) => !stored.has(id)),
      [],
    );
    assert.equal(state.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    assert.equal(state.prepare('SELECT count(*) AS n FROM keys').get()?.n, 1);
    state.close();
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`svc serve: ${signal} loses no ledger row`, async () => {
      const { url, child } = await harness.serve();
      for (let asked = 0; asked < 3; asked += 1) await (await harness.send(url)).text();
      child.kill(signal);
      assert.deepEqual(await once(child, 'exit'), [0, null]);
      const state = new DatabaseSync(harness.database);
      assert.equal(state.prepare('SELECT count(*) AS n FROM usage').get()?.n, 3);
      state.close();
    });
  }

  it('svc serve: reports a removed state and continues to answer', async () => {
    const { url, child, logged } = await harness.serve();
    await rm(path.dirname(harness.database), { recursive: true });
    await logged('the state was removed or replaced');
    assert.equal((await harness.send(url)).status, 200);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('svc serve: answers and stops with all rows written if its log is not read', async () => {
    const pipe = path.join(harness.folder, 'log');
    await promisify(execFile)('mkfifo', [pipe]);
    const held = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      const { url, child } = await harness.serve([], KEY, harness.folder, held);
      // More lines than a pipe holds.
      const asked = 600;
      for (let n = 0; n < asked; n += 20) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => harness.send(url)));
        for (const answer of answers) await answer.text();
      }
      child.kill('SIGTERM');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
      const state = new DatabaseSync(harness.database);
      assert.equal(state.prepare('SELECT count(*) AS n FROM usage').get()?.n, asked);
      state.close();
    } finally {
      closeSync(held);
    }
  });

  it('svc serve: writes its ledger during a long read of the state', async () => {
    const { url, child } = await harness.serve();
    const reader = new DatabaseSync(harness.database);
    const count = 'SELECT count(*) AS n FROM usage';
    reader.exec('BEGIN');
    assert.equal(reader.prepare(count).get()?.n, 0);
    for (let asked = 0; asked < 3; asked += 1) assert.equal((await harness.send(url)).status, 200);
    const other = new DatabaseSync(harness.database);
    await until('3 rows are written', () => other.prepare(count).get()?.n === 3);
    assert.equal(reader.prepare(count).get()?.n, 0, 'it reads what was there when it began');
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    reader.close();
    other.close();
  });

  it('svc serve: answers while another process writes the state, and writes its ledger afterwards', async () => {
    const { url, child, logged } = await harness.serve();
    // The process may be writing at this moment.
    const other = new DatabaseSync(harness.database, { timeout: 10_000 });
    other.exec('BEGIN IMMEDIATE');
    assert.equal((await harness.send(url)).status, 200);
    await logged('database is locked');
    assert.equal((await harness.send(url)).status, 200);
    child.kill('SIGTERM');
    await until('the gateway does not listen any more', () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    other.exec('ROLLBACK');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    assert.equal(other.prepare('SELECT count(*) AS n FROM usage').get()?.n, 2);
    other.close();
  });

  it('svc serve: the error for a state file of another kind names the problem', async () => {
    await mkdir(path.dirname(harness.database), { recursive: true });
    await promisify(execFile)('mkfifo', [harness.database]);
    await assert.rejects(harness.serve(), /can’t be opened/);
    await rm(harness.database);
    await mkdir(harness.database);
    await assert.rejects(harness.serve(), /can’t be opened/);
    await rm(harness.database, { recursive: true });
    await writeFile(harness.database, 'no database at all, but long enough to be looked at as one'.repeat(20));
    await assert.rejects(harness.serve(), /is not a database/);
  });

  it('svc serve: streams that it cuts off after the drain time are counted', async () => {
    const { url, child, logged } = await harness.serve(['--drain', '0']);
    const streams = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const stream = await harness.send(url, { stream: true }, KEY, '[[scenario:stall-mid-stream]]');
        await stream.body?.getReader().read();
      }),
    );
    child.kill('SIGTERM');
    await logged('requests were cut off');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
    const state = new DatabaseSync(harness.database);
    const rows = state.prepare("SELECT count(*) AS n FROM usage WHERE outcome = 'client-gone' AND cost_nano > 0").get();
    assert.equal(rows?.n, streams.length);
    state.close();
  });

  for (const second of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`svc serve: ${second} after a first SIGTERM ends streams immediately without losing a row, also several times`, async () => {
      const { url, child, logged } = await harness.serve(['--drain', '3600']);
      for (let asked = 0; asked < 3; asked += 1) await (await harness.send(url)).text();
      const stream = await harness.send(url, { stream: true }, KEY, '[[scenario:stall-mid-stream]]');
      await stream.body?.getReader().read();
      child.kill('SIGTERM');
      await logged('stopping');
      for (const signal of [second, second, 'SIGTERM'] as const) child.kill(signal);
      assert.deepEqual(await once(child, 'exit'), [0, null]);
      const state = new DatabaseSync(harness.database);
      const rows = state.prepare('SELECT outcome, count(*) AS n FROM usage GROUP BY outcome ORDER BY outcome').all();
      assert.deepEqual(
        rows.map(({ outcome, n }) => [outcome, n]),
        [
          ['client-gone', 1],
          ['complete', 3],
        ],
      );
      state.close();
    });
  }
});
