import assert from 'node:assert/strict';
import { ProjectFolder } from '../config/project-folder.ts';
import { ledgerRow } from '../gateway/ledger-row.ts';
import { StateUnderTest, stateFile, type UsageRow } from '../gateway/state-under-test.ts';
import { svc } from './run-svc.ts';

function openStateOf({ env, home }: ProjectFolder): Promise<StateUnderTest> {
  return StateUnderTest.open(stateFile({ platform: 'linux', env, home }));
}

async function record(folder: ProjectFolder, ...rows: readonly Partial<UsageRow>[]): Promise<void> {
  const state = await openStateOf(folder);
  state.write(...rows.map((row) => ledgerRow(row)));
  state.close();
}

const ROWS: readonly Partial<UsageRow>[] = [
  // The evening of the 21st in UTC is the 22nd in Kolkata.
  { at: Date.parse('2026-11-21T20:00:00Z'), key: 'ann', user: 'ann', cost: 1_000_000_001, tags: { project: 'a' } },
  { at: Date.parse('2026-11-22T08:00:00Z'), key: 'ann', user: 'ann', cost: 2_000_000_000 },
  { at: Date.parse('2026-11-22T08:00:00Z'), key: 'bob', model: 'p/=SUM(A1)', cost: 4_000_000_000 },
];

describe('svc usage', () => {
  it('svc usage: days are those of the time zone', async () => {
    using folder = new ProjectFolder();
    await record(folder, ...ROWS);
    const days = async (...args: string[]) => {
      const { rows } = JSON.parse((await svc(folder, ['usage', '--by', 'day', '--json', ...args])).out);
      return rows.map(({ day, cost }: Record<string, unknown>) => [day, cost]);
    };
    assert.deepEqual(await days(), [
      ['2026-11-21', 1.000000001],
      ['2026-11-22', 6],
    ]);
    assert.deepEqual(await days('--tz', 'Asia/Kolkata'), [['2026-11-22', 7.000000001]]);
    assert.deepEqual(await days('--since', '2026-11-22'), [['2026-11-22', 6]]);
    assert.deepEqual(await days('--until', '2026-11-22'), [['2026-11-21', 1.000000001]]);
    assert.deepEqual(await days('--until', '2026-11-22', '--tz', 'Asia/Kolkata'), []);
  });

  it('svc usage --format csv: writes exact costs, and no cell that a spreadsheet runs', async () => {
    using folder = new ProjectFolder();
    await record(folder, ...ROWS);
    const { out } = await svc(folder, ['usage', '--by', 'key,model', '--format', 'csv']);
    const [head, ...lines] = out.trimEnd().split('\r\n');
    assert.match(
      head ?? '',
      /^key,model,requests,failures,refused,client_gone,input_tokens,.*,cost,byok_cost,estimated_requests,first_byte_p50_ms,.*$/,
    );
    assert.deepEqual(
      lines.map((line) =>
        line
          .split(',')
          .slice(0, 2)
          .concat(line.split(',')[head?.split(',').indexOf('cost') ?? -1] ?? ''),
      ),
      [
        ['bob', 'p/=SUM(A1)', '4.000000000'],
        ['ann', 'p/m', '3.000000001'],
      ],
    );
    await record(folder, { key: '=1+1', cost: 1 });
    assert.match((await svc(folder, ['usage', '--by', 'key', '--format', 'csv'])).out, /^'=1\+1,/m);
  });

  it('svc usage: says for each row whether its tokens are reported or estimated, and why', async () => {
    using folder = new ProjectFolder();
    const estimated = { estimated: true, key: 'bob' };
    await record(
      folder,
      { at: 1, key: 'ann' },
      { at: 2, ...estimated, estimateReason: 'client_left', tags: { project: 'a' } },
      { at: 3, ...estimated, estimateReason: 'client_left' },
      { at: 4, ...estimated, estimateReason: 'not_reported' },
      { at: 5, ...estimated, key: 'eve' },
      { at: 6, key: 'tom', cost: undefined },
      { at: 7, key: 'tom', cost: undefined, usage: undefined, outcome: 'failed' },
    );
    const report = async (...args: string[]) => JSON.parse((await svc(folder, ['usage', '--json', ...args])).out);
    for (const by of ['key', 'key,day', 'key,model']) {
      const { rows, total } = await report('--by', by);
      const reasons = Object.fromEntries(rows.map((row: Record<string, string>) => [row.key, row.estimate_reasons]));
      assert.deepEqual(reasons, { ann: null, bob: 'client_left 2, not_reported 1', eve: 'unknown 1', tom: null }, by);
      const unpriced = Object.fromEntries(rows.map((row: Record<string, string>) => [row.key, row.unpriced_requests]));
      assert.deepEqual([unpriced, total.unpriced_requests], [{ ann: 0, bob: 0, eve: 0, tom: 1 }, 1]);
      assert.equal(total.estimate_reasons, 'client_left 2, not_reported 1, unknown 1');
    }
    const tags = await report('--by', 'tag:project', '--key', 'bob');
    assert.deepEqual(
      tags.rows.map((row: Record<string, unknown>) => [row['tag:project'], row.estimate_reasons]),
      [
        [null, 'client_left 1, not_reported 1'],
        ['a', 'client_left 1'],
      ],
    );
    const { out } = await svc(folder, ['usage', '--by', 'key']);
    assert.match(out, /^KEY +COST USD +REQUESTS +UNPRICED +INPUT .*TOKENS$/m);
    // The columns of the cache would have zeros only.
    assert.match(out, /INPUT +OUTPUT +TOKENS$/m);
    assert.match(out, /^ann .* reported$/m);
    assert.match(out, /^tom +unknown +2 +1 .* reported$/m);
    // Numbers end below their title.
    const lines = out.trimEnd().split('\n');
    const end = (lines[0] ?? '').indexOf('COST USD') + 'COST USD'.length;
    for (const line of lines) assert.match(line.slice(end - 1, end + 1), /^\S $/, line);
    assert.match(out, /^bob .* 3 estimated: client_left 2, not_reported 1$/m);
    const csv = (await svc(folder, ['usage', '--by', 'key', '--format', 'csv'])).out;
    assert.match(csv, /,estimate_reasons,unpriced_requests\r\n/);
    assert.match(csv, /^bob,.*"client_left 2, not_reported 1"/m);
  });

  it('svc usage: groups by tag and filters by user', async () => {
    using folder = new ProjectFolder();
    await record(folder, ...ROWS);
    const { out } = await svc(folder, ['usage', '--by', 'tag:project', '--user', 'ann', '--json']);
    const { rows, total } = JSON.parse(out);
    assert.deepEqual(
      rows.map((row: Record<string, unknown>) => [row['tag:project'], row.cost]),
      [
        [null, 2],
        ['a', 1.000000001],
      ],
    );
    assert.equal(total.cost, 3.000000001);
  });

  const wrong: readonly (readonly [args: string, message: RegExp])[] = [
    ['--by color', /--by must be/],
    ['--tz Mars/Base', /--tz must be a time zone such as Europe\/Berlin; “Mars\/Base” is unknown/],
    ['--format xml', /--format must be table, csv or json/],
    ['--since yesterday', /--since must be a date/],
    ['--since 2026-11-22 --until 2026-11-21', /--until must be after --since/],
  ];
  for (const [args, message] of wrong) {
    it(`svc usage: explains a wrong option: ${args}`, async () => {
      using folder = new ProjectFolder();
      const { code, err } = await svc(folder, ['usage', ...args.split(' ')]);
      assert.equal(code, 2);
      assert.match(err, message);
    });
  }
});

describe('svc state check', () => {
  it('svc state check: proves that what was spent is the sum of the rows, and fails if it is not', async () => {
    using folder = new ProjectFolder();
    await record(folder, ...ROWS);
    assert.deepEqual(await svc(folder, ['state', 'check']), {
      code: 0,
      out: 'The state is consistent: 3 rows, 7.000000001 USD spent, equal to the sum of the rows.\n',
      err: '',
    });
    const state = await openStateOf(folder);
    state.damage('bob', 'sum');
    state.close();
    const { code, out } = await svc(folder, ['state', 'check', '--json']);
    assert.equal(code, 1);
    assert.deepEqual(
      JSON.parse(out).differences.map(({ stored_nano, rows_nano }: Record<string, unknown>) => [
        stored_nano,
        rows_nano,
      ]),
      [[4_000_000_001, 4_000_000_000]],
    );
  });
});
