import assert from 'node:assert/strict';
import { gatewayPart } from '../soak/gateway-part.ts';

describe('the gateway under mixed load with faults', () => {
  it('answers all, leaves nothing running and accounts for everything (seconds of `npm run soak`)', async function () {
    this.timeout(60_000);
    const rows = await gatewayPart.run({ seconds: 2, seed: 7, scale: 'short', progress: () => undefined });
    assert.deepEqual(
      rows.filter(({ holds }) => !holds),
      [],
    );
  });
});
