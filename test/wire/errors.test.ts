import assert from 'node:assert/strict';
import { asGatewayError, GatewayError } from '../../src/wire/errors.ts';

describe('asGatewayError', () => {
  it('keeps a GatewayError as it is', () => {
    const error = new GatewayError({ status: 429, errorType: 'rate_limit_exceeded', message: 'Slow down.' });
    assert.equal(asGatewayError(error), error);
  });

  it('keeps an unknown error as the cause', () => {
    const cause = new TypeError('broken');
    const error = asGatewayError(cause);
    assert.equal(error.errorType, 'internal_error');
    assert.equal(error.cause, cause);
  });
});
