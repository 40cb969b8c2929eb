import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { errorWords, SENTENCES } from '../../src/chat/error-words.ts';
import { networkError } from '../../src/provider/network-failure.ts';
import { vendorError } from '../../src/wire/vendor-errors.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const GERMAN: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(ROOT, 'l10n', 'bundle.l10n.de.json'), 'utf8'),
);

const fill = (text: string, ...values: readonly string[]) =>
  text.replace(/\{(\d)\}/g, (_whole, at: string) => values[Number(at)] ?? '');
const german = (text: string) => errorWords(text, (sentence, ...values) => fill(GERMAN[sentence] ?? '', ...values));

/** Files whose errors the editor shows; the gateway's clients are told in English. */
const SOURCES = [
  ...['src/catalog/select.ts', 'src/catalog/address.ts', 'src/chat/asking.ts', 'src/extension/chat/ask.ts'],
  ...readdirSync(join(ROOT, 'src/provider')).map((name) => `src/provider/${name}`),
  ...readdirSync(join(ROOT, 'src/wire'))
    .filter((name) => /reader|request-writer|vendor-errors|sse|fim-answer|tool-calls|\berrors\b/.test(name))
    .map((name) => `src/wire/${name}`),
];

/** What stands for one of a few words, which the translation has each by itself. */
const WORDS: Readonly<Record<string, string>> = { 'MEDIA[part.type]': 'files', what: 'image', hint: '' };

/** Literals that read as a sentence, with something in the place of each value. */
function sentencesIn(file: string): readonly string[] {
  const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(
    /^\s*(?:\/\/|\/?\*).*$|new DOMException\([^)]*\)/gm,
    '',
  );
  return [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)]
    .map(([, single, template]) => single ?? template ?? '')
    .map((text) =>
      text
        .replaceAll(/\\(.)/g, '$1')
        .replaceAll(/\$\{([^{}]*)\}/g, (_whole, value: string) => WORDS[value] ?? 'some thing'),
    )
    .filter((text) => /^["`\p{Lu}s].* .* .*\.$/u.test(text));
}

describe('the words of errors', () => {
  it('are known to the translation wherever the editor can meet them', () => {
    const found = SOURCES.flatMap((file) => sentencesIn(file).map((text) => ({ file, text })));
    assert.ok(found.length > 30, `only ${found.length} sentences were found`);
    assert.deepEqual(
      found.filter(({ text }) => german(text) === text),
      [],
    );
  });

  it('say the same in English, whatever stands in them', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    const text = fc
      .tuple(fc.constantFrom(...SENTENCES, '{0}'), fc.array(value, { minLength: 3, maxLength: 3 }))
      .map(([sentence, values]) => fill(sentence, ...values));
    fc.assert(fc.property(text, (said) => errorWords(said, fill) === said));
  });

  it('leave what a provider said as it came', () => {
    const failure = { provider: 'acme', bodyText: '{"error":{"message":"Top up at acme.example!"}}', byok: true };
    const said = (status: number) => german(vendorError({ ...failure, status }).message);
    assert.equal(said(402), 'Ihr Konto bei acme hat kein Guthaben mehr: Top up at acme.example!');
    assert.equal(said(401), 'Top up at acme.example!');
    assert.equal(
      german(vendorError({ ...failure, status: 500, bodyText: '' }).message),
      'acme hat mit Status 500 und ohne Erklärung geantwortet.',
    );
  });

  for (const code of [
    ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION'],
    ...['EWHATEVER', ''],
  ]) {
    it(`are there for the network’s ${code || 'failure without a code'}`, () => {
      const thrown = code === '' ? new Error('no') : Object.assign(new Error('no'), { code });
      const { message, action } = networkError(thrown, 'https://api.acme.example/v1');
      assert.match(message, /^api\.acme\.example /);
      const said = german(message);
      assert.notEqual(said, message);
      assert.ok(said.startsWith('api.acme.example ') && said.includes(code), said);
      assert.notEqual(german(action ?? ''), action);
    });
  }
});
