import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { BudgetSettings } from '../../src/config/settings/settings.ts';
import { chatRequest } from './chat-request.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { ledgerRow } from './ledger-row.ts';
import { type BudgetRule, type NewKey, newBudget, StateUnderTest } from './state-under-test.ts';
import { until } from './until.ts';

const rule = (more: Partial<BudgetRule> = {}): BudgetRule => ({
  scope: { key: 'k' },
  model: '*',
  period: 'total',
  timeZone: 'UTC',
  nano: 1e9,
  hard: false,
  ...more,
});

describe('windows of budgets', () => {
  const zones: readonly (readonly [zone: string, period: BudgetRule['period'], last: string, first: string])[] = [
    ['UTC', 'day', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00Z'],
    ['Europe/Berlin', 'month', '2026-03-31T21:59:59.999Z', '2026-03-31T22:00:00Z'],
    ['Asia/Kathmandu', 'week', '2026-11-22T18:14:59.999Z', '2026-11-22T18:15:00Z'],
  ];
  for (const [timeZone, period, last, first] of zones) {
    it(`budget: a ${period} in ${timeZone} ends at ${first}`, () => {
      const budget = newBudget(rule({ timeZone, period }));
      const [before, after] = [Date.parse(last), Date.parse(first)];
      budget.window(before);
      budget.add({ at: before, nano: 1e9 });
      assert.deepEqual([budget.allows(1, before), budget.allows(1, after), budget.spent(after)], [false, true, 0]);
      // An answer that was recorded before the end does not count for the new window.
      budget.add({ at: before, nano: 1e9 });
      assert.equal(budget.spent(after), 0);
    });
  }
});

describe('what was spent of budgets', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'svc-budgets-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('budget: two processes count each row once, in any order of writes, reads and starts', async () => {
    const file = path.join(folder, 'gateway.db');
    const rules = [
      rule(),
      rule({ period: 'day' }),
      rule({ period: 'month', model: 'p/*' }),
      rule({ scope: { user: 'ann' }, period: 'week' }),
      rule({ scope: { organization: 'acme' } }),
      rule({ scope: { organization: 'acme', user: 'ann' }, model: 'p/other' }),
      rule({ scope: {} }),
    ];
    const users = new Map([['k', 'ann']]);
    const start = async () => {
      const state = await StateUnderTest.open(file);
      return { state, process: state.process(rules, users) };
    };
    const started = [await start(), await start()];
    const recorded: { key: string; organization: string; model: string; cost: number }[] = [];
    // A fixed sequence of steps without a pattern.
    let state = 7;
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    for (let step = 0; step < 600; step += 1) {
      const one = started[random(2)]?.process;
      assert.ok(one);
      switch (random(5)) {
        case 0:
          one.flush();
          break;
        case 1:
          one.follow();
          break;
        case 2:
          // New budgets are read while other rows wait.
          one.setBudgets(rules.filter(() => random(2) === 0));
          one.setBudgets();
          break;
        default: {
          const row = {
            at: Date.now(),
            key: random(2) ? 'k' : 'other',
            organization: random(2) ? 'acme' : '',
            model: random(2) ? 'p/m' : 'p/other',
            cost: random(1_000_000),
          };
          recorded.push(row);
          one.record(ledgerRow(row));
        }
      }
    }
    for (const { process } of started) process.flush();
    started.push(await start());
    for (const { process } of started) {
      process.follow();
      for (const each of rules) {
        const expected = recorded
          .filter((row) => process.counts(each, row, users.get(row.key)))
          .reduce((sum, row) => sum + row.cost, 0);
        assert.equal(process.spent(each), expected, JSON.stringify(each));
      }
    }
    assert.deepEqual(started[0]?.state.check().differences, []);
    for (const { state } of started) state.close();
  });
});

describe('keys that other processes change', () => {
  it('keys: the ledger of another process does not make a process read all keys again, a new key does', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'svc-keys-'));
    const file = path.join(folder, 'k.db');
    const [one, two] = [await StateUnderTest.open(file), await StateUnderTest.open(file)];
    const seen: string[] = [];
    const keys = one.heldKeys(seen);
    try {
      keys.follow();
      seen.length = 0;
      const process = two.process();
      process.record(ledgerRow());
      assert.equal(process.flush(), true);
      keys.follow();
      keys.follow();
      assert.deepEqual(seen, ['written']);
      two.createKey({ name: 'k' });
      keys.follow();
      two.updateKey('k', { rates: [{ requests: 1, model: '*' }] });
      keys.follow();
      two.revokeKey('k');
      keys.follow();
      assert.deepEqual(seen, ['written', '1 keys', '1 keys', '1 keys']);
    } finally {
      one.close();
      two.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** An answer of the simulated upstream is 11 and 7 tokens at 1 and 2 USD a million: 25,000 nano-USD. */
const ANSWER_USD = 0.000025;

const budget = (more: Partial<BudgetSettings>) => ({
  ...{ usd: 2 * ANSWER_USD, period: 'total' as const, timeZone: 'UTC', mode: 'soft' as const, model: '*' },
  ...more,
});

/** Models without a price; OpenRouter reports the cost of its answers. */
function unpriced(url: string): Record<string, unknown> {
  const options = { baseURL: `${url}/v1`, apiKey: 'k' };
  return {
    unpriced: { options, models: { m: {}, allowed: {} } },
    openrouter: { options, models: { auto: {} } },
  };
}

describe('budgets at the gateway', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: { ...providers(url), ...unpriced(url) },
        gateway: {
          budgets: [{ usd: 3 * ANSWER_USD, model: 'responses/*' }],
          unpricedModels: ['unpriced/allowed'],
          embeddingModels: { 'unpriced/m': {} },
          pools: { 'team/mixed': { models: ['unpriced/m', 'chat/free'], weights: [1e9, 1e-9], affinity: false } },
          organizations: {
            acme: { budgets: [{ usd: 2 * ANSWER_USD, period: 'month', timeZone: 'Europe/Berlin' }] },
            each: { budgets: [{ usd: ANSWER_USD, period: 'day', each: 'user' }] },
            two: {
              budgets: [
                { usd: ANSWER_USD, period: 'day' },
                { usd: 1, period: 'day' },
              ],
            },
            'two-2': {
              budgets: [
                { usd: 1, period: 'day' },
                { usd: ANSWER_USD, period: 'day' },
              ],
            },
          },
          users: { eve: { budgets: [{ usd: ANSWER_USD, period: 'week' }] } },
        },
      }),
    });
  });
  after(() => gateway.close());

  const send = async (key: string, model = 'chat/m', more: Record<string, unknown> = {}) => {
    const answer = await gateway.post('/chat/completions', chatRequest(model, more), {
      authorization: `Bearer ${key}`,
    });
    const body = await answer.json();
    return {
      status: answer.status,
      message: String(body.error?.message ?? ''),
      retry: answer.headers.get('retry-after'),
    };
  };
  const create = (name: string, more: Omit<NewKey, 'name'> = {}) => gateway.createKey({ name, ...more });

  it('budget: of two budgets for the same requests the smaller one holds, whatever their order', async () => {
    for (const organization of ['two', 'two-2']) {
      const key = create(`${organization}-key`, { organization });
      assert.deepEqual([(await send(key)).status, (await send(key)).status], [200, 402], organization);
    }
    for (const [name, amounts] of Object.entries({ 'own-1': [ANSWER_USD, 1], 'own-2': [1, ANSWER_USD] })) {
      const key = create(name, { limits: { budgets: amounts.map((usd) => budget({ usd })), rates: [] } });
      assert.deepEqual([(await send(key)).status, (await send(key)).status], [200, 402], name);
    }
  });

  it('budget: a used-up budget refuses a model without a price, and a hard one always does unless it is allowed', async () => {
    const key = (name: string, more: Partial<BudgetSettings>) =>
      create(name, { limits: { budgets: [budget({ usd: ANSWER_USD, ...more })], rates: [] } });
    const soft = key('unpriced-soft', {});
    assert.equal((await send(soft, 'unpriced/m')).status, 200);
    assert.equal((await send(soft)).status, 200);
    for (const model of ['unpriced/m', 'unpriced/allowed', 'chat/m']) {
      const { status, message } = await send(soft, model);
      assert.deepEqual([status, message.includes('is used up')], [402, true], model);
    }
    assert.equal((await send(soft, 'chat/free')).status, 200);
    const hard = key('unpriced-hard', { mode: 'hard', usd: 1 });
    const refused = await send(hard, 'unpriced/m');
    assert.equal(refused.status, 402);
    assert.match(refused.message, /is hard, and the price of unpriced\/m is not known\..*unpricedModels/);
    assert.deepEqual(
      [
        (await send(hard, 'unpriced/allowed')).status,
        (await send(hard, 'chat/free')).status,
        (await send(hard)).status,
      ],
      [200, 200, 200],
    );
    const other = key('unpriced-other', { mode: 'hard', model: 'chat/*' });
    assert.equal((await send(other, 'unpriced/m')).status, 200, 'the budget does not count this model');
    const embedded = await gateway.post(
      '/embeddings',
      { model: 'unpriced/m', input: 'x' },
      { authorization: `Bearer ${hard}` },
    );
    assert.equal(embedded.status, 402);
    const warnings = gateway.lines.filter(
      (line) => line.includes('the model has no price') && line.includes('unpriced/m'),
    );
    assert.equal(warnings.length, 1);
  });

  it('budget: a cost that is known late counts, and the used-up budget refuses the model', async () => {
    gateway.upstream.respond((_request, response) => {
      const message = { role: 'assistant', content: 'Hi' };
      const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, cost: ANSWER_USD };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    });
    try {
      const key = create('late', { limits: { budgets: [budget({})], rates: [] } });
      const found = [];
      for (let request = 0; request < 4; request += 1) found.push((await send(key, 'openrouter/auto')).status);
      assert.deepEqual(found, [200, 200, 402, 402]);
    } finally {
      gateway.upstream.respond(undefined);
    }
  });

  it('budget: no member of a pool without a price is tried for a used-up or a hard budget', async () => {
    const used = create('mixed-soft', { limits: { budgets: [budget({ usd: 0 })], rates: [] } });
    const hard = create('mixed-hard', { limits: { budgets: [budget({ usd: 1, mode: 'hard' })], rates: [] } });
    for (const key of [used, hard]) {
      const { status } = await send(key, 'team/mixed');
      assert.deepEqual([status, gateway.rows().at(-1)?.model], [200, 'chat/free']);
    }
  });

  it('budget: a key without a user is a user of its own', async () => {
    const [one, two] = [create('alone-1', { organization: 'each' }), create('alone-2', { organization: 'each' })];
    assert.deepEqual([(await send(one)).status, (await send(two)).status], [200, 200]);
    assert.deepEqual([(await send(one)).status, (await send(two)).status], [402, 402]);
  });

  it('budget: all keys of an organization share its budget', async () => {
    const [one, two] = [create('acme-1', { organization: 'acme' }), create('acme-2', { organization: 'acme' })];
    assert.deepEqual([(await send(one)).status, (await send(two)).status], [200, 200]);
    const refused = await send(one);
    assert.equal(refused.status, 402);
    assert.match(refused.message, /^The budget of the organization acme, 0.00005 USD a month, is used up/);
    // It can be spent again when the month of the time zone ends.
    assert.ok(Number(refused.retry) > 0 && Number(refused.retry) <= 32 * 86_400, `${refused.retry}`);
    assert.equal((await send(two, 'chat/free')).status, 200);
  });

  it('budget: each user of an organization has a budget, also with several keys', async () => {
    const [ann1, ann2, bob] = [
      create('ann-1', { organization: 'each', user: 'ann' }),
      create('ann-2', { organization: 'each', user: 'ann' }),
      create('bob-1', { organization: 'each', user: 'bob' }),
    ];
    assert.deepEqual([(await send(ann1)).status, (await send(ann2)).status, (await send(bob)).status], [200, 402, 200]);
  });

  it('budget: a user has a budget, and a client that names another user does not use that budget', async () => {
    const [eve, other] = [create('eve-1', { user: 'eve' }), create('other')];
    assert.equal((await send(other, 'chat/m', { user: 'eve' })).status, 200);
    assert.deepEqual([(await send(eve)).status, (await send(eve)).status], [200, 402]);
  });

  it('budget: of some models counts those models of all callers', async () => {
    const [one, two] = [create('many-1'), create('many-2')];
    const statuses = [];
    for (const key of [one, two, one, two]) statuses.push((await send(key, 'responses/m')).status);
    assert.deepEqual(statuses, [200, 200, 200, 402]);
    assert.equal((await send(one)).status, 200, 'another provider');
  });

  it('budget: a key may have several, and a change applies without a restart', async () => {
    const limits = { budgets: [budget({ usd: 1, period: 'month' }), budget({ model: 'chat/*' })], rates: [] };
    const key = create('several', { limits });
    assert.deepEqual([(await send(key)).status, (await send(key)).status, (await send(key)).status], [200, 200, 402]);
    assert.equal((await send(key, 'messages/m')).status, 200);
    gateway.state.updateKey('several', { budgets: [budget({ usd: 3 * ANSWER_USD, model: 'chat/*' })] });
    gateway.keysChanged();
    assert.deepEqual([(await send(key)).status, (await send(key)).status], [200, 402]);
  });

  it('budget: a hard one is never exceeded by requests at the same time, and nearly all of it can be used', async () => {
    // A request of about 60 bytes with at most 7 tokens may cost a little more than its answer does.
    const usd = 40 * ANSWER_USD;
    const key = create('hard', { limits: { budgets: [budget({ usd, mode: 'hard' })], rates: [] } });
    let served = 0;
    let waits = 0;
    const worker = async () => {
      for (let n = 0; n < 12; n += 1) {
        const { status, retry, message } = await send(key, 'chat/m', { max_tokens: 7 });
        if (status === 200) served += 1;
        else if (/reserved by running requests/.test(message)) {
          assert.ok(Number(retry) > 0);
          waits += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: 60 }, worker));
    gateway.usage();
    const [stored] = gateway.state.keys().filter(({ name }) => name === 'hard');
    assert.ok((stored?.spent ?? 0) <= usd * 1e9, `${stored?.spent}`);
    assert.ok(served >= 38, `${served}`);
    assert.ok(waits > 0, 'some were refused while others ran');
  });

  it('budget: a hard one refuses a request that may cost more than is left, and says what it may cost', async () => {
    const key = create('careful', { limits: { budgets: [budget({ usd: 0.001, mode: 'hard' })], rates: [] } });
    // Without a limit, the answer may have the model's 4,096 tokens at 2 USD a million.
    const refused = await send(key, 'chat/m', { max_tokens: undefined });
    assert.equal(refused.status, 402);
    assert.match(refused.message, /has 0.001 USD left, and this request may cost 0.008\d+ USD/);
    assert.equal((await send(key, 'chat/m', { max_tokens: 10 })).status, 200);
  });

  it('budget: a recording in chunks, whose length is not known, is reserved as the longest one', async () => {
    const key = create('chunks', { limits: { budgets: [budget({ usd: 0.001, mode: 'hard' })], rates: [] } });
    const transcribe = (body: BodyInit) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'multipart/form-data; boundary=b' };
      const request = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
      return fetch(`${gateway.url}/audio/transcriptions`, request);
    };
    const part = (name: string, more = '') => `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const form = `${part('model')}chat/m\r\n${part('file', '; filename="a.wav"')}sound\r\n--b--\r\n`;
    assert.equal((await transcribe(new Blob([form]).stream())).status, 402);
    assert.equal((await transcribe(form)).status, 200);
  });

  it('budget: a failed request gives its reservation back', async () => {
    const key = create('fails', { limits: { budgets: [budget({ mode: 'hard', usd: 0.00006 })], rates: [] } });
    for (let n = 0; n < 5; n += 1) {
      gateway.upstream.respond((_, response) => void response.writeHead(500).end('{}'));
      assert.equal((await send(key, 'chat/m', { max_tokens: 7 })).status, 503);
    }
    gateway.upstream.respond(undefined);
    assert.equal((await send(key, 'chat/m', { max_tokens: 7 })).status, 200);
  });
});

describe('alerts about budgets', () => {
  it('budget alerts: each share is reported once to the log and the webhook, also after a restart', async () => {
    const received: Record<string, unknown>[] = [];
    let failures = 1;
    const webhook = createServer(async (request, response) => {
      const body = JSON.parse(await text(request));
      failures -= 1;
      if (failures < 0) received.push(body);
      response.writeHead(failures < 0 ? 200 : 500).end();
    });
    await new Promise<void>((resolve) => void webhook.listen(0, '127.0.0.1', resolve));
    const { port } = webhook.address() as AddressInfo;
    const gateway = await startTestGateway({
      config: (url) => ({
        provider: providers(url),
        gateway: {
          alerts: { webhook: `http://127.0.0.1:${port}/canary-hook` },
          budgets: [
            { usd: 4 * ANSWER_USD, period: 'month', model: 'chat/*' },
            { usd: 2 * ANSWER_USD, period: 'month', model: 'messages/*' },
          ],
        },
      }),
    });
    try {
      for (let n = 0; n < 5; n += 1) await (await gateway.post('/chat/completions', chatRequest('chat/m'))).text();
      await until('3 alerts at the webhook', () => received.length >= 3);
      assert.deepEqual(received.map(({ percent }) => percent).sort(), [100, 50, 80]);
      const full = received.find(({ percent }) => percent === 100);
      assert.equal(
        full?.text,
        '100 % of the budget of this gateway for chat/*, 0.0001 USD a month, are spent: 0.0001 USD.',
      );
      const alerts = () => gateway.lines.filter((line) => line.includes('"alert":"budget"')).length;
      assert.equal(alerts(), 3);
      gateway.usage();
      // Another process on the same state knows that they were reported.
      gateway.restarted();
      // The next alert is that of the other budget.
      await (await gateway.post('/chat/completions', chatRequest('messages/m'))).text();
      await until('4 alerts at the webhook', () => received.length >= 4);
      assert.deepEqual([received.at(-1)?.percent, received.length, alerts()], [50, 4, 4]);
      assert.ok(!gateway.lines.join().includes('canary-hook'), 'the address may be a secret');
    } finally {
      await gateway.close();
      webhook.close();
    }
  });
});
