import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders whose texts may name icons of a page. */
const SOURCES = ['src/webview', 'src/chat', 'src/extension'];
/** Glyph names and ligatures; the pages use code points. */
const DROPPED = new Set(['GSUB', 'GPOS', 'GDEF', 'DSIG']);

/** Writes `codicon.ttf` and `codicon.css` with those icons that the sources name, also by chance. */
export function writeIconFont(root: string, folder: string): void {
  const from = join(root, 'node_modules/@vscode/codicons/dist');
  const css = readFileSync(join(from, 'codicon.css'), 'utf8');
  const icons = [...css.matchAll(/^\.codicon-([\w-]+):before \{ content: "\\([0-9a-f]+)" \}\n?/gm)];
  const named = namesIn(root);
  const isNamed = (name: string) => named.names.has(name) || named.starts.some((start) => name.startsWith(start));
  const unused = icons.filter(([, name = '']) => !isNamed(name));
  const used = icons.filter((icon) => !unused.includes(icon));
  const points = new Set(used.map(([, , point = '']) => Number.parseInt(point, 16)));
  writeFileSync(join(folder, 'codicon.ttf'), subset(readFileSync(join(from, 'codicon.ttf')), points));
  const dropped = new Set(unused.map(([rule]) => rule));
  writeFileSync(
    join(folder, 'codicon.css'),
    css.replaceAll(/^\.codicon-.*\n?/gm, (rule) => (dropped.has(rule) ? '' : rule)),
  );
}

/** The words of the sources, and the starts of those that end with a value. */
function namesIn(root: string): { readonly names: ReadonlySet<string>; readonly starts: readonly string[] } {
  const names = new Set<string>();
  const starts = new Set<string>();
  for (const source of SOURCES) {
    for (const file of readdirSync(join(root, source), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:tsx?|css)$/.test(file)) continue;
      const text = readFileSync(join(root, source, file), 'utf8').replaceAll('codicon-', '');
      for (const [name] of text.matchAll(/[a-z0-9]+(?:-[a-z0-9]+)*/g)) names.add(name);
      for (const [, start = ''] of text.matchAll(/([a-z0-9][a-z0-9-]*-)\$\{/g)) starts.add(start);
    }
  }
  return { names, starts: [...starts] };
}

/** The font with empty outlines for all other characters. See the OpenType specification, "glyf" and "loca". */
export function subset(font: Buffer, points: ReadonlySet<number>): Buffer {
  const tables = readTables(font);
  const table = (tag: string) => {
    const found = tables.get(tag);
    if (found === undefined) throw new Error(`The font has no table “${tag}”.`);
    return found;
  };
  const long = table('head').readInt16BE(50) === 1;
  const loca = table('loca');
  const glyf = table('glyf');
  const count = loca.length / (long ? 4 : 2) - 1;
  const offset = (glyph: number) => (long ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2);
  const outline = (glyph: number) => glyf.subarray(offset(glyph), offset(glyph + 1));
  const kept = new Set([0]);
  const keep = (glyph: number) => {
    if (kept.has(glyph)) return;
    kept.add(glyph);
    for (const part of partsOf(outline(glyph))) keep(part);
  };
  for (const [point, glyph] of charactersOf(table('cmap'))) if (points.has(point)) keep(glyph);
  const offsets = Buffer.alloc((count + 1) * 4);
  const outlines: Buffer[] = [];
  let end = 0;
  for (let glyph = 0; glyph < count; glyph += 1) {
    if (kept.has(glyph)) {
      outlines.push(padded(outline(glyph)));
      end += outlines.at(-1)?.length ?? 0;
    }
    offsets.writeUInt32BE(end, (glyph + 1) * 4);
  }
  const head = Buffer.from(table('head'));
  head.writeInt16BE(1, 50);
  const post = Buffer.from(table('post').subarray(0, 32));
  post.writeUInt32BE(0x00030000);
  const changed: Record<string, Buffer> = { head, post, loca: offsets, glyf: Buffer.concat(outlines) };
  const left = [...tables].filter(([tag]) => !DROPPED.has(tag));
  return writeTables(
    font.readUInt32BE(0),
    left.map(([tag, bytes]) => [tag, changed[tag] ?? bytes] as const),
  );
}

function readTables(font: Buffer): ReadonlyMap<string, Buffer> {
  const tables = new Map<string, Buffer>();
  for (let index = 0; index < font.readUInt16BE(4); index += 1) {
    const at = 12 + index * 16;
    const start = font.readUInt32BE(at + 8);
    tables.set(font.toString('latin1', at, at + 4), font.subarray(start, start + font.readUInt32BE(at + 12)));
  }
  return tables;
}

/** Characters of the first table of format 4. */
function* charactersOf(cmap: Buffer): Iterable<readonly [number, number]> {
  const starts = Array.from({ length: cmap.readUInt16BE(2) }, (_, index) => cmap.readUInt32BE(8 + index * 8));
  const start = starts.find((each) => cmap.readUInt16BE(each) === 4);
  if (start === undefined) throw new Error('The font has no table of characters of format 4.');
  const size = cmap.readUInt16BE(start + 6);
  for (let at = 0; at < size; at += 2) {
    const last = cmap.readUInt16BE(start + 14 + at);
    const first = cmap.readUInt16BE(start + 16 + size + at);
    const delta = cmap.readUInt16BE(start + 16 + size * 2 + at);
    const range = start + 16 + size * 3 + at;
    const rangeOffset = cmap.readUInt16BE(range);
    for (let point = first; point <= last && point < 0xffff; point += 1) {
      const glyph = rangeOffset === 0 ? point : cmap.readUInt16BE(range + rangeOffset + (point - first) * 2);
      yield [point, (glyph + delta) & 0xffff];
    }
  }
}

/** The glyphs that a glyph is composed of. */
function* partsOf(outline: Buffer): Iterable<number> {
  if (outline.length === 0 || outline.readInt16BE(0) >= 0) return;
  for (let at = 10; ; ) {
    const flags = outline.readUInt16BE(at);
    yield outline.readUInt16BE(at + 2);
    if ((flags & 0x20) === 0) return;
    at +=
      4 +
      ((flags & 1) === 0 ? 2 : 4) +
      ((flags & 8) === 0 ? ((flags & 0x40) === 0 ? ((flags & 0x80) === 0 ? 0 : 8) : 4) : 2);
  }
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

function writeTables(version: number, tables: readonly (readonly [string, Buffer])[]): Buffer {
  const directory = Buffer.alloc(12 + tables.length * 16);
  const power = Math.floor(Math.log2(tables.length));
  directory.writeUInt32BE(version, 0);
  directory.writeUInt16BE(tables.length, 4);
  directory.writeUInt16BE(16 * 2 ** power, 6);
  directory.writeUInt16BE(power, 8);
  directory.writeUInt16BE(16 * (tables.length - 2 ** power), 10);
  let at = directory.length;
  const bodies = tables.map(([tag, bytes], index) => {
    const body = padded(bytes);
    directory.write(tag, 12 + index * 16, 'latin1');
    directory.writeUInt32BE(sumOf(body), 16 + index * 16);
    directory.writeUInt32BE(at, 20 + index * 16);
    directory.writeUInt32BE(bytes.length, 24 + index * 16);
    at += body.length;
    return body;
  });
  return Buffer.concat([directory, ...bodies]);
}

function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) sum = (sum + bytes.readUInt32BE(at)) >>> 0;
  return sum;
}
