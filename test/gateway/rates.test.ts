import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { RateSettings } from '../../src/config/settings/settings.ts';
import { chatRequest } from './chat-request.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { SlidingMinute } from './state-under-test.ts';

describe('SlidingMinute', () => {
  it('rate: no minute has more than the limit, wherever it starts, and the wait is right', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 12 }), (steps, limit) => {
        const minute = new SlidingMinute();
        const taken: number[] = [];
        let now = 12_345;
        for (const gap of steps) {
          now += gap;
          const wait = minute.wait(1, limit, now);
          assert.ok(wait >= 0 && wait <= 60_250, `${wait}`);
          if (wait > 0) {
            now += wait - 1;
            assert.ok(minute.wait(1, limit, now) > 0);
            now += 1;
            assert.equal(minute.wait(1, limit, now), 0);
          }
          minute.add(1, now);
          taken.push(now);
        }
        for (const start of taken) {
          assert.ok(taken.filter((at) => at >= start && at < start + 60_000).length <= limit);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('rate: constant demand above the limit gets nearly all of it in each minute', () => {
    const minute = new SlidingMinute();
    const taken: number[] = [];
    for (let now = 0; now < 600_000; now += 20) {
      if (minute.wait(1, 600, now) > 0) continue;
      minute.add(1, now);
      taken.push(now);
    }
    for (let start = 0; start < 540_000; start += 1_000) {
      const count = taken.filter((at) => at >= start && at < start + 60_000).length;
      assert.ok(count >= 570 && count <= 600, `${start}: ${count}`);
    }
  });

  it('rate: does not depend on the system clock', () => {
    const minute = new SlidingMinute();
    const { now } = Date;
    minute.add(1);
    try {
      Date.now = () => now() + 3_600_000;
      assert.ok(minute.wait(1, 1) > 0);
    } finally {
      Date.now = now;
    }
  });
});

/** Several rates of one owner for the same models, and the requests that they allow together. */
const SAME_OWNER: readonly { name: string; rates: readonly Record<string, unknown>[]; allowed: number }[] = [
  { name: 'kinds', rates: [{ requests: 2 }, { tokens: 1_000_000 }], allowed: 2 },
  { name: 'kinds-2', rates: [{ tokens: 1_000_000 }, { requests: 2 }, { parallel: 50 }], allowed: 2 },
  { name: 'smaller', rates: [{ requests: 2 }, { requests: 100 }], allowed: 2 },
  { name: 'smaller-2', rates: [{ requests: 100 }, { requests: 2 }], allowed: 2 },
  {
    name: 'each',
    rates: [
      { requests: 2, each: 'key' },
      { parallel: 50, each: 'key' },
    ],
    allowed: 2,
  },
].map((each) => ({ ...each, name: `same-${each.name}` }));

describe('rates at the gateway', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: providers(url),
        gateway: {
          rates: [{ requests: 3, model: 'messages/free' }],
          organizations: {
            acme: { rates: [{ requests: 3 }] },
            each: { rates: [{ requests: 1, each: 'user' }] },
            ...Object.fromEntries(SAME_OWNER.map(({ name, rates }) => [name, { rates }])),
          },
          users: { eve: { rates: [{ requests: 2 }] } },
        },
      }),
    });
  });
  after(() => gateway.close());

  const create = (name: string, rates: readonly RateSettings[] = [], more: object = {}) => {
    const key = gateway.createKey({ name, limits: { budgets: [], rates }, ...more });
    return { authorization: `Bearer ${key}` };
  };
  const send = async (headers: Record<string, string>, model = 'chat/free', more: Record<string, unknown> = {}) => {
    const answer = await gateway.post('/chat/completions', chatRequest(model, more), headers);
    const body = await answer.json();
    return { status: answer.status, message: String(body.error?.message ?? ''), headers: answer.headers };
  };
  const statuses = async (...requests: readonly (readonly [Record<string, string>, string?])[]) => {
    const found = [];
    for (const [headers, model] of requests) found.push((await send(headers, model)).status);
    return found;
  };

  it('rate: answers state limit, rest and time, also when they refuse', async () => {
    const key = create('stated', [{ requests: 2, model: '*' }]);
    const shown = ({ headers }: { headers: Headers }) =>
      ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-policy', 'x-ratelimit-remaining-requests'].map((name) =>
        headers.get(name),
      );
    assert.deepEqual(shown(await send(key)), ['2', '1', '2;w=60', '1']);
    assert.deepEqual(shown(await send(key)), ['2', '0', '2;w=60', '0']);
    const refused = await send(key);
    assert.deepEqual([refused.status, ...shown(refused)], [429, '2', '0', '2;w=60', '0']);
    const reset = Number(refused.headers.get('ratelimit-reset'));
    const retry = Number(refused.headers.get('retry-after'));
    assert.ok(reset > 50 && reset <= 61 && Math.abs(reset - retry) <= 1, `${reset} ${retry}`);
    assert.match(refused.message, /The key stated may send 2 requests per minute/);
  });

  it('rate: answers of keys without a rate have no such headers', async () => {
    const { headers } = await send(create('free'));
    assert.deepEqual(
      [...headers.keys()].filter((name) => name.includes('ratelimit')),
      [],
    );
  });

  it('rate: keys of an organization share its rate', async () => {
    const [one, two] = [create('acme-1', [], { organization: 'acme' }), create('acme-2', [], { organization: 'acme' })];
    assert.deepEqual(await statuses([one], [two], [one], [two], [one]), [200, 200, 200, 429, 429]);
  });

  for (const { name, rates, allowed } of SAME_OWNER) {
    it(`rate: of ${JSON.stringify(rates)} each one holds`, async () => {
      const key = create(`${name}-key`, [], { organization: name });
      const found = await statuses(...Array.from({ length: allowed + 1 }, () => [key] as const));
      assert.deepEqual(found, [...Array.from({ length: allowed }, () => 200), 429]);
    });

    it(`rate: of the same rates of a key each one holds (${JSON.stringify(rates)})`, async () => {
      const own = rates.map(({ each: _, ...rate }) => ({ ...rate, model: '*' }));
      const key = create(`${name}-own`, own);
      const found = await statuses(...Array.from({ length: allowed + 1 }, () => [key] as const));
      assert.deepEqual(found, [...Array.from({ length: allowed }, () => 200), 429]);
    });
  }

  it('rate: a key without a user is a user of its own', async () => {
    const [one, two] = [
      create('no-user-1', [], { organization: 'each' }),
      create('no-user-2', [], { organization: 'each' }),
    ];
    assert.deepEqual(await statuses([one], [two], [one], [two]), [200, 200, 429, 429]);
  });

  it('rate: each user of an organization has a rate, and a user has a rate', async () => {
    const [ann, bob] = [
      create('ann-1', [], { organization: 'each', user: 'ann' }),
      create('bob-1', [], { organization: 'each', user: 'bob' }),
    ];
    assert.deepEqual(await statuses([ann], [bob], [ann]), [200, 200, 429]);
    const [eve1, eve2] = [create('eve-1', [], { user: 'eve' }), create('eve-2', [], { user: 'eve' })];
    assert.deepEqual(await statuses([eve1], [eve2], [eve1]), [200, 200, 429]);
  });

  it('rate: of a model counts that model only', async () => {
    const key = create('models', [{ requests: 1, model: 'chat/*' }]);
    assert.deepEqual(await statuses([key], [key], [key, 'messages/free']), [200, 429, 200]);
    const other = create('others');
    assert.deepEqual(
      await statuses([other, 'messages/free'], [other, 'messages/free'], [other, 'messages/free']),
      [200, 200, 429],
    );
  });

  it('rate: tokens are estimated at the start and corrected at the end', async () => {
    const key = create('tokens', [{ tokens: 60, model: '*' }]);
    const first = await send(key);
    assert.equal(first.status, 200);
    assert.ok(Number(first.headers.get('x-ratelimit-remaining-tokens')) > 0);
    // Answers of the simulated upstream have 18 tokens.
    const after = [];
    for (let n = 0; n < 4; n += 1) after.push((await send(key)).status);
    assert.deepEqual(after, [200, 200, 429, 429]);
    const refused = await send(key);
    assert.match(refused.message, /60 tokens per minute/);
    assert.ok(Number(refused.headers.get('retry-after')) > 50);
  });

  it('rate: a request that is larger than the tokens of a minute is served if nothing else was used', async () => {
    const key = create('large', [{ tokens: 10, model: '*' }]);
    assert.deepEqual(await statuses([key], [key]), [200, 429]);
  });

  it('rate: requests at a time are limited, and each end frees a place, also of a broken one', async () => {
    const key = create('parallel', [{ parallel: 2, model: '*' }]);
    const stall = () => {
      const stop = new AbortController();
      const answer = fetch(`${gateway.url}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...key },
        body: JSON.stringify(
          chatRequest('chat/free', {
            stream: true,
            messages: [{ role: 'user', content: '[[scenario:stall-mid-stream]]' }],
          }),
        ),
        signal: stop.signal,
      });
      return { stop, answer };
    };
    const [one, two] = [stall(), stall()];
    assert.deepEqual([(await one.answer).status, (await two.answer).status], [200, 200]);
    const refused = await send(key);
    assert.equal(refused.status, 429);
    assert.match(refused.message, /2 requests at a time/);
    one.stop.abort();
    let status = 429;
    while (status === 429) ({ status } = await send(key));
    assert.equal(status, 200);
    two.stop.abort();
  });
});
