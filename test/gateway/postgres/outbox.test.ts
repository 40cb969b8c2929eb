import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ledgerRow } from '../ledger-row.ts';
import { sharedPostgres } from '../shared-servers.ts';
import { limitFiles } from './disk-limit.ts';
import { Ledger, Outbox, sendRows } from './postgres-under-test.ts';

const MINUTE = 60_000;

/** A row as an earlier release wrote it, without the columns that were added since. */
const earlierRow = (id: number) =>
  `{"request_id":"r${id}","attempt":1,"at":1,"key":"k","organization":"","user":"ann","tags":"","endpoint":"/chat/completions","model":"p/m","provider":"p","byok":0,"outcome":"complete","input":1,"output":1,"cache_read":null,"cache_write":null,"cache_write_1h":null,"reasoning":null,"cost_nano":500000000,"estimated":0,"wait_ms":0,"first_byte_ms":1,"duration_ms":1,"counted":1,"status":200,"error_type":null,"prices":null}`;

describe('the outbox of a gateway with Postgres', () => {
  let folder: string;
  let outbox: Outbox;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-outbox-'));
    await open();
  });

  afterEach(() => {
    outbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async () => {
    outbox = await Outbox.open((number) => path.join(folder, `${number}.db`));
  };
  const reopen = async () => {
    outbox.close();
    await open();
  };
  const rows = (count: number) => Array.from({ length: count }, () => ledgerRow());
  /** Sends all rows to a new database. @returns how many it has, and the lines of the log. */
  const send = async () => sendRows(await (await sharedPostgres()).database(), outbox);

  it('rows in many batches: all are sent, and the next process sends none of them again', async () => {
    for (const count of [1, 1, 700, 3, 1_200, 1]) outbox.write(rows(count));
    assert.equal(outbox.waiting, 1_906);
    assert.deepEqual(await send(), { stored: 1_906, lines: [] });
    assert.equal(outbox.waiting, 0);
    await reopen();
    assert.deepEqual([outbox.waiting, outbox.next(1_000)], [0, undefined]);
    outbox.write(rows(2));
    assert.deepEqual(await send(), { stored: 2, lines: [] });
  });

  it('rows that the disk did not take: they are sent from memory, but for those that Postgres can’t store', async () => {
    assert.ok(outbox.keep([...rows(200), ledgerRow({ attempt: 1e12 }), ...rows(50)]));
    assert.equal(outbox.keep(rows(4_750)), false, 'the memory has a limit');
    assert.deepEqual([outbox.waiting, outbox.kept], [251, 251]);
    const { stored, lines } = await send();
    assert.deepEqual([stored, outbox.waiting, lines.length], [250, 0, 1], lines.join('\n'));
    assert.ok(outbox.keep(rows(3)));
    outbox.write(rows(2));
    assert.deepEqual([outbox.waiting, outbox.kept], [5, 0], 'the disk can be written again');
    assert.deepEqual(await send(), { stored: 5, lines: [] });
  });

  it('rows that Postgres can’t store: they are set aside, and all others are stored', async () => {
    const bad = () => ledgerRow({ attempt: 1e12 });
    outbox.write([...rows(300), bad(), ...rows(99)]);
    outbox.write(rows(10));
    outbox.write([bad()]);
    outbox.write(rows(5));
    const { stored, lines } = await send();
    assert.deepEqual([stored, outbox.waiting, lines.length], [414, 0, 2], lines.join('\n'));
    assert.match(lines[0] ?? '', /can’t be stored in Postgres .*out of range/);
    await reopen();
    assert.equal(outbox.waiting, 0);
  });

  it('a standby takes over while rows are sent: all rows of the last minutes are sent again', async () => {
    for (let sent = 0; sent < 3; sent += 1) outbox.write(rows(600));
    await send();
    outbox.write(rows(10));
    const sending = outbox.next(1_000) ?? assert.fail('no rows');
    outbox.sendAgain();
    outbox.sent(sending);
    assert.equal(outbox.waiting, 1_810);
    assert.equal((await send()).stored, 1_810);
  });

  it('sent rows are kept for 15 minutes, and rows that wait for as long as they wait', async () => {
    const now = Date.now();
    const sendAt = (at: number) => outbox.sent(outbox.next(1) ?? assert.fail('no rows'), at);
    for (const count of [1, 2, 4]) outbox.write(rows(count));
    sendAt(now - 20 * MINUTE);
    sendAt(now - 10 * MINUTE);
    outbox.dropOld(now);
    outbox.sendAgain();
    assert.equal(outbox.waiting, 6);
    outbox.dropOld(now + 60 * MINUTE);
    assert.equal(outbox.waiting, 6);
  });

  it('the file of an earlier release: its rows are sent, and those that were refused stay aside', async () => {
    outbox.close();
    const file = path.join(folder, '1.db');
    rmSync(file);
    const earlier = new DatabaseSync(file);
    earlier.exec(`CREATE TABLE outbox (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, replica TEXT NOT NULL, row TEXT NOT NULL,
      sent_at INTEGER, refused INTEGER NOT NULL DEFAULT 0
    ) STRICT`);
    const insert = earlier.prepare('INSERT INTO outbox (replica, row, sent_at, refused) VALUES (?, ?, ?, ?)');
    earlier.exec('BEGIN');
    for (let row = 0; row < 1_200; row += 1) {
      insert.run(row % 2 ? 'a' : 'b', earlierRow(row), row < 100 ? 1 : null, 0);
    }
    insert.run('a', earlierRow(1_200), 1, 1);
    earlier.exec('COMMIT');
    earlier.close();
    await open();
    assert.equal((await send()).stored, 1_200);
    await reopen();
    assert.equal(outbox.waiting, 0);
  });

  it('a full disk: 50,000 rows wait in memory, and all of them are written when there is room', () => {
    const ledger = new Ledger(undefined, () => undefined, { store: outbox });
    limitFiles(process.pid, 16_384);
    try {
      while (!ledger.full) ledger.record(ledgerRow());
      assert.equal(ledger.flush(), false);
      assert.deepEqual([ledger.waiting, ledger.broken, outbox.waiting], [50_000, true, 0]);
    } finally {
      limitFiles(process.pid);
    }
    assert.equal(ledger.flush(), true);
    assert.deepEqual([ledger.waiting, ledger.broken, outbox.waiting], [0, false, 50_000]);
  });
});
