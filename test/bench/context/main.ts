/**
 * Which of the names that a missing function body needs are in the prompt. `node test/bench/context/main.ts [--quick]
 * [--engine] [--editor] [--show]`; `--engine` leaves VS Code out, `--editor` is VS Code only, `--show` prints each function, `--fixtures` measures only Python, Go and Rust. The rules are in
 * docs/performance.md. Writes test/bench/results/context.json and the tables in docs/performance.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { writeInto } from '../typist/report.ts';
import { findFixtureTasks, loadFixtures } from './fixtures.ts';
import { measureInEditor } from './in-editor.ts';
import { type Measured, measureInNode, type Sources } from './in-node.ts';
import { loadProjects } from './project.ts';
import { type ContextTask, findTasks } from './tasks.ts';
import { loadTypeScript } from './typescript.ts';

const FUNCTIONS = 60;
const FUNCTIONS_IN_EDITOR = 8;
const quick = process.argv.includes('--quick');
const here = new URL('.', import.meta.url);

const SOURCES: readonly (readonly [string, Sources])[] = [
  ['all', { language: true, paths: true, opened: false }],
  ['all, declaring files opened before', { language: true, paths: true, opened: true }],
  ['import paths only', { language: false, paths: true, opened: false }],
  ['opened files only', { language: false, paths: false, opened: true }],
];

interface Row {
  readonly name: string;
  readonly packages: string;
  readonly results: readonly Measured[];
}

function table(rows: readonly Row[], first: string): string {
  const head = [
    first,
    'functions',
    'first request',
    'best of the line',
    'not in the file: first',
    'precision',
    'characters',
    'same bytes',
    'ms',
  ];
  const cells = rows.map(({ name, packages, results }) => {
    const sum = (get: (each: Measured) => number): number => results.reduce((total, each) => total + get(each), 0);
    const share = (part: (each: Measured) => number, all: (each: Measured) => number): string =>
      `${((100 * sum(part)) / Math.max(1, sum(all))).toFixed(0)} %`;
    const mean = (get: (each: Measured) => number): string => (sum(get) / Math.max(1, results.length)).toFixed(0);
    return [
      name,
      `${packages} (${results.length})`,
      share(
        ({ first: { found } }) => found,
        ({ first: { needed } }) => needed,
      ),
      share(
        ({ best: { found } }) => found,
        ({ best: { needed } }) => needed,
      ),
      share(
        ({ first: { hiddenFound } }) => hiddenFound,
        ({ first: { hidden } }) => hidden,
      ),
      share(
        ({ first: { useful } }) => useful,
        ({ first: { characters } }) => characters,
      ),
      mean(({ first: { characters } }) => characters),
      share(
        ({ same }) => same,
        ({ all }) => all,
      ),
      mean(({ gatherMs }) => gatherMs),
    ];
  });
  return [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function show(task: ContextTask, { first, best }: Measured): void {
  if (!process.argv.includes('--show')) return;
  const missing = best.missing.map((name) => {
    return `${name} (${task.needed.find((each) => each.name === name)?.file})`;
  });
  console.log(`${first.found}, ${best.found} of ${first.needed}: ${task.file}: ${task.firstLine}`);
  if (missing.length > 0) console.log(`  missing: ${missing.join(', ')}`);
}

/** With each of the sources. */
async function measureAll(groups: readonly (readonly ContextTask[])[]): Promise<Row[]> {
  const measuredRows: Row[] = [];
  for (const [name, sources] of SOURCES.slice(0, process.argv.includes('--one') ? 1 : undefined)) {
    for (const tasks of groups) {
      const results: Measured[] = [];
      for (const task of tasks) {
        const measured = await measureInNode(task, sources);
        show(task, measured);
        results.push(measured);
      }
      measuredRows.push({ name, packages: tasks[0]?.project.name ?? '', results });
    }
  }
  return measuredRows;
}

const fixtures = table(await measureAll(loadFixtures().map(findFixtureTasks)), 'sources (engine)');
console.log(fixtures);
if (!quick) writeInto(new URL('../../../docs/performance.md', here), 'context-fixtures', fixtures);
if (process.argv.includes('--fixtures')) process.exit();
const ts = loadTypeScript();
const projects = loadProjects(ts);
const tasksOf = (most: number) => projects.map((project) => findTasks(ts, project, quick ? most / 3 : most));
const rows = await measureAll(process.argv.includes('--editor') ? [] : tasksOf(FUNCTIONS));
const engine = table(rows, 'sources (engine)');
console.log(engine);
let editor: string | undefined;
if (!process.argv.includes('--engine')) {
  const inEditor: Row[] = [];
  for (const opened of [false, true]) {
    for (const tasks of tasksOf(FUNCTIONS_IN_EDITOR)) {
      const results = await measureInEditor(tasks, { opened, done: show });
      inEditor.push({ name: opened ? 'opened before' : 'not opened', packages: tasks[0]?.project.name ?? '', results });
    }
  }
  editor = table(inEditor, 'declaring files (VS Code)');
  console.log(editor);
  rows.push(...inEditor);
}
if (!quick) {
  const results = new URL('../results/', here);
  mkdirSync(results, { recursive: true });
  writeFileSync(new URL('context.json', results), `${JSON.stringify(rows, null, 2)}\n`);
  const docs = new URL('../../../docs/performance.md', here);
  if (!process.argv.includes('--editor')) writeInto(docs, 'context', engine);
  if (editor !== undefined) writeInto(docs, 'context-editor', editor);
}
