import assert from 'node:assert/strict';
import {
  decodeKeepingBytes,
  encodeKeptBytes,
  keptLines,
  showKeptBytes,
  touchedKeptLine,
} from '../../src/chat/tools/kept-bytes.ts';

const CONTENTS: readonly [name: string, bytes: Buffer][] = [
  ['empty', Buffer.alloc(0)],
  ['Latin-1', Buffer.from('my $n = "José García";\nmy $x = 1;\n', 'latin1')],
  ['GBK', Buffer.from([...Buffer.from('s = "'), 0xd6, 0xd0, 0xce, 0xc4, ...Buffer.from('"\r\nx = 1')])],
  ['UTF-8 and one other byte', Buffer.concat([Buffer.from('中文 😀\n'), Buffer.from([0xff, 10]), Buffer.from('ü')])],
  ['a cut character', Buffer.from('😀').subarray(0, 3)],
  ['an encoded surrogate', Buffer.from([0xed, 0xb3, 0xa9, 10])],
  ['all bytes', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
];

describe('text of a file that is not UTF-8', () => {
  for (const [name, bytes] of CONTENTS) {
    it(`kept bytes: ${name} is encoded as it was`, () => {
      assert.deepEqual(Buffer.from(encodeKeptBytes(decodeKeepingBytes(bytes))), bytes);
    });
  }

  it('kept bytes: only lines that are not UTF-8 are marked, and they are shown with U+FFFD', () => {
    const text = decodeKeepingBytes(Buffer.concat([Buffer.from('ü😀\n'), Buffer.from('é!\n', 'latin1')]));
    assert.deepEqual(
      keptLines(text).map(({ number }) => number),
      [2],
    );
    assert.equal(showKeptBytes(text), 'ü😀\n\uFFFD!\n');
  });

  it('kept bytes: a change of such a line is found, a change of others is not', () => {
    const before = decodeKeepingBytes(Buffer.from('a\né 1\nb\n', 'latin1'));
    assert.equal(touchedKeptLine(before, before.replace('a', 'A\nnew')), undefined);
    assert.equal(touchedKeptLine(before, before.replace('1', '2')), 2);
    assert.equal(touchedKeptLine(before, 'a\nb\n'), 2);
  });
});
