import assert from 'node:assert/strict';
import { CredentialFilter } from '../../src/provider/credential-filter.ts';
import { assertLinear } from '../linear-time.ts';

const KEY = 'sk-canary/8f2d1c+slash==';
const OTHER = 'canary-of-a-header-31d7e2';
const HEADERS = { authorization: `Bearer ${KEY}`, 'x-own': OTHER, 'user-agent': 'svc', 'x-title': 'My application' };

const escaped = (text: string, upper = false) =>
  [...text]
    .map((character) => {
      const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${upper ? hex.toUpperCase() : hex}`;
    })
    .join('');

/** Spellings of a credential in JSON. */
const SPELLINGS: Readonly<Record<string, string>> = {
  unchanged: KEY,
  'of another header': OTHER,
  'with an escaped slash': KEY.replace('/', '\\/'),
  'with an escaped plus': KEY.replace('+', '\\u002B'),
  'with an escaped slash and equals sign': KEY.replace('/', '\\u002f').replaceAll('=', '\\u003d'),
  'all escaped': escaped(KEY),
  'all escaped in capitals': escaped(KEY, true),
};

function filtered(pieces: readonly string[], headers: Record<string, string> = HEADERS): string {
  const filter = new CredentialFilter(headers);
  const passed = pieces.map((piece) => filter.push(Buffer.from(piece)));
  return Buffer.concat([...passed, filter.end() ?? Buffer.alloc(0)]).toString();
}

describe('credential filter', () => {
  for (const [how, spelling] of Object.entries(SPELLINGS)) {
    const answer = `{"a":"é ${spelling} 👋 ${spelling.slice(0, 9)}"}`;
    const clean = `{"a":"é [redacted] 👋 ${spelling.slice(0, 9)}"}`;

    it(`credential filter: removes a credential ${how}, for any split of the answer`, () => {
      const bytes = Buffer.from(answer);
      for (let at = 0; at <= bytes.length; at += 1) {
        const filter = new CredentialFilter(HEADERS);
        const passed = [filter.push(bytes.subarray(0, at)), filter.push(bytes.subarray(at))];
        assert.equal(Buffer.concat([...passed, filter.end() ?? Buffer.alloc(0)]).toString(), clean, `cut at ${at}`);
      }
    });

    it(`credential filter: removes a credential ${how}, byte by byte, twice in a row and at the end`, () => {
      assert.equal(filtered([...answer]), clean);
      assert.equal(filtered([...(spelling + spelling)]), '[redacted][redacted]');
      assert.equal(new CredentialFilter(HEADERS).whole(Buffer.from(answer)).toString(), clean);
    });
  }

  it('credential filter: neither buffers nor copies text without a credential', () => {
    const filter = new CredentialFilter(HEADERS);
    for (const text of ['data: {"a":"\\u00e9 \\/ sk-can"}\n\n', 'data: \r\r', '{"a":1}']) {
      const bytes = Buffer.from(text);
      assert.equal(filter.push(bytes), bytes);
    }
    assert.equal(
      filtered(['{"a":"sk-can', 'non and My application, svc"}']),
      '{"a":"sk-cannon and My application, svc"}',
    );
    assert.equal(filtered(['ends with sk-']), 'ends with sk-');
  });

  it('credential filter: a credential that is a common word is not removed', () => {
    const said = 'I run on ollama at https://app1.example.com/chat in europe-west-1b, by 2024-10-21-preview';
    const headers = {
      authorization: 'Bearer ollama',
      'http-referer': 'https://app1.example.com/chat',
      'x-region': 'europe-west-1b',
      'api-version': '2024-10-21-preview',
    };
    assert.equal(filtered([said], headers), said);
  });

  for (const [what, make] of [
    ['text', (size: number) => 'sk-canary/8f2d1c '.repeat(size)],
    ['credentials', (size: number) => KEY.repeat(size)],
    ['escapes', (size: number) => '\\u0073\\u006b\\/'.repeat(size)],
  ] as const) {
    it(`credential filter: takes linear time in the ${what}`, () =>
      assertLinear(
        100_000,
        (size) => Buffer.from(make(size)),
        (bytes) => new CredentialFilter(HEADERS).push(bytes),
      ));
  }
});
