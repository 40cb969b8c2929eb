import assert from 'node:assert/strict';
import { errorBody } from '../../src/wire/errors/error-body.ts';
import {
  hideAccountProblem,
  retryAfterMs,
  vendorError,
  vendorErrorValue,
} from '../../src/wire/errors/vendor-errors.ts';
import { CONTEXT_ERRORS, ERROR_BODIES, NAMED_WAITS, PAYMENT_ERRORS, QUOTA_ERRORS } from '../upstream/error-bodies.ts';

describe('errors of vendors', () => {
  for (const [vendor, { status, body, limit }] of Object.entries(CONTEXT_ERRORS)) {
    it(`vendor errors: recognises a context overflow of ${vendor}`, () => {
      const error = vendorError({ provider: 'p', status, bodyText: JSON.stringify(body), byok: true });
      assert.deepEqual([error.status, error.errorType], [400, 'context_length_exceeded']);
      assert.match(error.message, /context/);
      if (limit) assert.match(error.message, new RegExp(`maximum context length is ${limit} tokens`));
    });
  }

  it('vendor errors: other invalid requests are not context overflows', () => {
    for (const message of [
      'Invalid value for temperature',
      'Unknown field: context',
      'max_tokens is too large: 99999',
    ]) {
      const error = vendorError({
        provider: 'p',
        status: 400,
        bodyText: JSON.stringify({ error: { message } }),
        byok: true,
      });
      assert.equal(error.errorType, 'invalid_request', message);
    }
  });

  for (const [vendor, body] of Object.entries(ERROR_BODIES)) {
    it(`vendor errors: reads the error of ${vendor}`, () => {
      assert.match(
        vendorError({ provider: 'p', status: 400, bodyText: JSON.stringify(body), byok: true }).message,
        /^Nope\./,
      );
    });
  }

  it('vendor errors: a server that loads its model gets time for it', () => {
    const read = (status: number, message: string) =>
      vendorError({ provider: 'p', status, bodyText: JSON.stringify({ error: { message } }), byok: true });
    const loading = read(503, 'Loading model');
    assert.deepEqual([loading.retryable, loading.retryAfterMs], [true, 10_000]);
    assert.equal(read(503, 'Service Unavailable').retryAfterMs, undefined);
    assert.equal(read(500, 'model requires more system memory (11.1 GiB) than is available').retryable, false);
    assert.equal(read(500, 'llama runner process has terminated').retryable, true);
  });

  it('vendor errors: the message does not contain a web page', () => {
    const error = vendorError({
      provider: 'p',
      status: 502,
      bodyText: '<!DOCTYPE html><h1>Bad Gateway</h1>',
      byok: true,
    });
    assert.equal(error.message, 'p answered with status 502 and no explanation.');
    assert.equal(error.retryable, true);
  });

  it('vendor errors: a status that is neither success nor error is reported unchanged', () => {
    for (const status of [204, 304, 302]) {
      const error = vendorError({ provider: 'p', status, bodyText: '', byok: true });
      assert.deepEqual([error.status, error.errorType], [503, 'upstream_error']);
      assert.equal(error.message, `p answered with status ${status} and no explanation.`);
    }
  });

  it("vendor errors: payment and access problems of the service's account are hidden (spec 7.1)", () => {
    for (const status of [401, 402, 403]) {
      const own = vendorError({
        provider: 'p',
        status,
        bodyText: '{"error":{"message":"key sk-123 is wrong"}}',
        byok: false,
      });
      assert.deepEqual([own.status, own.errorType, own.upstreamStatus], [503, 'temporarily_unavailable', status]);
      assert.doesNotMatch(own.message, /sk-123/);
      assert.equal(vendorError({ provider: 'p', status, bodyText: '', byok: true }).status, status);
    }
  });

  for (const [vendor, { status, body }] of Object.entries(PAYMENT_ERRORS)) {
    // As an answer, and inside a stream.
    for (const sentWith of new Set([status, 200])) {
      it(`vendor errors: recognises an account without funds at ${vendor}, with status ${sentWith}`, () => {
        const failure = { provider: 'p', status: sentWith, bodyText: JSON.stringify(body) };
        const error = vendorError({ ...failure, byok: true });
        assert.deepEqual([error.status, error.errorType], [402, 'insufficient_credits']);
        const hidden = vendorError({ ...failure, byok: false });
        assert.deepEqual([hidden.status, hidden.hiddenProblem], [503, 'insufficient_credits']);
        assert.doesNotMatch(JSON.stringify(errorBody(hidden)), /billing|credit|quota|spend|limit/i);
      });
    }
  }

  for (const [vendor, { status, body, waitMs }] of Object.entries(QUOTA_ERRORS)) {
    it(`vendor errors: recognises a quota that is used up for long (${vendor})`, () => {
      const error = vendorError({ provider: 'p', status, bodyText: JSON.stringify(body), byok: false });
      assert.deepEqual([error.status, error.errorType, error.quotaUsedUp], [429, 'rate_limit_exceeded', true]);
      assert.deepEqual([error.retryable, error.retryAfterMs], [false, waitMs]);
    });
  }

  for (const [what, body, waitMs] of NAMED_WAITS) {
    it(`vendor errors: the wait in the body (${what}) is ${waitMs} ms`, () => {
      const bodyText = JSON.stringify(body);
      const error = vendorError({ provider: 'p', status: 429, bodyText, byok: true });
      assert.deepEqual(
        [error.errorType, error.retryAfterMs, error.quotaUsedUp],
        ['rate_limit_exceeded', waitMs, false],
      );
      // Inside a stream; lists are answers only.
      const { error: value } = (Array.isArray(body) ? body[0] : body) as { error?: unknown };
      if (typeof value === 'object') assert.equal(vendorErrorValue(value).retryAfterMs, waitMs);
      const header = () => '3';
      assert.equal(vendorError({ provider: 'p', status: 429, header, bodyText, byok: true }).retryAfterMs, 3);
    });
  }

  it('vendor errors: a named date is the end of the wait', () => {
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    for (const [words, time] of [
      [`You will regain access on ${day} at 06:30 UTC.`, `${day}T06:30:00Z`],
      [`The limit resets at ${day}T06:30:00.000Z`, `${day}T06:30:00Z`],
      [`The limit resets on ${day} 06:30 +02:00`, `${day}T04:30:00Z`],
      [`Try again after ${day}.`, `${day}T00:00:00Z`],
    ] as const) {
      const before = Date.now();
      const { retryAfterMs: wait = 0 } = vendorErrorValue({ code: 429, message: words });
      const [latest, earliest] = [Date.parse(time) - before, Date.parse(time) - Date.now()];
      assert.ok(wait <= latest && wait >= earliest, `${words}: ${wait}`);
    }
  });

  it('vendor errors: other invalid requests and rate limits are not payment problems', () => {
    const cases = [
      { status: 400, error: { message: 'Unknown field: credit balance', type: 'invalid_request_error' } },
      { status: 429, error: { message: 'Rate limit reached. Visit your billing page.', code: 'rate_limit_exceeded' } },
    ];
    for (const { status, error } of cases) {
      const bodyText = JSON.stringify({ error });
      assert.equal(vendorError({ provider: 'p', status, bodyText, byok: false }).status, status);
    }
  });

  it('vendor errors: a hidden problem keeps its code for the log only', () => {
    const bodyText = '{"error":{"message":"acct_1 has no funds","code":"no_funds"}}';
    const error = vendorError({ provider: 'p', status: 402, bodyText, byok: true });
    const hidden = hideAccountProblem(error);
    assert.deepEqual([hidden.code, hidden.provider, hidden.upstreamStatus], ['no_funds', 'p', 402]);
    assert.doesNotMatch(JSON.stringify(errorBody(hidden)), /acct_1|no_funds/);
    assert.match(JSON.stringify(errorBody(error)), /"code":"no_funds"/);
  });

  const now = Date.parse('2026-01-01T00:00:00Z');
  const waits: readonly (readonly [Record<string, string>, number | undefined])[] = [
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' }, 86_400_000],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '99999999999' }, 86_400_000],
    [{ 'retry-after': '9', 'retry-after-ms': '250' }, 250],
    [{}, undefined],
  ];
  for (const [headers, expected] of waits) {
    it(`retryAfterMs: reads ${JSON.stringify(headers)} as ${expected} ms`, () => {
      assert.equal(
        retryAfterMs((name) => headers[name], now),
        expected,
      );
    });
  }

  it('errorBody: clients of all three formats can read it', () => {
    const error = vendorError({ provider: 'p', status: 429, bodyText: '{"error":{"message":"Slow."}}', byok: true });
    const chat = errorBody(error);
    assert.deepEqual(chat, {
      error: {
        message: 'Slow.',
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        param: null,
        error_type: 'rate_limit_exceeded',
      },
      error_type: 'rate_limit_exceeded',
      message: 'Slow.',
    });
    assert.equal(errorBody(error, 'messages').type, 'error');
  });
});
