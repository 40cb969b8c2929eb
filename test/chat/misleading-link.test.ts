import assert from 'node:assert/strict';
import { isMisleadingLink } from '../../src/chat/page/misleading-link.ts';

describe('isMisleading', () => {
  for (const [href, shown, expected] of [
    ['https://example.com/docs', 'the documentation', false],
    ['https://example.com/docs', 'https://example.com/', false],
    ['https://www.example.com/docs', 'example.com/docs', false],
    ['https://EXAMPLE.com/', 'Example.com', false],
    ['mailto:someone@example.com', 'write to us', false],
    ['https://evil.example/', 'https://example.com/', true],
    ['https://evil.example/', 'www.example.com', true],
    ['https://example.com.evil.example/', 'example.com', true],
    ['https://example.com@evil.example/', 'example.com', true],
    ['https://xn--exmple-cua.com/', 'the documentation', true],
    ['https://exаmple.com/', 'the documentation', true],
  ] as const) {
    it(`misleading link: “${shown}” to ${href} is ${expected ? 'misleading' : 'not misleading'}`, () => {
      assert.equal(isMisleadingLink(href, shown), expected);
    });
  }
});
