import assert from 'node:assert/strict';
import { isMisleadingLink } from '../../src/chat/page/misleading-link.ts';

describe('a link in an answer', () => {
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
    it(`${expected ? 'misleads' : 'is what it says'}: “${shown}” to ${href}`, () => {
      assert.equal(isMisleadingLink(href, shown), expected);
    });
  }
});
