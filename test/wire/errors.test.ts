import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorSources } from '../../scripts/localization.ts';
import { errorCard } from '../../src/chat/page/error-card.ts';
import { cleanError } from '../../src/provider/echoed-credentials.ts';
import { networkError } from '../../src/provider/transport/network-failure.ts';
import { asSvcError, formatMessage, type MessageText, msg, SvcError } from '../../src/wire/errors/svc-error.ts';
import { vendorError } from '../../src/wire/errors/vendor-errors.ts';

const GERMAN: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'l10n', 'bundle.l10n.de.json'), 'utf8'),
);

/** As the editor does it: the template is the key. */
function inGerman({ template, values }: MessageText): string {
  return formatMessage({ template: GERMAN[template] ?? template, values });
}

describe('SvcError', () => {
  it('SvcError: has the status of its type unless another one is set', () => {
    assert.equal(new SvcError({ errorType: 'rate_limit_exceeded', message: 'No.' }).status, 429);
    assert.equal(new SvcError({ errorType: 'model_not_found', status: 404, message: 'No.' }).status, 404);
  });

  it('SvcError: message and action are available in English and as templates with values', () => {
    const error = new SvcError({
      errorType: 'model_not_found',
      message: msg('There is no model {0}. Did you mean {1}?', 'a/b', '{0}'),
      action: msg('Run `svc models` for those that are available.'),
    });
    assert.equal(error.message, 'There is no model a/b. Did you mean {0}?');
    assert.equal(error.action, 'Run `svc models` for those that are available.');
    assert.equal(inGerman(error.text), 'Es gibt kein Modell a/b. Meinten Sie {0}?');
    const { text, adviceText } = errorCard(error, 0);
    assert.deepEqual([text, adviceText], [error.text, error.actionText]);
  });

  it('SvcError: a message string is not translated', () => {
    const error = asSvcError(new Error('Cancelled.'));
    assert.deepEqual(error.text, { template: '{0}', values: ['Cancelled.'] });
    assert.equal(inGerman(error.text), 'Cancelled.');
  });

  it('SvcError.with: keeps the other members', () => {
    const error = new SvcError({ errorType: 'invalid_request', status: 408, message: msg('{0}!', 'a'), code: 'c' });
    const other = error.with({ provider: 'acme' });
    assert.deepEqual([other.status, other.message, other.code, other.provider], [408, 'a!', 'c', 'acme']);
  });

  it("SvcError: a credential in a provider's message is removed, and the message remains translatable", () => {
    const failure = { provider: 'acme', bodyText: '{"error":{"message":"Bad sk-0123456789abcdef"}}', byok: true };
    const headers = { authorization: 'Bearer sk-0123456789abcdef' };
    const error = cleanError(vendorError({ ...failure, status: 402 }), headers);
    assert.ok(!JSON.stringify(error.text).includes('sk-0123'));
    assert.match(inGerman(error.text), /^Ihr Konto bei acme hat kein Guthaben mehr: Bad /);
  });

  it("SvcError: the text around a provider's message is translated", () => {
    const failure = { provider: 'acme', bodyText: '{"error":{"message":"Top up at acme.example!"}}', byok: true };
    const german = (status: number, bodyText = failure.bodyText) =>
      inGerman(vendorError({ ...failure, status, bodyText }).text);
    assert.equal(german(402), 'Ihr Konto bei acme hat kein Guthaben mehr: Top up at acme.example!');
    assert.equal(german(401), 'Top up at acme.example!');
    assert.equal(german(500, ''), 'acme hat mit Status 500 und ohne Erklärung geantwortet.');
  });

  for (const code of [
    ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    ...['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION'],
    ...['EWHATEVER', ''],
  ]) {
    it(`network error: is in English and German for ${code || 'a failure without a code'}`, () => {
      const thrown = code === '' ? new Error('no') : Object.assign(new Error('no'), { code });
      const error = networkError(thrown, 'https://api.acme.example/v1');
      assert.match(error.message, /^api\.acme\.example /);
      assert.ok(error.message.endsWith(code === '' ? '.' : ` (${code}).`), error.message);
      const german = inGerman(error.text);
      assert.notEqual(german, error.message);
      assert.ok(german.startsWith('api.acme.example ') && german.includes(code), german);
      assert.ok(error.actionText);
      assert.notEqual(inGerman(error.actionText), error.action);
    });
  }

  it('SvcError: errors that the editor can show use templates', () => {
    const found = errorSources().flatMap((file) => {
      const source = readFileSync(file, 'utf8');
      return [...source.matchAll(/new SvcError\(\{[^}]*?\b(?:message|action): ['"`][^\n]*/g)].map(
        ([text]) => `${file}: ${text}`,
      );
    });
    assert.deepEqual(found, []);
  });
});
