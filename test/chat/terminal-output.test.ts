import assert from 'node:assert/strict';
import { plainOutput } from '../../src/chat/tools/terminal-output.ts';

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
