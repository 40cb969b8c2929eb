// npm run test:repeat -- COUNT [--load] [PATTERN …]: runs each file that matches COUNT times on its own, or without a
// pattern the whole suite, and prints a table: runs, failures, seconds. `--load` keeps all cores busy beside it. The
// output of runs that failed is kept in out/repeat/.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BUILD, run, type Step, setUpStep, suiteStep } from './run/steps.ts';
import { ROOT, select } from './run/suites.ts';

const { values, positionals } = parseArgs({ options: { load: { type: 'boolean' } }, allowPositionals: true });
const [count = '', ...patterns] = positionals;
const times = Number(count);
if (!Number.isSafeInteger(times) || times < 1) {
  console.error('Usage: npm run test:repeat -- COUNT [--load] [PATTERN …]');
  process.exit(2);
}

const whole: Step = { name: 'all tests', file: process.execPath, args: ['test/run.ts'], counted: false };
const steps = patterns.length === 0 ? [whole] : await fileSteps();
const busy = values.load ? startLoad() : [];
const table: string[] = [];
let failures = 0;
for (const step of steps) {
  const seconds: number[] = [];
  let failed = 0;
  for (let at = 1; at <= times; at++) {
    const lines: string[] = [];
    const outcome = await run(step, (line) => lines.push(line));
    seconds.push(outcome.seconds);
    console.log(`${step.name}, run ${at} of ${times}: ${outcome.report.length === 0 ? 'ok' : 'FAILED'}`);
    if (outcome.report.length === 0) continue;
    failed += 1;
    keep(`${step.name}-${at}`, lines);
  }
  failures += failed;
  seconds.sort((a, b) => a - b);
  const [least, middle, most] = [0, seconds.length >> 1, seconds.length - 1].map((at) => (seconds[at] ?? 0).toFixed(1));
  table.push(`| ${step.name} | ${times} | ${failed} | ${least} / ${middle} / ${most} |`);
}
for (const child of busy) child.kill();
console.log(`\n| file${values.load ? ' (all cores busy)' : ''} | runs | failures | seconds: least / median / most |`);
console.log('|---|---|---|---|');
for (const row of table) console.log(row);
process.exit(failures === 0 ? 0 : 1);

/** One step for each file. */
async function fileSteps(): Promise<readonly Step[]> {
  const selections = select(patterns);
  const suites = selections.map(({ suite }) => suite);
  if (suites.length === 0) throw new Error(`No file, group or test matches ${patterns.join(' ')}.`);
  for (const step of [setUpStep(suites), ...(suites.some(({ built }) => built) ? [BUILD] : [])]) {
    const { report } = await run(step, console.log);
    if (report.length > 0) throw new Error(report.join('\n'));
  }
  return selections.flatMap(({ suite, files, ...grep }) =>
    files.map((file) => ({ ...suiteStep(suite, { files: [file], ...grep }), name: file })),
  );
}

/** One process for each core that does nothing but compute. */
function startLoad(): readonly ChildProcess[] {
  return Array.from({ length: availableParallelism() }, () => {
    // It ends with this process, also if this one is killed: its standard input is closed then.
    const program =
      'process.stdin.on("end", () => process.exit()).resume(); const spin = () => { const end = Date.now() + 50; while (Date.now() < end); setImmediate(spin); }; spin();';
    return spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'ignore', 'ignore'] });
  });
}

function keep(name: string, lines: readonly string[]): void {
  const folder = join(ROOT, 'out', 'repeat');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name.replaceAll(/\W+/g, '-')}.log`), lines.join('\n'));
}
