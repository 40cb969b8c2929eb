import { readFileSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';

export interface Frame {
  /** A PNG file. All frames have the same size. */
  readonly file: string;
  readonly milliseconds: number;
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

/** Writes an animated PNG (https://www.w3.org/TR/png-3/#apng-frame-based-animation) that repeats. */
export function writeAnimation(path: string, frames: readonly Frame[]): void {
  const pictures = frames.map(({ file, milliseconds }) => ({ chunks: readChunks(readFileSync(file)), milliseconds }));
  const [first] = pictures;
  const header = first?.chunks.find(({ type }) => type === 'IHDR');
  if (first === undefined || header === undefined) throw new Error('An animation needs a PNG picture.');
  const size = header.data.subarray(0, 8);
  let sequence = 0;
  const body = pictures.flatMap(({ chunks, milliseconds }, index) => {
    const control = chunk('fcTL', number(sequence++), size, Buffer.alloc(8), duration(milliseconds), Buffer.alloc(2));
    const data = chunks
      .filter(({ type }) => type === 'IDAT')
      .map((each) => (index === 0 ? chunk('IDAT', each.data) : chunk('fdAT', number(sequence++), each.data)));
    return [control, ...data];
  });
  const animation = chunk('acTL', number(pictures.length), number(0));
  const parts = [SIGNATURE, chunk('IHDR', header.data), animation, ...body, chunk('IEND')];
  writeFileSync(path, Buffer.concat(parts));
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function readChunks(file: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE.length; at < file.length; ) {
    const length = file.readUInt32BE(at);
    chunks.push({ type: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, ...parts: readonly Buffer[]): Buffer {
  const data = Buffer.concat(parts);
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([number(data.length), body, number(crc32(body))]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function duration(milliseconds: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(milliseconds, 0);
  bytes.writeUInt16BE(1000, 2);
  return bytes;
}
