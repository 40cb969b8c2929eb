// npm test: builds, checks and runs every suite, and ends with one line `N passed, N failed`.
// Sets up what it needs on a fresh machine: Chromium, Postgres and the VS Code test host.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { postgresPath } from './gateway/postgres/postgres-server.ts';
import { chromiumPath } from './host/chromium.ts';
import { installCodeServer } from './host/code-server.ts';

const ROOT = join(import.meta.dirname, '..');
const COUNTS = join(ROOT, 'out', 'counts');
const totals = { passed: 0, failed: 0 };

interface Step {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** A step without counts is one test: it passes or fails as a whole. */
  readonly counted: boolean;
}

const bin = (name: string) => join(ROOT, 'node_modules', '.bin', name);
const reporter = ['--reporter', join(ROOT, 'test', 'counting-reporter.ts')];
const steps: readonly Step[] = [
  { name: 'lint and layers', file: bin('biome'), args: ['check', '.'], counted: false },
  { name: 'types', file: bin('tsc'), args: ['-p', '.'], counted: false },
  { name: 'types of the pages', file: bin('tsc'), args: ['-p', 'src/webview'], counted: false },
  { name: 'build', file: process.execPath, args: ['esbuild.mjs', '--tests'], counted: false },
  { name: 'fast suites', file: bin('mocha'), args: reporter, counted: true },
  {
    name: 'pages in Chromium',
    file: bin('mocha'),
    args: ['--config', 'test/webview/.mocharc.json', ...reporter],
    counted: true,
  },
  { name: 'suites in VS Code', file: process.execPath, args: ['test/host/run-suites.ts'], counted: true },
  {
    name: 'end to end',
    file: bin('mocha'),
    args: ['--config', 'test/e2e/.mocharc.json', ...reporter],
    counted: true,
  },
];

try {
  setUp();
  for (const step of steps) run(step);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  totals.failed += 1;
}
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);

function setUp(): void {
  console.log(`Chromium: ${chromiumPath()}`);
  console.log(`Postgres: ${postgresPath()}`);
  installCodeServer();
  rmSync(COUNTS, { recursive: true, force: true });
  mkdirSync(COUNTS, { recursive: true });
}

function run(step: Step): void {
  console.log(`\n== ${step.name}`);
  const counts = join(COUNTS, `${step.name.replaceAll(' ', '-')}.json`);
  const started = Date.now();
  const { status } = spawnSync(step.file, step.args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, SVC_TEST_COUNTS: counts },
  });
  console.log(`== ${step.name}: ${status === 0 ? 'ok' : 'FAILED'} in ${((Date.now() - started) / 1000).toFixed(1)} s`);
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
