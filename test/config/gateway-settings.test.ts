import assert from 'node:assert/strict';
import * as z from 'zod';
import { gatewaySchema, poolSchema } from '../../src/config/schema/schema.ts';
import { readGateway } from '../../src/config/settings/gateway-settings.ts';
import { toTree } from '../../src/config/settings/tree.ts';
import { ProjectFolder } from './project-folder.ts';

const place = {
  source: { kind: 'global', path: '/svc.json', trusted: true, status: 'loaded' },
  ...{ line: 1, column: 1, length: 1 },
} as const;

describe('settings of the gateway', () => {
  it('defaults: one that is changed in the schema is changed in the settings', () => {
    const changed = gatewaySchema.extend({
      maxBodyBytes: z.int().default(7),
      connectionAge: z.string().default('9m'),
      maxStale: z.string().default('2h'),
      pools: z.record(z.string(), poolSchema.safeExtend({ affinity: z.boolean().default(false) })).optional(),
    });
    const pool = { models: ['a/m'] };
    const { maxBodyBytes, connectionAge, maxStale, pools } = readGateway(
      toTree({ pools: { 'team/large': pool } }, place),
      changed,
    );
    assert.deepEqual([maxBodyBytes, connectionAge, maxStale], [7, 540_000, 7_200_000]);
    assert.deepEqual(pools.get('team/large'), { ...pool, strategy: 'weighted', affinity: false });
  });

  it('defaults: a section without members has those of the schema', async () => {
    using folder = new ProjectFolder();
    folder.global({ gateway: { admin: true, budgets: [{ usd: 5 }], rates: [{ requests: 60 }] } });
    const { gateway } = await folder.load();
    assert.deepEqual(gateway.listen, { host: '127.0.0.1', port: 4180 });
    assert.deepEqual([gateway.maxBodyBytes, gateway.maxBufferedBytes], [25_165_824, undefined]);
    assert.deepEqual([gateway.connectionAge, gateway.maxStale], [300_000, 900_000]);
    assert.deepEqual([gateway.admin?.sessionMs, gateway.rateStore, gateway.state], [43_200_000, 'state', undefined]);
    assert.deepEqual(gateway.limits, {
      budgets: [{ usd: 5, period: 'total', timeZone: 'UTC', mode: 'soft', model: '*' }],
      rates: [{ requests: 60, model: '*' }],
    });
    assert.deepEqual(gateway.retention, { usage: Number.POSITIVE_INFINITY, rollup: Number.POSITIVE_INFINITY });
  });

  it('unknown members have no effect on those beside them, at any depth', async () => {
    using folder = new ProjectFolder();
    folder.global({
      gateway: {
        color: 1,
        listen: { port: 4999, socket: 'x' },
        organizations: {
          a: { color: 1, policy: { deny: ['x/*'], color: 1 }, budgets: [{ usd: 1, color: 1 }, { usd: 2 }] },
        },
        aliases: { __proto__x: 'a/m' },
      },
    });
    const { gateway } = await folder.load();
    assert.deepEqual(gateway.listen, { host: '127.0.0.1', port: 4999 });
    const organization = gateway.organizations.get('a');
    assert.deepEqual(organization?.policy.deny, ['x/*']);
    assert.deepEqual(
      organization?.limits.budgets.map(({ usd }) => usd),
      [1, 2],
    );
    assert.deepEqual([...gateway.aliases], [['__proto__x', 'a/m']]);
  });

  it('values that do not fit beside those of another source are left out, and nothing else is', async () => {
    using folder = new ProjectFolder();
    folder.global({
      gateway: { listen: { port: 4999 }, pools: { 'team/large': { models: ['a/m', 'a/n'], weights: [3, 1] } } },
    });
    folder.env.SVC_CONFIG_CONTENT = JSON.stringify({ gateway: { pools: { 'team/large': { models: ['a/m'] } } } });
    const { gateway } = await folder.load();
    assert.equal(gateway.listen.port, 4999);
    assert.deepEqual(gateway.pools.get('team/large'), { models: ['a/m'], strategy: 'weighted', affinity: true });
  });
});
