import assert from 'node:assert/strict';
import { STRICT_VENDORS } from '../../upstream/strict/vendors/strict-vendors.ts';
import { CHAT, CONTEXT, checkVendor, readExample } from '../../upstream/strict/vendors/vendor-refusal.ts';

/** Plain requests that each vendor of a format accepts. */
const PLAIN = {
  chat: CHAT,
  messages: { model: 'm', max_tokens: 100, messages: CHAT.messages },
  responses: { model: 'm', input: CHAT.messages, store: false },
};

describe('strict vendors', () => {
  for (const vendor of Object.values(STRICT_VENDORS)) {
    for (const refusal of vendor.refusals) {
      it(`${vendor.name} refuses ${refusal.what}`, () => {
        const { body, context } = readExample(refusal.example);
        assert.equal(typeof refusal.refuses(body, context), 'string');
        assert.notEqual(refusal.source, '');
      });
    }

    it(`${vendor.name} accepts a plain request`, () => checkVendor(vendor, PLAIN[vendor.format], CONTEXT));
  }

  it('strict vendors know at least 120 refusals', () => {
    const count = Object.values(STRICT_VENDORS).reduce((sum, { refusals }) => sum + refusals.length, 0);
    assert.ok(count >= 120, String(count));
  });
});
