import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { random } from '../bench/typist/truth.ts';
import { EditorHarness } from './editor-harness.ts';

/** A place in a real file where text is missing, and an answer that contains it. */
interface Missing {
  readonly how: string;
  readonly before: string;
  readonly after: string;
  readonly answer: string;
}

const FIXTURES = new URL('../bench/typist/fixtures/', import.meta.url);
const PLACES = 60;
const SEED = 7;
const MAX_LINES = 5;

/** Text is missing at a place of a line, up to the end of it or to a part that is there; or whole lines are missing. */
function missingAt(lines: readonly string[], row: number, next: () => number): readonly Missing[] {
  const line = lines[row] ?? '';
  const indent = line.length - line.trimStart().length;
  const pick = (count: number) => Math.floor(next() * count);
  const column = indent + 1 + pick(line.length - indent - 1);
  const above = lines.slice(0, row).join('\n');
  const rest = line.slice(column);
  const cut = [...rest.matchAll(/[^\p{L}\p{N}_$\s]|\s+(?=\S)/gu)].map(({ index }) => index).filter((at) => at > 0);
  const at = cut[pick(Math.max(1, cut.length))] ?? rest.length;
  const before = `${above}\n${line.slice(0, column)}`;
  const below = (from: number) => `\n${lines.slice(from).join('\n')}`;
  const repeated = lines.slice(row + 1, row + 3).join('\n');
  const count = 1 + pick(MAX_LINES);
  const whole = lines.slice(row, row + count).join('\n');
  const inLine = { before, after: below(row + 1) };
  const inRest = { before, after: rest.slice(at) + below(row + 1) };
  const inLines = { before: `${above}\n${line.slice(0, indent)}`, after: below(row + count) };
  return [
    { how: 'to the end of the line', ...inLine, answer: rest },
    { how: 'to the end of the line, with lines that are there', ...inLine, answer: `${rest}\n${repeated}` },
    { how: 'with the rest of the line, which is there', ...inRest, answer: rest },
    { how: 'whole lines', ...inLines, answer: whole.slice(indent) },
    { how: 'whole lines with the indentation that is there', ...inLines, answer: whole },
  ];
}

/** Accepts the answer. */
async function accepted({ before, after, answer }: Missing): Promise<EditorHarness> {
  const editor = new EditorHarness('');
  Object.assign(editor.file, { before, after });
  editor.answers = () => [answer];
  editor.requestSuggestion({ trigger: 'invoke' });
  await editor.clock.pass(20_000);
  editor.accept();
  return editor;
}

/** Without blank lines and blanks at the ends of lines. */
function codeOf(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
}

describe('completion: real files from which text is missing', () => {
  for (const name of readdirSync(FIXTURES).sort()) {
    it(`real code: ${name} is as before, or what was accepted is the start of what is missing`, async () => {
      const file = readFileSync(new URL(name, FIXTURES), 'utf8');
      const lines = file.split('\n');
      const next = random(SEED);
      const rows = lines.flatMap((line, row) => (row > 0 && line.trim().length >= 6 ? [row] : []));
      for (let place = 0; place < PLACES; place += 1) {
        const row = rows[Math.floor(next() * rows.length)] ?? 1;
        for (const missing of missingAt(lines, row, next)) {
          const editor = await accepted(missing);
          const start = file.startsWith(editor.file.before.trimEnd()) && editor.file.after === missing.after;
          if (start) continue;
          const result = codeOf(editor.file.before + editor.file.after);
          assert.equal(result, codeOf(file), `line ${row + 1}, ${missing.how}: ${JSON.stringify(missing.answer)}`);
        }
      }
    });
  }
});
