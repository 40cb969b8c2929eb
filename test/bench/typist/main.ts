/**
 * The typist types real source files against a model that knows them, with ours and with a plain reference: the engine
 * alone on a virtual clock, then real keys in a real VS Code. `node test/bench/typist/main.ts [--quick] [--engine]
 * [--unaccepted] [--delivered [language]]`; `--engine` leaves VS Code out. `--unaccepted` only types in VS Code, accepts
 * nothing, and counts how often text that was right disappeared. `--delivered` only types files of six languages into VS
 * Code with its default settings. Writes test/bench/results/typist.json and the tables in docs/performance.md.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { VirtualClock } from '../../completion/virtual-clock.ts';
import { type Delivered, deliveredTable, typeAsDelivered } from './as-delivered.ts';
import { ours, plain } from './contestants.ts';
import { typeInEditor } from './in-editor.ts';
import { keystrokeTimes } from './keystroke-times.ts';
import { Oracle } from './oracle.ts';
import { oracleFill, type Traffic } from './oracle-fill.ts';
import { type Row, rowOf, type Storm, type Sums, tables, verdicts, writeInto } from './report.ts';
import { type Task, tasksOf } from './truth.ts';
import { type Policy, type Session, Typist } from './typist.ts';

const SEED = 20_250;
const CONTESTANTS = ['ours', 'plain'] as const;
const ERROR_PERCENT = 4;
/** A model that is often wrong. */
const MANY_ERRORS_PERCENT = 30;
/** Characters of each kind that are typed into VS Code: in real time, so fewer. */
const IN_EDITOR = { functions: 1_000, thirds: 5_000 };
const here = new URL('.', import.meta.url);

const quick = process.argv.includes('--quick');
const files = readdirSync(new URL('fixtures/', here))
  .sort()
  .map((name) => readFileSync(new URL(`fixtures/${name}`, here), 'utf8'));
const tasks = files.flatMap((file) => tasksOf(file, quick ? 2 : 3));

async function run(contestant: Row['contestant'], policy: Policy, firstMs: number, errors: number): Promise<Row> {
  const traffic = noTraffic();
  const sessions: Session[] = [];
  const clock = new VirtualClock();
  const fill = oracleFill(new Oracle(files, errors), clock, firstMs, traffic);
  // One engine for all of it, as in a day's work.
  const engine = contestant === 'ours' ? ours(fill, clock) : plain(fill, clock);
  for (const [index, task] of tasks.entries()) {
    sessions.push(await new Typist(task, policy, engine, clock, SEED + index).run());
  }
  return rowOf({ tier: 'engine', contestant, policy, firstMs, errorPercent: errors }, sumsOf(sessions, traffic));
}

function sumsOf(sessions: readonly Session[], { requests, sent, tokens }: Traffic): Sums {
  const sum = (key: 'keys' | 'unfinished' | 'accepted' | 'missing' | 'flicker' | 'wrongTails'): number =>
    sessions.reduce((total, session) => total + session[key], 0);
  return {
    keys: sum('keys'),
    unfinished: sum('unfinished'),
    accepted: sum('accepted'),
    missing: sum('missing'),
    flicker: sum('flicker'),
    wrongTails: sum('wrongTails'),
    waits: sessions.flatMap(({ waits }) => waits),
    requests,
    sent,
    tokens,
  };
}

/** Thirty keys while the server answers 402. */
async function storm(contestant: Row['contestant']): Promise<Storm> {
  const traffic = noTraffic();
  const clock = new VirtualClock();
  const fill = oracleFill(new Oracle(files, 0), clock, 150, traffic, true);
  const engine = contestant === 'ours' ? ours(fill, clock) : plain(fill, clock);
  await new Typist(tasks[0] as Task, 'never', engine, clock, SEED).run(30);
  return { tier: 'engine', contestant, keys: 30, requests: traffic.requests, popups: 0 };
}

/** Functions and last thirds of files, the shortest first, up to the number of characters. */
function partsInEditor(thirds = true): Task[] {
  const lengthOf = ({ start, end }: Task): number => end - start;
  const upTo = (parts: readonly Task[], most: number): Task[] => {
    let left = quick ? most / 2 : most;
    return [...parts]
      .sort((a, b) => lengthOf(a) - lengthOf(b))
      .filter((part) => {
        left -= lengthOf(part);
        return left >= 0;
      });
  };
  const functions = files.flatMap((file) => tasksOf(file, 1).slice(0, 1));
  const ends = thirds ? files.flatMap((file) => tasksOf(file, 0)) : [];
  return [...upTo(functions, IN_EDITOR.functions), ...upTo(ends, IN_EDITOR.thirds)];
}

function noTraffic(): Traffic {
  return { requests: 0, sent: 0, tokens: 0, tokensBeforeStop: 0, shared: 0, sharable: 0 };
}

if (process.argv.includes('--unaccepted')) {
  const parts = { tasks: partsInEditor(false), oracle: new Oracle(files, ERROR_PERCENT), firstMs: 150, seed: SEED };
  const { keys, gone, flicker } = await typeInEditor('ours', { ...parts, accepts: false });
  for (const what of gone) console.log(what);
  console.log(
    `Text that was right disappeared for 40 ms or more at ${gone.length} of ${keys} keys (flicker: ${flicker}).`,
  );
  process.exit(gone.length === 0 ? 0 : 1);
}

const delivered = process.argv.indexOf('--delivered');
if (delivered >= 0) {
  const only = process.argv[delivered + 1];
  const found: Delivered[] = [];
  for (const contestant of CONTESTANTS) {
    const options = { errorPercent: MANY_ERRORS_PERCENT, firstMs: 150, seed: SEED, ...(only ? { only } : {}) };
    found.push(...(await typeAsDelivered(contestant, options, (row) => console.log(JSON.stringify(row)))));
  }
  const table = deliveredTable(found);
  console.log(table);
  if (only === undefined) writeInto(new URL('../../../docs/performance.md', here), 'typist-delivered', table);
  process.exit(found.some((row) => row.contestant === 'ours' && row.wrong > 0) ? 1 : 0);
}

const rows: Row[] = [];
for (const firstMs of quick ? [150] : [50, 150, 300, 800]) {
  for (const policy of ['all', 'word', 'never'] as const) {
    for (const contestant of CONTESTANTS) rows.push(await run(contestant, policy, firstMs, ERROR_PERCENT));
  }
}
for (const contestant of CONTESTANTS) rows.push(await run(contestant, 'all', 150, MANY_ERRORS_PERCENT));
const storms = [await storm('ours'), await storm('plain')];
const times = await keystrokeTimes(files, quick ? 400 : 1_500);

const inEditor = partsInEditor();
if (!process.argv.includes('--engine')) {
  for (const contestant of CONTESTANTS) {
    const oracle = new Oracle(files, ERROR_PERCENT);
    const typed = await typeInEditor(contestant, { tasks: inEditor, oracle, firstMs: 150, seed: SEED });
    const sums = { ...typed, sent: typed.sentBytes, unfinished: typed.keys - inEditor.length, wrongTails: typed.wrong };
    rows.push(rowOf({ tier: 'editor', contestant, policy: 'all', firstMs: 150, errorPercent: ERROR_PERCENT }, sums));
    storms.push({ tier: 'editor', contestant, keys: 30, ...typed.storm });
  }
}

const judged = verdicts(rows, storms, times);
const sizes = { tasks: tasks.length, tasksInEditor: inEditor.length };
const result = { seed: SEED, errorPercent: ERROR_PERCENT, ...sizes, rows, storms, times, verdicts: judged };
console.log(tables(result));
if (!quick && !process.argv.includes('--engine')) {
  mkdirSync(new URL('../results/', here), { recursive: true });
  writeFileSync(new URL('../results/typist.json', here), `${JSON.stringify(result, null, 2)}\n`);
  writeInto(new URL('../../../docs/performance.md', here), 'typist', tables(result));
}
process.exit(judged.every(({ holds }) => holds) ? 0 : 1);
