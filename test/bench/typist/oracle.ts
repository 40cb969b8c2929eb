/** A model that knows the finished files and answers with their true continuation, mostly. */
export interface OracleAnswer {
  readonly text: string;
  /** Offset in the finished file, -1 where the text before the caret is in none of them. */
  readonly offset: number;
  readonly truthful: boolean;
}

const BLOCK_LINES = 12;
/** Places in a hundred where the model writes on to the next blank line. */
const BLOCK_PERCENT = 5;
const WRONG_LINES = [
  'return undefined;',
  'const result = compute(value);',
  'if (value === null) return;',
  'index += 1;',
];

export class Oracle {
  readonly #files: readonly string[];
  readonly #errorPercent: number;

  /** `errorPercent`: places in a hundred, by hash of the offset, where a plausible wrong line is answered. */
  constructor(files: readonly string[], errorPercent: number) {
    this.#files = files;
    this.#errorPercent = errorPercent;
  }

  answer(prefix: string, suffix: string, maxTokens: number, stop: readonly string[] = []): OracleAnswer {
    const place = this.#locate(prefix, suffix);
    if (place === undefined)
      return { text: limited(wrongLine(prefix.length), maxTokens, stop), offset: -1, truthful: false };
    const { file, offset, end } = place;
    if (hash(`${offset}`) % 100 < this.#errorPercent) {
      return { text: limited(wrongLine(offset), maxTokens, stop), offset, truthful: false };
    }
    return { text: limited(thought(file, offset, end), maxTokens, stop), offset, truthful: true };
  }

  #locate(prefix: string, suffix: string): { file: string; offset: number; end: number } | undefined {
    // Brackets and tags that the editor inserted are in no finished file.
    const behind = suffix.replace(/^(?:[\s)\]}>"'`;,]|<\/[\w-]+>|\*\/)+/, '').slice(0, 40);
    for (const length of [400, 200, 100, 50, 25]) {
      const tail = prefix.slice(-length);
      const places: { file: string; offset: number; end: number }[] = [];
      for (const file of this.#files) {
        for (let at = file.indexOf(tail); at >= 0; at = file.indexOf(tail, at + 1)) {
          const offset = at + tail.length;
          const next = behind === '' ? file.length : file.indexOf(behind, offset);
          if (next >= 0) places.push({ file, offset, end: next });
        }
      }
      const [first] = places.sort((a, b) => a.end - a.offset - (b.end - b.offset));
      if (first !== undefined) return first;
    }
    return undefined;
  }
}

/**
 * The answer of the model: the rest of the line with the block that it opens, and at some
 * places, by hash of the offset, the lines up to a blank one. Twelve lines at most.
 */
function thought(file: string, offset: number, end: number): string {
  const lines = file.slice(offset, end).trimEnd().split('\n');
  if (hash(`b${offset}`) % 100 < BLOCK_PERCENT) return lines.slice(0, blockEnd(lines)).join('\n');
  const from = lines.findIndex((line) => line.trim() !== '');
  const first = lines[from] ?? '';
  const head = file.slice(file.lastIndexOf('\n', offset - 1) + 1, offset);
  if (head.trim() !== '' || !/[([{]$/.test(first)) return lines.slice(0, from + 1).join('\n');
  const indentation = leadOf(from === 0 ? head + first : first);
  const close = lines.findIndex((line, at) => at > from && /^\s*[)\]}]/.test(line) && leadOf(line) <= indentation);
  return lines.slice(0, close < 0 ? BLOCK_LINES : Math.min(BLOCK_LINES, close + 1)).join('\n');
}

/** Number of lines before the first blank one after some text. */
function blockEnd(lines: readonly string[]): number {
  const from = lines.findIndex((line) => line.trim() !== '');
  const blank = lines.findIndex((line, index) => index > from && line.trim() === '');
  return Math.min(BLOCK_LINES, blank < 0 ? lines.length : blank);
}

function leadOf(line: string): number {
  return /^\s*/.exec(line)?.[0].length ?? 0;
}

/** Four characters are a token. */
function limited(text: string, maxTokens: number, stop: readonly string[]): string {
  let out = text;
  for (const one of stop) {
    const at = out.indexOf(one);
    if (at >= 0) out = out.slice(0, at);
  }
  return out.slice(0, maxTokens * 4);
}

function wrongLine(seed: number): string {
  return WRONG_LINES[hash(`w${seed}`) % WRONG_LINES.length] ?? '';
}

export function hash(text: string): number {
  let value = 2_166_136_261;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16_777_619);
  return (value ^ (value >>> 15)) >>> 0;
}
