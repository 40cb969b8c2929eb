import assert from 'node:assert/strict';
import { ProjectFolder } from '../config/project-folder.ts';
import { ledgerRow } from '../gateway/ledger-row.ts';
import { StateUnderTest, stateFile } from '../gateway/state-under-test.ts';
import { svc } from './run-svc.ts';

const listed = async (folder: ProjectFolder) => JSON.parse((await svc(folder, ['keys', 'list', '--json'])).out);

describe('limits of svc keys', () => {
  it('svc keys create: sets budgets and rates, and svc keys list shows them with what was spent', async () => {
    using folder = new ProjectFolder();
    const args =
      '--user ann --budget 20/month --budget 5/day:p/* --mode hard --tz Asia/Kolkata --rpm 60 --rpm 10:p/m --tpm 1000 --parallel 4';
    assert.equal((await svc(folder, ['keys', 'create', '--name', 'k', ...args.split(' ')])).code, 0);
    const state = await StateUnderTest.open(stateFile({ platform: 'linux', env: folder.env, home: folder.home }));
    const rows = [ledgerRow({ at: Date.now() }), ledgerRow({ at: Date.now(), model: 'q/m' }), ledgerRow({ at: 1 })];
    state.write(...rows);
    state.close();
    const [key] = await listed(folder);
    const zone = { time_zone: 'Asia/Kolkata', mode: 'hard' };
    assert.deepEqual([key.user, key.spent, key.budget, key.rpm], ['ann', 1.5, null, 60]);
    assert.deepEqual(key.budgets, [
      { usd: 20, spent: 1, period: 'month', ...zone, model: '*' },
      { usd: 5, spent: 0.5, period: 'day', ...zone, model: 'p/*' },
    ]);
    assert.deepEqual(key.rates, [
      { requests: 60, tokens: 1000, parallel: 4, model: '*' },
      { requests: 10, model: 'p/m' },
    ]);
    const { out } = await svc(folder, ['keys', 'list']);
    assert.match(
      out,
      /k\s+ann\s+valid\s+1\.0000 of 20\/month hard, 0\.5000 of 5\/day:p\/\* hard\s+60 rpm 1000 tpm 4 parallel, 10 rpm:p\/m/,
    );
  });

  it('svc keys update: replaces the named limits only, and none removes them', async () => {
    using folder = new ProjectFolder();
    await svc(folder, ['keys', 'create', 'k', '--budget', '20', '--rpm', '60']);
    assert.equal((await svc(folder, ['keys', 'update', 'k', '--budget', '30', '--period', 'week'])).code, 0);
    const [weekly] = await listed(folder);
    assert.deepEqual(
      [weekly.budgets.map(({ usd, period }: Record<string, unknown>) => [usd, period]), weekly.rpm],
      [[[30, 'week']], 60],
    );
    await svc(folder, ['keys', 'update', 'k', '--parallel', '4', '--parallel', '2:p/*']);
    const [more] = await listed(folder);
    assert.deepEqual(more.rates, [
      { requests: 60, parallel: 4, model: '*' },
      { parallel: 2, model: 'p/*' },
    ]);
    await svc(folder, ['keys', 'update', 'k', '--budget', 'none', '--rpm', 'none', '--parallel', 'none']);
    const [none] = await listed(folder);
    assert.deepEqual([none.budgets, none.rates], [[], []]);
  });

  it('svc keys --json: each action prints JSON only', async () => {
    using folder = new ProjectFolder();
    const json = async (...args: string[]) => JSON.parse((await svc(folder, ['keys', ...args, '--json'])).out);
    const created = await json('create', 'k', '--rpm', '5');
    assert.deepEqual([created.name, typeof created.key], ['k', 'string']);
    assert.deepEqual(await json('update', 'k', '--rpm', '6'), { name: 'k', rates: [{ requests: 6, model: '*' }] });
    const rotated = await json('rotate', 'k');
    assert.ok(rotated.name === 'k' && rotated.key !== created.key);
    assert.deepEqual(await json('revoke', 'k'), { name: 'k', state: 'revoked' });
  });

  it('svc keys create: of two limits for the same requests the smaller one holds and is shown', async () => {
    using folder = new ProjectFolder();
    for (const [name, ...args] of [
      ['a', '--budget', '0.002/day', '--budget', '100/day', '--rpm', '3', '--rpm', '50'],
      ['b', '--budget', '100/day', '--budget', '0.002/day', '--rpm', '50', '--rpm', '3'],
    ] as const) {
      assert.equal((await svc(folder, ['keys', 'create', name, ...args])).code, 0);
      const key = (await listed(folder)).find((each: { name: string }) => each.name === name);
      assert.deepEqual([key.budgets.length, key.budgets[0].usd, key.rpm], [1, 0.002, 3]);
    }
  });

  it('svc keys create: warns of models of a provider that does not exist', async () => {
    using folder = new ProjectFolder();
    folder.global({ provider: { openai: { options: { apiKey: 'k' } } } });
    const { code, err } = await svc(folder, [
      'keys',
      'create',
      'k',
      '--budget',
      '5/day:opnai/*',
      '--rpm',
      '3:openai/*',
    ]);
    assert.equal(code, 0);
    assert.match(
      err,
      /warning: There is no provider “opnai”, so “opnai\/\*” limits nothing\. Did you mean “openai\/\*”/,
    );
    assert.equal(err.match(/warning/g)?.length, 1);
  });

  const wrong: readonly (readonly [args: string, message: RegExp])[] = [
    ['create k --budget -1', /--budget/],
    ['create k --budget 20/year', /period of a budget must be total, day, week, month/],
    ['create k --budget 20 --mode strict', /--mode must be soft or hard/],
    ['create k --budget 20 --tz Mars/Base', /“Mars\/Base” is unknown/],
    ['create k --mode hard', /--period, --tz and --mode need --budget/],
    ['create k --budget 5/day:', /after the colon must be a model/],
    ['create k --budget 5:gpt-5', /after the colon must be a model/],
    ['create k --rpm 5:', /after the colon must be a model/],
    ['create k --rpm 1.5', /--rpm must be a whole number/],
    ['create k --parallel 0', /--parallel must be a whole number/],
    ['update k', /Specify what to change/],
    ['update nobody --rpm 5', /There is no key named “nobody”/],
  ];
  for (const [args, message] of wrong) {
    it(`svc keys: explains a wrong limit: ${args}`, async () => {
      using folder = new ProjectFolder();
      const { code, err } = await svc(folder, ['keys', ...args.split(' ')]);
      assert.notEqual(code, 0);
      assert.match(err, message);
      assert.deepEqual(await listed(folder), []);
    });
  }
});

describe('limits in svc.jsonc', () => {
  it('limits in svc.jsonc: a budget with an unknown period or time zone is reported, and the organization is not used without it', async () => {
    using folder = new ProjectFolder();
    folder.global({
      gateway: {
        organizations: { acme: { budgets: [{ usd: 5, period: 'year' }] } },
        budgets: [{ usd: 5, timeZone: 'Mars/Base' }],
        users: { ann: { rates: [{ requests: 1, model: '' }] } },
      },
    });
    const { diagnostics, gateway } = await folder.load();
    const messages = diagnostics.map(({ key, message }) => `${key}: ${message}`);
    assert.match(messages.join('\n'), /^gateway\.organizations\.acme\.budgets.*total/m);
    assert.match(messages.join('\n'), /^gateway\.budgets.*a time zone such as Europe\/Berlin/m);
    assert.match(messages.join('\n'), /^gateway\.users\.ann\.rates.*a model such as openai/m);
    // Without its organization, a key is refused: a wrong budget does not become no budget.
    assert.equal(gateway.organizations.has('acme'), false);
  });
});
