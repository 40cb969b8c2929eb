import assert from 'node:assert/strict';
import * as z from 'zod';
import { configSchema } from '../../src/config/schema/schema.ts';
import { buildTestRegistry, loadTestSettings } from '../catalog/test-registry.ts';

type Tree = Readonly<Record<string, unknown>>;

const LIMITS = { budgets: [{ usd: 1 }], rates: [{ requests: 1 }] };
/** Has each object of the schema that has defaults, without the members that have one. */
const BASE: Tree = {
  catalog: {},
  provider: { p: { options: { baseURL: 'https://x.example/v1' }, models: { m: {} } } },
  gateway: {
    listen: {},
    admin: {},
    ...LIMITS,
    users: { u: LIMITS },
    organizations: { o: LIMITS },
    telemetry: { endpoint: 'http://127.0.0.1:4318' },
    pools: { 't/p': { models: ['p/m'] } },
  },
};

/** A value that is not the default, by name of the member. */
const OTHERS: Tree = {
  refresh: false,
  npm: '@ai-sdk/anthropic',
  timeout: 1,
  host: 'localhost',
  port: 1,
  session: '1h',
  maxBodyBytes: 1,
  connectionAge: '1h',
  model: 'p/*',
  period: 'day',
  timeZone: 'Europe/Berlin',
  mode: 'hard',
  state: 'postgres://db/svc',
  maxStale: '1h',
  serviceName: 'x',
  sample: 0.5,
  strategy: 'latency',
  affinity: false,
};

interface Found {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The members of the schema that have a default. @throws if one of their objects is not in `BASE`. */
function findDefaults(schema: z.core.$ZodType, node: unknown, path: readonly string[] = []): readonly Found[] {
  if (schema instanceof z.ZodDefault) return [{ path, value: schema.def.defaultValue }];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return findDefaults(schema.def.innerType, node, path);
  if (schema instanceof z.ZodUnion) return schema.def.options.flatMap((each) => findDefaults(each, node, path));
  if (schema instanceof z.ZodArray) return inside(path, Object.entries(listOf(node)), () => schema.def.element);
  if (schema instanceof z.ZodRecord) return inside(path, Object.entries(objectOf(node)), () => schema.def.valueType);
  if (!(schema instanceof z.ZodObject)) return [];
  const members = Object.keys(schema.shape).map((name) => [name, objectOf(node)[name]] as const);
  return inside(path, members, (name) => schema.shape[name]);
}

function inside(
  path: readonly string[],
  members: readonly (readonly [name: string, node: unknown])[],
  schemaOf: (name: string) => z.core.$ZodType,
): readonly Found[] {
  return members.flatMap(([name, node]) => findDefaults(schemaOf(name), node, [...path, name]));
}

const objectOf = (node: unknown): Tree =>
  typeof node === 'object' && node !== null && !Array.isArray(node) ? Object.fromEntries(Object.entries(node)) : {};
const listOf = (node: unknown): readonly unknown[] => (Array.isArray(node) ? node : []);

/** `BASE` with one more member. */
function withMember({ path }: Found, value: unknown): Tree {
  const tree = structuredClone(BASE);
  let at: unknown = tree;
  for (const name of path.slice(0, -1)) at = Reflect.get(Object(at), name);
  assert.ok(typeof at === 'object' && at !== null, `BASE has no ${path.join('.')}`);
  Reflect.set(at, path.at(-1) ?? '', value);
  return tree;
}

/** What the program uses. Places and credentials are left out. */
async function effective(mine: Tree): Promise<string> {
  const { gateway, catalog } = await loadTestSettings({ mine });
  const { models } = await buildTestRegistry({ mine });
  const left = new Set(['origin', 'source', 'line', 'column']);
  return JSON.stringify({ gateway, catalog, models }, (name, value: unknown) => {
    if (left.has(name)) return undefined;
    return value instanceof Map ? [...value] : value;
  });
}

describe('defaults of the schema', () => {
  const found = findDefaults(configSchema, BASE);

  it('are all examined', () => {
    const names = new Set(found.map(({ path }) => path.at(-1)));
    assert.deepEqual([...names].sort(), Object.keys(OTHERS).sort());
  });

  for (const each of found) {
    it(`${each.path.join('.')}: without it, the program uses the default of the schema`, async () => {
      const absent = await effective(BASE);
      assert.equal(await effective(withMember(each, each.value)), absent);
      const other = OTHERS[each.path.at(-1) ?? ''];
      assert.notEqual(other, each.value);
      assert.notEqual(await effective(withMember(each, other)), absent);
    });
  }
});
