import assert from 'node:assert/strict';
import { plainOutput, TerminalFilter } from '../../src/chat/tools/terminal-output.ts';
import { assertLinear } from '../linear-time.ts';

describe('terminal output', () => {
  for (const [what, raw, plain] of [
    ['colours', '\u001b[1;32mok\u001b[0m and \u001b[38;2;1;2;3mmore\u001b[m', 'ok and more'],
    ['titles and marks of the shell', '\u001b]0;title\u0007a\u001b]633;D;0\u001b\\b', 'ab'],
    ['line breaks of a terminal', 'one\r\ntwo\r\r\n', 'one\ntwo'],
    ['a line that is written over', '10 %\r50 %\r100 %\r\ndone', '100 %\ndone'],
    ['a line that ends with its beginning', 'done\r', 'done'],
    ['indentation and empty lines', '\n  a\n\n  b\n\n', '\n  a\n\n  b'],
  ] as const) {
    it(`terminal output: is read without ${what}`, () => {
      assert.equal(plainOutput(raw), plain);
    });
  }
});

describe('output in a terminal of the editor', () => {
  for (const [name, raw, shown] of [
    ['text, line ends, tabs and overwritten lines', 'a\tb\r\n10 %\r20 %\b', 'a\tb\r\n10 %\r20 %\b'],
    ['colours and erasing in the line', '\u001b[1;31mred\u001b[0m\u001b[2K\u001b[38:2::1:2:3m', undefined],
    ['the clipboard', 'a\u001b]52;c;cm0gLXJm\u0007b', 'ab'],
    ['the title', '\u001b]0;title\u001b\\b', 'b'],
    ['a link', '\u001b]8;;command:x\u0007text\u001b]8;;\u0007', 'text'],
    ['shell integration', '\u001b]633;E;rm -r x\u0007\u001b]133;D;0\u0007b', 'b'],
    ['movements of the cursor and the screen', 'a\u001b[2A\u001b[H\u001b[2J\u001b[?1049hb\u001bM\u001bc', 'ab'],
    ['questions to the terminal', '\u001b[c\u001b[6n\u001b[>0q\u001bP+q544e\u001b\\b', 'b'],
    ['controls of 8 bits and bells', 'a\u009b2Jb\u009d0;x\u0007\u0000', 'a2Jb0;x'],
    ['a string without an end hides no line', '\u001b]0;title\nnext', '\nnext'],
    ['an interrupted sequence', '\u001b[3\u001b[31mx\u001b(B', '\u001b[31mx'],
    ['private forms of allowed sequences', '\u001b[?5m\u001b[>4;1m\u001b[?Kx', 'x'],
  ] as const) {
    it(`terminal output: ${name}: the same in one piece and in pieces of each size`, () => {
      const expected = shown ?? raw;
      for (let size = 1; size <= raw.length; size += 1) {
        const filter = new TerminalFilter();
        let all = '';
        for (let at = 0; at < raw.length; at += size) all += filter.write(raw.slice(at, at + size));
        assert.equal(all, expected);
      }
    });
  }

  it('terminal output: a sequence that never ends is dropped, and the text after it is shown', () => {
    const filter = new TerminalFilter();
    const all = filter.write(`\u001b]0;${'x'.repeat(10_000)}`) + filter.write('end');
    assert.ok(all.endsWith('end') && !all.includes('\u001b'));
  });

  it('terminal output: takes linear time', async () => {
    await assertLinear(
      20_000,
      (size) => '\u001b]0;\u001b['.repeat(size),
      (text) => new TerminalFilter().write(text),
    );
  });
});
