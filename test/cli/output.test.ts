import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { forTerminal, forTerminalLine, writer } from '../../src/cli/output/output.ts';

const HOSTILE = {
  clipboard: '\u001b]52;c;ZXZpbA==\u0007',
  title: '\u001b]0;title\u001b\\',
  'the screen': '\u001b[2J\u001b[H',
  'a link': '\u001b]8;;https://evil.example\u0007here\u001b]8;;\u0007',
  'one character for two': '\u009b31m\u009d0;title\u009c',
  'a line that is written over': 'rm -rf /\rls      ',
  'a line that reads backwards': 'a\u202egnp.exe\u2066',
  'what was there': 'yes\u0008\u0008\u0008no\u007f',
};

describe('model output in a terminal', () => {
  for (const [what, text] of Object.entries(HOSTILE)) {
    it(`terminal output: model text cannot change ${what}`, async () => {
      const terminal = Object.assign(new PassThrough(), { isTTY: true });
      await writer(terminal)(text);
      assert.doesNotMatch(String(terminal.read()), /[\p{Cc}\p{Bidi_Control}]/u);
    });
  }

  it('terminal output: text is printed completely for any size of the pieces', () => {
    const text = 'Grüße, 世界 👩‍👩‍👧 e\u0301 (שלום)\u200f\n\tzwei\n';
    assert.equal(forTerminal(text), text);
    assert.equal(forTerminal('a\r\nb\u001b[1m'), 'a\nb␛[1m');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (one, two) => {
        assert.equal(forTerminal(one) + forTerminal(two), forTerminal(one + two));
      }),
    );
  });

  it('terminal output: text for one line has no line breaks', () => {
    assert.equal(forTerminalLine('a\nb\r\tc\u001b[1m\u0085d\u2028e\u202ef'), 'a␊b␍␉c␛[1m\ufffdd\ufffde\ufffdf');
    assert.equal(forTerminalLine('Grüße, 世界 👩‍👩‍👧 (שלום)'), 'Grüße, 世界 👩‍👩‍👧 (שלום)');
  });

  it('terminal output: a file or a pipe gets the unchanged text', async () => {
    const pipe = new PassThrough();
    const all = Object.values(HOSTILE).join('');
    await writer(pipe)(all);
    assert.equal(String(pipe.read()), all);
  });
});
