import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Frame } from '../../src/wire/format.ts';
import { NdjsonDecoder } from '../../src/wire/stream/ndjson.ts';
import { frameText, SseDecoder } from '../../src/wire/stream/sse.ts';

function decode(...pieces: readonly (string | Uint8Array)[]): Frame[] {
  const decoder = new SseDecoder();
  const frames = pieces.flatMap((piece) => decoder.push(typeof piece === 'string' ? Buffer.from(piece) : piece));
  return [...frames, ...decoder.end()];
}

describe('server-sent events', () => {
  const cases: Record<string, [string, Frame[]]> = {
    'a frame': ['data: a\n\n', [{ data: 'a' }]],
    'an event line': ['event: e\ndata: a\n\n', [{ event: 'e', data: 'a' }]],
    'no space after the colon': ['data:a\n\n', [{ data: 'a' }]],
    'only one space is taken': ['data:  a\n\n', [{ data: ' a' }]],
    'several data lines': ['data: a\ndata: b\n\n', [{ data: 'a\nb' }]],
    'comments, ids and retries': [': x\nid: 1\nretry: 3\ndata: a\n\n: y\n\n', [{ data: 'a' }]],
    'an event without data is none': ['event: e\n\ndata: a\n\n', [{ data: 'a' }]],
    'a byte order mark': ['\ufeffdata: a\n\n', [{ data: 'a' }]],
    'no last blank line': ['data: a\n\ndata: b', [{ data: 'a' }, { data: 'b' }]],
    'blank lines before and between': ['\n\ndata: a\n\n\n\ndata: b\n\n', [{ data: 'a' }, { data: 'b' }]],
    nothing: ['', []],
  };
  for (const [name, [text, frames]] of Object.entries(cases)) {
    for (const [end, replaced] of Object.entries({ LF: '\n', CRLF: '\r\n', CR: '\r' })) {
      it(`SSE: ${name}, with ${end}, split at any byte`, () => {
        const bytes = Buffer.from(text.replaceAll('\n', replaced));
        for (let at = 0; at <= bytes.length; at++) {
          assert.deepEqual(decode(bytes.subarray(0, at), bytes.subarray(at)), frames);
        }
      });
    }
  }

  it('SSE: decodes its own frames in pieces of any size', () => {
    const frame = fc.record(
      { event: fc.constantFrom('ping', 'message_start'), data: fc.string({ unit: 'grapheme', minLength: 1 }) },
      { requiredKeys: ['data'], noNullPrototype: true },
    );
    const usable = fc.array(
      frame.filter(({ data }) => !/[\r\0]/.test(data) && data.isWellFormed() && data !== '\n'.repeat(data.length)),
    );
    fc.assert(
      fc.property(usable, fc.integer({ min: 1, max: 7 }), (frames, size) => {
        const bytes = Buffer.from(frames.map(frameText).join(''));
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
          bytes.subarray(n * size, (n + 1) * size),
        );
        assert.deepEqual(decode(...pieces), frames);
      }),
    );
  });

  it('SSE: accepts mixed line ends that are split at any byte', () => {
    const line = fc.tuple(
      fc.constantFrom('data: a', 'data:b', ': x', 'event: e', ''),
      fc.constantFrom('\n', '\r', '\r\n'),
    );
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(60)), (lines, cuts) => {
        // A CR right before the LF of an empty line would be one end instead of two.
        const texts = lines.map(([text, end], at) => {
          const next = lines[at + 1];
          return text + (end === '\r' && next?.[0] === '' && next[1] === '\n' ? '\n' : end);
        });
        const bytes = Buffer.from(texts.join(''));
        const plain = decode(lines.map(([text]) => `${text}\n`).join(''));
        const at = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        assert.deepEqual(decode(...at.slice(1).map((end, n) => bytes.subarray(at[n], end))), plain);
      }),
      { numRuns: 2_000 },
    );
  });

  it('SSE: decodes a frame of 8 MB in small pieces', () => {
    const data = 'x'.repeat(8 * 1024 * 1024);
    const bytes = Buffer.from(`data: ${data}\n\n`);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 1400) }, (_, n) =>
      bytes.subarray(n * 1400, (n + 1) * 1400),
    );
    const [frame] = decode(...pieces);
    assert.equal(frame?.data.length, data.length);
  });

  for (const [what, head, piece] of [
    ['a line', 'data: ', 'x'.repeat(1024 * 1024)],
    ['an event of whole lines', '', `data: ${'x'.repeat(1024 * 1024)}\n`],
  ] as const) {
    it(`SSE: rejects ${what} without an end`, () => {
      const decoder = new SseDecoder();
      const bytes = Buffer.from(piece);
      decoder.push(Buffer.from(head));
      assert.throws(() => {
        for (let n = 0; n < 80; n++) decoder.push(bytes);
      }, /larger than 64 MB/);
    });
  }
});

describe('newline-delimited JSON', () => {
  it('NDJSON: splits at line ends for pieces of any size', () => {
    const bytes = Buffer.from('{"a":"é"}\r\n\n{"b":1}\n{"c":2}');
    for (let at = 0; at <= bytes.length; at++) {
      const decoder = new NdjsonDecoder();
      const frames = [...decoder.push(bytes.subarray(0, at)), ...decoder.push(bytes.subarray(at)), ...decoder.end()];
      assert.deepEqual(
        frames.map((frame) => frame.data),
        ['{"a":"é"}', '{"b":1}', '{"c":2}'],
      );
    }
  });

  it('NDJSON: rejects a line without an end', () => {
    const decoder = new NdjsonDecoder();
    const bytes = Buffer.from('x'.repeat(1024 * 1024));
    assert.throws(() => {
      for (let n = 0; n < 80; n++) decoder.push(bytes);
    }, /larger than 64 MB/);
    const short = new NdjsonDecoder();
    const end = Buffer.from('\n');
    for (let n = 0; n < 80; n++) assert.equal(short.push(bytes).length + short.push(end).length, 1);
  });
});
