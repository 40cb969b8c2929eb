import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Rhythm } from '../typist/rhythm.ts';
import { random } from '../typist/truth.ts';
import { sightOf } from './editor-screen.ts';
import type { EditorBench } from './in-editor.ts';

export interface TabFigures {
  /** Presses of Tab that indent a line. */
  pressed: number;
  /** Of those, while a next edit was on screen. */
  withOffer: number;
  /** Lines that are not as they were typed. */
  stolen: number;
}

const SEED = 20_250;
/** The indentation of the files. */
const INDENT = 2;
/** Lines of a part, so that an edit is on screen beside what is typed. */
const PART_LINES = 40;
/** The user thinks after each line with this number: the next edit appears. */
const THINKS_EVERY = 8;
const THINKING_MS = 1_400;

/** Types real source files with Tab for each indentation, while the model offers a wrong edit whenever it is asked. */
export async function pressTabs(bench: EditorBench, most: number): Promise<TabFigures> {
  const sums: TabFigures = { pressed: 0, withOffer: 0, stolen: 0 };
  Object.assign(bench.oracle, { errors: 100, target: '' });
  const fixtures = new URL('../typist/fixtures/', import.meta.url);
  const lines = readdirSync(fixtures)
    .sort()
    .flatMap((name) => readFileSync(new URL(name, fixtures), 'utf8').split('\n').filter(indentsByTabs));
  for (let first = 0; sums.pressed < most; first = (first + PART_LINES) % lines.length) {
    await typePart(bench, lines.slice(first, first + PART_LINES), sums);
  }
  return sums;
}

/** Comments in stars are indented by one blank more. */
function indentsByTabs(line: string): boolean {
  return (/^ */.exec(line)?.[0].length ?? 0) % INDENT === 0;
}

async function typePart(bench: EditorBench, lines: readonly string[], sums: TabFigures): Promise<void> {
  const rhythm = new Rhythm(random(SEED + sums.pressed));
  const { keyboard } = bench.page;
  const path = await bench.open('', 'ts', 1, 1);
  for (const [number, line] of lines.entries()) {
    if (number > 0) await keyboard.press('Enter');
    const text = line.trimStart();
    await delay(rhythm.gap(''));
    if (number % THINKS_EVERY === 1) await delay(THINKING_MS);
    for (let left = line.length - text.length; left > 0; left -= INDENT) {
      if ((await sightOf(bench.page)).offer !== '') sums.withOffer += 1;
      await keyboard.press('Tab');
      sums.pressed += 1;
      await delay(rhythm.gap(''));
    }
    await keyboard.insertText(text);
  }
  const typed = (await bench.saved(path)).split('\n');
  const wrong = lines.flatMap((line, number) => (typed[number] === line ? [] : [[line, typed[number]]]));
  sums.stolen += wrong.length;
  for (const [line, got] of wrong) console.log(`Typed ${JSON.stringify(line)}, in the file ${JSON.stringify(got)}`);
  console.log(`Presses of Tab: ${sums.pressed}`);
}
