import assert from 'node:assert/strict';
import { withoutKeys } from '../../src/gateway/http/redact-path.ts';
import { assertLinear } from '../linear-time.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { hashKey } from './state-under-test.ts';
import { until } from './until.ts';

const OWN = 'svc_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmF';
const encoded = (text: string) =>
  [...text].map((character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
const again = (text: string) => text.replaceAll('%', '%25');

const SPELLINGS: Readonly<Record<string, (key: string) => string>> = {
  unchanged: (key) => key,
  'with its first character encoded': (key) => encoded(key[0] ?? '') + key.slice(1),
  'with its underscore encoded': (key) => key.replace('_', '%5F'),
  'all encoded': encoded,
  'in capitals': (key) => encoded(key).toUpperCase(),
  'encoded twice': (key) => again(encoded(key)),
  'encoded five times': (key) => again(again(again(again(encoded(key))))),
  'encoded nine times': (key) => again(again(again(again(again(again(again(again(encoded(key))))))))),
  'next to an invalid escape': (key) => `%zz%${encoded(key)}%f`,
};

describe('keys in the logged path', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());

  for (const [how, spell] of Object.entries(SPELLINGS)) {
    it(`redact path: the log does not contain the key: ${how}`, async () => {
      const before = gateway.lines.length;
      for (const path of [
        ...[`/chat/${spell(OWN)}`, `/chat/completions/${spell(OWN)}/x`, `/${'x'.repeat(190)}/${spell(OWN)}`],
        ...[`/none?key=${spell(OWN)}`, `/models?api_key=${spell(OWN)}`, `/v1/models/${spell(OWN)}`],
      ]) {
        await (await gateway.get(path)).text();
        await (await gateway.post(path, {})).text();
      }
      await until('no request is active', () => gateway.active === 0);
      let logged = gateway.lines.slice(before).join('\n');
      assert.ok(logged.includes('"request"'));
      for (let times = 0; times < 10; times += 1) {
        // A start of the key that is long enough to guess the rest.
        assert.ok(!logged.includes(OWN.slice(0, 14)), logged);
        logged = logged.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
      }
    });
  }

  it('redact path: a fixed key is removed, and other paths are unchanged', () => {
    const fixed = 'operator.key-of-no-form';
    const principal = { name: 'operator', operator: true };
    const keys = { find: (hash: string) => (hash === hashKey(fixed) ? principal : undefined) };
    for (const spell of Object.values(SPELLINGS)) {
      assert.match(withoutKeys(`/a/${spell(fixed)}/b`, keys), /\[redacted\]/);
      assert.match(withoutKeys(`/a?key=${spell(fixed)}&b`, keys), /\[redacted\]/);
    }
    assert.equal(withoutKeys('/v1/chat/complétions%20x', keys), '/v1/chat/complétions%20x');
    assert.equal(withoutKeys(`/${'x'.repeat(300)}`, keys).length, 200);
  });

  it('redact path: takes linear time', () =>
    assertLinear(
      20_000,
      (size) => `/${'%2525'.repeat(size)}/${'a'.repeat(size)}${'svc_'.repeat(size)}`,
      (path) => withoutKeys(path, { find: () => undefined }),
    ));
});
