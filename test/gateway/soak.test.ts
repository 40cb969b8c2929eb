import assert from 'node:assert/strict';
import { gatewayPart } from '../soak/gateway-part.ts';

describe('gateway soak test', () => {
  it('gateway soak: answers all requests without leaks and accounts for them (seconds of `npm run soak`)', async () => {
    const rows = await gatewayPart.run({ seconds: 2, seed: 7, scale: 'short', progress: () => undefined });
    assert.deepEqual(
      rows.filter(({ holds }) => !holds),
      [],
    );
  });
});
