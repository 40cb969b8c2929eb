import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findControl, foldText, showUnseen } from '../../src/chat/tools/visible-text.ts';

describe('visible text before an approval', () => {
  it('visibleText: names control, format and other invisible characters', () => {
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (!/[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u.test(character)) continue;
      if (character === '\n' || character === '\t') continue;
      assert.match(showUnseen(`a${character}b`), /^a⟨U\+[\dA-F]{4,6}⟩b$/);
    }
    assert.equal(showUnseen('a\n\tb é 漢 👋'), 'a\n\tb é 漢 👋');
  });

  it('visibleText: finds the control characters that make a command invalid', () => {
    for (const control of ['\r', '\u0015', '\u0001', '\u001b', '\u0000', '\u007f', '\u0085', '\u009b']) {
      assert.match(findControl(`echo a${control}b`) ?? '', /^U\+00/);
    }
    assert.equal(findControl('a\n\tb !!'), undefined);
  });

  it('visibleText: shows the end of a long text and the number of omitted characters', () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n');
    const { head, rest } = foldText(text, 18, 90);
    assert.equal(head.split('\n').length, 13);
    assert.match(rest?.tail ?? '', /line 99$/);
    assert.equal(rest?.lines, 82);
    assert.equal(foldText(`echo ${' '.repeat(5000)}; rm -r x`, 18, 90).rest?.tail.endsWith('; rm -r x'), true);
    assert.equal(foldText('a\nb', 18, 90).rest, undefined);
  });

  it('visibleText: contains the whole text and nothing else', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 60 }), fc.integer({ min: 2, max: 20 }), (lines, rows) => {
        const text = lines.join('\n');
        const { head, rest } = foldText(text, rows, 10);
        if (!rest) return assert.equal(head, text);
        assert.ok(text.startsWith(head) && text.endsWith(rest.tail));
        assert.equal(head.length + rest.characters + rest.tail.length, text.length);
      }),
    );
  });
});
