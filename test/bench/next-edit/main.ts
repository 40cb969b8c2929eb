/**
 * Replays edits of real projects, and repeated edits of our own, against a model that knows the later version: the
 * engine alone on a virtual clock, then real keys in a real VS Code, where ordinary presses of Tab are counted too.
 * `node test/bench/next-edit/main.ts [--quick] [--engine]`; `--engine` leaves VS Code out. npm gets the packages from
 * its configured registry. Writes test/bench/results/next-edit.json and the tables in docs/performance.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { writeInto } from '../typist/report.ts';
import { EditorBench, type EditorFigures } from './in-editor.ts';
import { keyTimes } from './key-times.ts';
import { changedFiles } from './packages.ts';
import { type ModelKind, type Replayed, replay } from './replay.ts';
import { type EditScript, hunksBetween, repeatedScripts, scriptOf } from './scripts.ts';
import { pressTabs, type TabFigures } from './tabs.ts';

interface Row {
  readonly edits: string;
  readonly model: string;
  readonly scripts: number;
  readonly sums: Omit<Replayed, 'waits'>;
  readonly p50: number;
  readonly p95: number;
}

const MODELS: readonly (readonly [name: string, model: ModelKind])[] = [
  ['none', { kind: 'none', errors: 0 }],
  ['oracle', { kind: 'oracle', errors: 0 }],
  ['oracle, 30 % wrong', { kind: 'oracle', errors: 30 }],
  ['oracle, 30 % wrong, known names', { kind: 'oracle', errors: 30, mistakes: 'known names' }],
];

/** VS Code works in real time: files of this size, with so much to type, and so many of them. */
const MAX_CHARACTERS = 16_000;
const MAX_TYPED = 500;
const FILES_IN_EDITOR = 16;
/** Ordinary presses of Tab. */
const TABS = 2_000;

const here = new URL('.', import.meta.url);
const quick = process.argv.includes('--quick');

async function measure(edits: string, scripts: readonly EditScript[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, model] of MODELS) {
    const results: Replayed[] = [];
    for (const script of scripts) results.push(await replay(script, model));
    rows.push(rowOf(edits, name, results));
  }
  return rows;
}

function rowOf(edits: string, model: string, results: readonly Replayed[]): Row {
  const sum = (key: Exclude<keyof Replayed, 'waits'>): number => results.reduce((total, each) => total + each[key], 0);
  const waits = results.flatMap((each) => each.waits).sort((a, b) => a - b);
  const quantile = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0;
  const sums = {
    edits: sum('edits'),
    offered: sum('offered'),
    accepted: sum('accepted'),
    wrong: sum('wrong'),
    byHand: sum('byHand'),
    pressed: sum('pressed'),
    requests: sum('requests'),
    tokens: sum('tokens'),
  };
  return { edits, model, scripts: results.length, sums, p50: quantile(0.5), p95: quantile(0.95) };
}

function table(rows: readonly Row[], p99: number): string {
  const percent = (share: number): string => (Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : '–');
  const each = (count: number, of: number): string => (of === 0 || count === 0 ? '–' : (count / of).toFixed(2));
  const cells = rows.map(({ edits, model, scripts, sums, p50, p95 }) => [
    `${edits} (${scripts})`,
    model,
    `${sums.accepted} of ${sums.edits}`,
    percent(sums.accepted / sums.edits),
    percent(sums.offered === 0 ? 0 : sums.wrong / sums.offered),
    percent(1 - sums.pressed / sums.byHand),
    each(sums.requests, sums.accepted),
    sums.accepted === 0 || sums.tokens === 0 ? '–' : String(Math.round(sums.tokens / sums.accepted)),
    sums.offered === 0 ? '–' : `${p50} / ${p95}`,
  ]);
  const head = [
    'edits (files)',
    'model',
    'accepted',
    'share',
    'wrong offers',
    'keys saved',
    'requests / accepted',
    'tokens / accepted',
    'wait p50 / p95 ms',
  ];
  return [
    `| ${head.join(' | ')} |`,
    `|${'---|'.repeat(head.length)}`,
    ...cells.map((row) => `| ${row.join(' | ')} |`),
    '',
    `Time of the engine for a key in a document of 20,000 lines, p99: ${p99.toFixed(2)} ms.`,
  ].join('\n');
}

/** Small files of which VS Code can replay many. */
function scriptsInEditor(files: readonly EditScript[]): readonly EditScript[] {
  const small = files.filter(({ before, after }) => {
    const hunks = hunksBetween(before, after);
    const typed = hunks.reduce((sum, { old, text }) => sum + [...old, ...text].join('\n').length, 0);
    return before.length <= MAX_CHARACTERS && typed <= MAX_TYPED;
  });
  return [...repeatedScripts().slice(0, quick ? 2 : 10), ...small.slice(0, quick ? 2 : FILES_IN_EDITOR)];
}

function editorTable(rows: readonly (readonly [model: string, figures: EditorFigures])[], tabs: TabFigures): string {
  const cells = rows.map(([model, { waits, ...sums }]) => {
    const sorted = [...waits].sort((a, b) => a - b);
    const at = (share: number) =>
      Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
    return [
      model,
      `${sums.accepted} of ${sums.edits} (${sums.scripts} files)`,
      `${((100 * sums.accepted) / sums.edits).toFixed(1)} %`,
      `${((100 * sums.wrong) / Math.max(1, sums.offered)).toFixed(1)} %`,
      (sums.requests / Math.max(1, sums.accepted)).toFixed(2),
      String(Math.round(sums.tokens / Math.max(1, sums.accepted))),
      `${at(0.5)} / ${at(0.95)}`,
      String(sums.moved),
    ].join(' | ');
  });
  const { pressed, withOffer, stolen } = tabs;
  return [
    '| in VS Code: model | accepted | share | wrong offers | requests / accepted | tokens / accepted | last key to label p50 / p95 ms | untouched lines that moved |',
    '|---|---|---|---|---|---|---|---|',
    ...cells.map((row) => `| ${row} |`),
    '',
    `${stolen} of ${pressed} ordinary presses of Tab did not indent; a next edit was on screen at ${withOffer} of them.`,
  ].join('\n');
}

async function inEditor(files: readonly EditScript[]) {
  const bench = await EditorBench.start();
  try {
    const scripts = scriptsInEditor(files);
    const rows: [string, EditorFigures][] = [];
    for (const [name, { kind, errors }] of MODELS) {
      if (kind !== 'oracle') continue;
      const figures = await bench.replay(scripts, errors);
      console.log(`In VS Code, ${name}: ${JSON.stringify({ ...figures, waits: undefined })}`);
      rows.push([name, figures]);
    }
    return { rows, tabs: await pressTabs(bench, quick ? 100 : TABS) };
  } finally {
    await bench.close();
  }
}

const files = (await changedFiles()).flatMap((file) => scriptOf(file) ?? []);
const rows = [
  ...(await measure('versions of packages', quick ? files.slice(0, 15) : files)),
  ...(await measure('the same edit again', repeatedScripts())),
];
const p99 = await keyTimes();
const text = table(rows, p99);
console.log(text);
const editor = process.argv.includes('--engine') ? undefined : await inEditor(files);
const editorText = editor && editorTable(editor.rows, editor.tabs);
if (editorText !== undefined) console.log(editorText);
const results = new URL('../results/', here);
mkdirSync(results, { recursive: true });
writeFileSync(new URL('next-edit.json', results), `${JSON.stringify({ rows, keyP99Ms: p99, editor }, null, 2)}\n`);
if (!quick) writeInto(new URL('../../../docs/performance.md', here), 'next-edit', text);
if (!quick && editorText !== undefined) {
  writeInto(new URL('../../../docs/performance.md', here), 'next-edit-editor', editorText);
}
