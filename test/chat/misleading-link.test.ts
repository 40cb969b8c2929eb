import assert from 'node:assert/strict';
import { isMisleadingLink } from '../../src/chat/page/misleading-link.ts';
import { assertLinear } from '../linear-time.ts';

const EVIL = 'https://evil.example/';

describe('misleading links', () => {
  for (const [href, shown, expected] of [
    ['https://example.com/docs', 'the documentation', false],
    ['https://example.com/docs', 'https://example.com/', false],
    ['https://www.example.com/docs', 'example.com/docs', false],
    ['https://EXAMPLE.com/', 'Example.com', false],
    ['https://example.com:8443/a', 'see https://example.com:8443/a.', false],
    ['https://example.com/v1.2.3', 'version 1.2.3 and v2.0', false],
    ['https://example.com/', 'change src/main.ts and package.json', false],
    ['https://example.com/', 'Node.js, e.g. and so on ...', false],
    ['https://example.com/', 'and/or a::b foo()', false],
    ['mailto:someone@example.com', 'write to us', false],
    ['mailto:someone@example.com', 'Someone@example.com', false],
    ['mailto:someone@example.com', 'other@example.com', true],
    ['mailto:someone@evil.example', 'someone@example.com', true],
    [EVIL, 'https://example.com/', true],
    [EVIL, 'www.example.com', true],
    [EVIL, 'open example.com now', true],
    [EVIL, 'evil.example (mirror of example.com)', true],
    [EVIL, '(example.com)', true],
    [EVIL, 'example\u200b.com', true],
    [EVIL, 'exa\u00admple.com', true],
    [EVIL, 'example\uff0ecom', true],
    [EVIL, 'example\u3002com', true],
    [EVIL, 'ｅｘａｍｐｌｅ.com', true],
    [EVIL, '//example.com/a', true],
    [EVIL, '//localhost/a', true],
    [EVIL, 'http://localhost:3000', true],
    [EVIL, '192.168.0.1', true],
    [EVIL, 'admin@example.com', true],
    [EVIL, 'https://admin@example.com', true],
    [EVIL, 'README.md', true],
    ['https://example.com.evil.example/', 'example.com', true],
    ['https://example.com@evil.example/', 'example.com', true],
    ['https://xn--exmple-cua.com/', 'the documentation', true],
    ['https://exаmple.com/', 'the documentation', true],
  ] as const) {
    it(`misleading link: “${shown}” to ${href} is ${expected ? 'misleading' : 'not misleading'}`, () => {
      assert.equal(isMisleadingLink(href, shown), expected);
    });
  }

  for (const piece of ['a.', '@', '//', '.a@', 'a b.', '.:-', '\u0301']) {
    it(`misleading link: a long text of ${JSON.stringify(piece)} takes linear time`, () =>
      assertLinear(
        50_000,
        (length) => piece.repeat(length),
        (text) => isMisleadingLink(EVIL, text),
      ));
  }
});
