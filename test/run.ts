// npm test: builds, checks and runs every suite, repeats what failed, and ends with one line `N passed, N failed`.
// Sets up what it needs on a fresh machine: Chromium, Postgres and the VS Code test host.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { postgresPath } from './gateway/postgres/postgres-server.ts';
import { chromiumPath } from './host/chromium.ts';
import { installCodeServer } from './host/code-server.ts';

const ROOT = join(import.meta.dirname, '..');
const COUNTS = join(ROOT, 'out', 'counts');
const totals = { passed: 0, failed: 0 };
/** What the failed steps printed about their failures. It is printed again at the end, where it is easy to find. */
const reports: string[] = [];
/** The last lines of a step that failed without a list of its failed tests. */
const LAST_LINES = 40;

interface Step {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** A step without counts is one test: it passes or fails as a whole. */
  readonly counted: boolean;
}

const bin = (name: string) => join(ROOT, 'node_modules', '.bin', name);
const reporter = ['--reporter', join(ROOT, 'test', 'counting-reporter.ts')];
const mocha = (name: string, ...args: readonly string[]): Step => {
  return { name, file: bin('mocha'), args: [...args, ...reporter], counted: true };
};

/** What the suites need, one step after the other. */
const checks: readonly Step[] = [
  { name: 'lint and layers', file: bin('biome'), args: ['check', '.'], counted: false },
  { name: 'types', file: bin('tsc'), args: ['-p', '.'], counted: false },
  { name: 'types of the pages', file: bin('tsc'), args: ['-p', 'src/webview'], counted: false },
  { name: 'build', file: process.execPath, args: ['esbuild.mjs', '--tests'], counted: false },
];
/** Rows of steps that run beside each other: most of the time, a step waits for a process and not for a core. */
const rows: readonly (readonly Step[])[] = [
  [mocha('fast suites')],
  [
    mocha('pages in Chromium', '--config', 'test/webview/.mocharc.json'),
    { name: 'suites in VS Code', file: process.execPath, args: ['test/host/run-suites.ts'], counted: true },
    mocha('end to end', '--config', 'test/e2e/.mocharc.json'),
  ],
];

try {
  setUp();
  await runAll(checks);
  await Promise.all(rows.map(runAll));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  totals.failed += 1;
}
for (const report of reports) console.log(report);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);

function setUp(): void {
  console.log(`Chromium: ${chromiumPath()}`);
  console.log(`Postgres: ${postgresPath()}`);
  installCodeServer();
  rmSync(COUNTS, { recursive: true, force: true });
  mkdirSync(COUNTS, { recursive: true });
}

async function runAll(steps: readonly Step[]): Promise<void> {
  for (const step of steps) await run(step);
}

/** Prints the lines of a step with its name, because others run beside it. */
async function run(step: Step): Promise<void> {
  console.log(`\n== ${step.name}`);
  const counts = join(COUNTS, `${step.name.replaceAll(' ', '-')}.json`);
  const started = Date.now();
  const child = spawn(step.file, step.args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SVC_TEST_COUNTS: counts },
  });
  const lines: string[] = [];
  const printed = [child.stdout, child.stderr].map(async (stream) => {
    for await (const line of createInterface({ input: stream })) {
      lines.push(line);
      console.log(`${step.name} | ${line}`);
    }
  });
  const [status] = await once(child, 'close');
  await Promise.all(printed);
  console.log(`== ${step.name}: ${status === 0 ? 'ok' : 'FAILED'} in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  if (status !== 0) reports.push(`\n== failed: ${step.name}\n${failuresIn(lines).join('\n')}`);
  if (step.counted && existsSync(counts)) {
    const { passes, failures } = JSON.parse(readFileSync(counts, 'utf8'));
    totals.passed += passes;
    totals.failed += failures;
    if (status !== 0 && failures === 0) totals.failed += 1;
    return;
  }
  if (status === 0 && !step.counted) totals.passed += 1;
  else totals.failed += 1;
}

/** The part of Mocha's output that lists the failed tests, else the last lines. */
function failuresIn(lines: readonly string[]): readonly string[] {
  const start = lines.findLastIndex((line) => /^\s+\d+ failing\b/.test(stripVTControlCharacters(line)));
  return lines.slice(start === -1 ? -LAST_LINES : start);
}
