import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import { type AttemptResult, MemberHealth } from '../../src/gateway/pools/member-health.ts';
import { orderMembers } from '../../src/gateway/pools/member-order.ts';
import type { Pool } from '../../src/gateway/pools/pools.ts';
import { promptHead } from '../../src/gateway/pools/prompt-head.ts';
import { SvcError, type SvcErrorInit } from '../../src/wire/errors/svc-error.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

function healthWithClock() {
  const clock = { ms: 1_000 };
  return { clock, health: new MemberHealth(silent, () => clock.ms) };
}

function failure(init: Partial<SvcErrorInit>): AttemptResult {
  const error = new SvcError({ errorType: 'upstream_error', message: 'x', provider: 'p', ...init });
  return { error, byok: false };
}

type Strategy = Pool['settings']['strategy'];

function order(
  health: MemberHealth,
  weights: Readonly<Record<string, number>>,
  { strategy = 'weighted', conversation }: { strategy?: Strategy; conversation?: string } = {},
): readonly string[] {
  const members = Object.entries(weights).map(([model, weight]) => ({ model, weight }));
  const settings = { models: [], weights: [], strategy, affinity: conversation !== undefined };
  const pool = { ref: 'team/x', model: 'team/x', members, settings };
  return orderMembers({ pool, members, health, name: (model) => model, conversation });
}

describe('members of a pool', () => {
  const WAITS: readonly (readonly [string, Partial<SvcErrorInit>, number])[] = [
    ['an error', { upstreamStatus: 500 }, 1_000],
    ['a rate limit', { errorType: 'rate_limit_exceeded', upstreamStatus: 429 }, 5_000],
    ['Retry-After', { errorType: 'rate_limit_exceeded', upstreamStatus: 429, retryAfterMs: 42_000 }, 42_000],
    ['a Retry-After of a day', { upstreamStatus: 429, retryAfterMs: 86_400_000 }, 600_000],
    ['a timeout', { errorType: 'upstream_timeout' }, 10_000],
    ['an account without funds', { errorType: 'insufficient_credits', upstreamStatus: 402 }, 60_000],
    ['a hidden lack of funds', { errorType: 'temporarily_unavailable', hiddenProblem: 'insufficient_credits' }, 60_000],
    ['a key that is refused', { hiddenProblem: 'authentication_required', upstreamStatus: 401 }, 60_000],
    ['a limit that ends in 5 days', { errorType: 'insufficient_credits', retryAfterMs: 432_000_000 }, 432_000_000],
    ['a quota of a day', { errorType: 'rate_limit_exceeded', quotaUsedUp: true }, 60_000],
    [
      'a quota of a day with a wait of seconds',
      { errorType: 'rate_limit_exceeded', quotaUsedUp: true, retryAfterMs: 34_000 },
      60_000,
    ],
    ['a hidden 403', { hiddenProblem: 'model_not_allowed', upstreamStatus: 403 }, 5_000],
  ];
  for (const [name, init, ms] of WAITS) {
    it(`cool-down: lasts ${ms} ms after ${name}`, () => {
      const { clock, health } = healthWithClock();
      health.begin('a').end(failure(init));
      assert.equal(health.isAvailable('a'), false);
      clock.ms += ms - 1;
      assert.equal(health.isAvailable('a'), false);
      clock.ms += 1;
      assert.equal(health.isAvailable('a'), true);
    });
  }

  it('cool-down: there is none after an error of the request, or if the client left', () => {
    const { health } = healthWithClock();
    for (const result of [failure({ errorType: 'invalid_request', upstreamStatus: 400 }), undefined]) {
      health.begin('a').end(result);
      assert.equal(health.isAvailable('a'), true);
    }
  });

  it('cool-down: after it one request tries the member, which returns when that request is answered', () => {
    const { clock, health } = healthWithClock();
    health.begin('a').end(failure({}));
    clock.ms += 1_000;
    const probe = health.begin('a');
    assert.equal(health.isAvailable('a'), false, 'others wait for the probe');
    probe.begun();
    assert.equal(health.isAvailable('a'), true, 'from its first byte');
    health.begin('a').end(failure({}));
    probe.end({ firstByteMs: 10 });
    assert.equal(health.isAvailable('a'), true);
    assert.equal(health.coolingMs('a'), 0);
  });

  it('cool-down: doubles with each failed probe up to a minute, and starts again after an answer', () => {
    const { clock, health } = healthWithClock();
    const waits: number[] = [];
    for (let failed = 0; failed < 8; failed += 1) {
      health.begin('a').end(failure({}));
      waits.push(health.coolingMs('a'));
      clock.ms += health.coolingMs('a');
    }
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    health.begin('a').end({ firstByteMs: 10 });
    health.begin('a').end(failure({}));
    assert.equal(health.coolingMs('a'), 1_000);
  });

  it('cool-down: a probe whose client leaves makes room for the next one', () => {
    const { clock, health } = healthWithClock();
    health.begin('a').end(failure({}));
    clock.ms += 1_000;
    health.begin('a').end(undefined);
    assert.equal(health.isAvailable('a'), true);
  });

  it('account: a model that is used up is left alone until the named time, and other failures are not noted', () => {
    const { clock, health } = healthWithClock();
    for (const other of [failure({}), failure({ errorType: 'rate_limit_exceeded' }), { firstByteMs: 1 }, undefined]) {
      health.noteAccount('m', other);
    }
    assert.deepEqual([health.isUsedUp('m'), health.report()], [false, []]);
    health.noteAccount('m', failure({ errorType: 'insufficient_credits', retryAfterMs: 3_600_000 }));
    clock.ms += 3_599_999;
    assert.equal(health.isUsedUp('m'), true);
    clock.ms += 1;
    assert.equal(health.isUsedUp('m'), false);
    health.noteAccount('m', failure({ errorType: 'insufficient_credits' }));
    assert.equal(health.coolingMs('m'), 120_000, 'grows');
    health.noteAccount('m', { firstByteMs: 1 });
    assert.deepEqual([health.isUsedUp('m'), health.coolingMs('m')], [false, 0]);
  });

  it('order: members that cool down come last, the one that is available soonest first', () => {
    const { health } = healthWithClock();
    health.begin('a').end(failure({ hiddenProblem: 'authentication_required', upstreamStatus: 401 }));
    health.begin('b').end(failure({}));
    for (const conversation of [undefined, 'x']) {
      assert.deepEqual(order(health, { a: 1, b: 1, c: 1 }, conversation === undefined ? {} : { conversation }), [
        'c',
        'b',
        'a',
      ]);
    }
  });

  it('order: weights are shares, at random and by conversation', () => {
    const { health } = healthWithClock();
    for (const affinity of [false, true]) {
      const first = { a: 0, b: 0, c: 0 } as Record<string, number>;
      for (let request = 0; request < 6_000; request += 1) {
        const chosen = order(health, { a: 1, b: 2, c: 3 }, affinity ? { conversation: `${request}` } : {})[0] ?? '';
        first[chosen] = (first[chosen] ?? 0) + 1;
      }
      for (const [member, share] of [
        ['a', 1 / 6],
        ['b', 2 / 6],
        ['c', 3 / 6],
      ] as const) {
        assert.ok(Math.abs((first[member] ?? 0) / 6_000 - share) < 0.03, `${member}: ${first[member]}`);
      }
    }
  });

  it('order: least-busy prefers the member with the fewest active requests for its weight', () => {
    const { health } = healthWithClock();
    for (const member of ['a', 'a', 'b', 'c', 'c', 'c']) health.begin(member);
    assert.deepEqual(order(health, { a: 1, b: 1, c: 1 }, { strategy: 'least-busy' }), ['b', 'a', 'c']);
    assert.equal(order(health, { a: 1, b: 1, c: 10 }, { strategy: 'least-busy' })[0], 'c');
  });

  it('order: latency prefers the fast member, and tries a slow one again later', () => {
    const { clock, health } = healthWithClock();
    for (let request = 0; request < 20; request += 1) {
      health.begin('slow').end({ firstByteMs: 4_000 });
      health.begin('fast').end({ firstByteMs: 200 });
    }
    assert.deepEqual(order(health, { slow: 1, fast: 1 }, { strategy: 'latency' }), ['fast', 'slow']);
    clock.ms += 90_000;
    health.begin('fast').end({ firstByteMs: 200 });
    assert.deepEqual(order(health, { slow: 1, fast: 1 }, { strategy: 'latency' }), ['slow', 'fast']);
  });

  it('order: latency sends one request at a time more to a member that has not answered yet', () => {
    const { health } = healthWithClock();
    health.begin('known').end({ firstByteMs: 100 });
    const chosen = ['known', 'new'].map(() => {
      const [first = ''] = order(health, { known: 1, new: 1 }, { strategy: 'latency' });
      health.begin(first);
      return first;
    });
    assert.deepEqual(chosen.toSorted(), ['known', 'new']);
  });

  it('order: a conversation stays at its member unless that is overloaded', () => {
    const { health } = healthWithClock();
    const first = () => order(health, { a: 1, b: 1 }, { strategy: 'least-busy', conversation: 'talk' })[0] ?? '';
    const own = first();
    for (let active = 0; active < 4; active += 1) health.begin(own);
    assert.equal(first(), own);
    health.begin(own);
    assert.notEqual(first(), own);
  });

  it('order: a member that is added or removed moves only its own conversations', () => {
    const { health } = healthWithClock();
    fc.assert(
      fc.property(
        fc.string(),
        fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 8 }),
        (talk, names) => {
          const all = Object.fromEntries(names.map((name, index) => [`m${name}`, 1 + (index % 3)]));
          const before = order(health, all, { conversation: talk });
          for (const removed of Object.keys(all)) {
            const { [removed]: _, ...rest } = all;
            assert.deepEqual(
              order(health, rest, { conversation: talk }),
              before.filter((name) => name !== removed),
            );
          }
        },
      ),
    );
  });

  const HEADS: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>, boolean])[] = [
    [
      'a later turn of Chat Completions',
      {
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: 'A' },
        ],
      },
      {
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: 'A' },
          { role: 'user', content: 'B' },
        ],
      },
      true,
    ],
    [
      'a later turn of Messages',
      { system: 'S', messages: [{ role: 'user', content: [{ type: 'text', text: 'A' }] }] },
      {
        system: 'S',
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'A' }] },
          { role: 'assistant', content: 'x' },
        ],
      },
      true,
    ],
    [
      'a later turn of Responses',
      { instructions: 'S', input: [{ role: 'user', content: 'A' }] },
      {
        instructions: 'S',
        input: [
          { role: 'user', content: 'A' },
          { type: 'function_call', name: 'f' },
        ],
      },
      true,
    ],
    [
      'another first question',
      { messages: [{ role: 'user', content: 'A' }] },
      { messages: [{ role: 'user', content: 'B' }] },
      false,
    ],
    [
      'another attribution line of Claude Code',
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cch=a' },
          { type: 'text', text: 'S' },
        ],
        messages: [],
      },
      {
        system: [
          { type: 'text', text: 'x-anthropic-billing-header: cch=b' },
          { type: 'text', text: 'S' },
        ],
        messages: [],
      },
      true,
    ],
    [
      'another prompt in the session of Claude Code',
      { metadata: { user_id: 'user_a_account__session_0123-4567' }, messages: [{ role: 'user', content: 'A' }] },
      { metadata: { user_id: 'user_a_account__session_0123-4567' }, messages: [{ role: 'user', content: 'B' }] },
      true,
    ],
    [
      'another session of the same user',
      { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: 's1' }) }, messages: [] },
      { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: 's2' }) }, messages: [] },
      false,
    ],
    ['another system prompt', { system: 'S', messages: [] }, { system: 'T', messages: [] }, false],
    ['another text of Responses', { input: 'A' }, { input: 'B' }, false],
    ['another prompt for code', { prompt: 'A' }, { prompt: 'B' }, false],
  ];
  for (const [name, one, other, same] of HEADS) {
    it(`conversation: ${same ? 'is the same' : 'is another'} for ${name}`, () => {
      assert.equal(promptHead(one) === promptHead(other), same);
    });
  }

  it('conversation: the session that a client names in a header', () => {
    const named = (name: string, session: string) =>
      promptHead({ messages: [{ role: 'user', content: session }] }, (header) => (header === name ? 's' : undefined));
    for (const name of ['session_id', 'x-session-affinity', 'x-kilocode-taskid', 'x-claude-code-session-id']) {
      assert.equal(named(name, 'a'), named(name, 'b'));
    }
    assert.notEqual(named('x-other', 'a'), named('x-other', 'b'));
  });

  it('conversation: any body has a short head, however deep it is nested', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 50_000; level += 1) deep = [deep];
    assert.ok(promptHead({ messages: [{ role: 'user', content: deep }] }).length <= 4_000);
    const long = 'x'.repeat(5_000_000);
    assert.ok(promptHead({ system: long, messages: [{ role: 'user', content: long }] }).length <= 4_000);
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => promptHead(body).length <= 4_000));
  });
});
