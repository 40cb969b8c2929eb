// npm test [-- PATTERN … --grep TITLE]: sets up what the tests need, runs them, prints the failures again at the end, and
// ends with one line `N passed, N failed`. A pattern is a part of a file's path, a glob, or a part of a title; it selects
// tests of any suite, and only what they need is built and installed. `--fast` selects those that start no process.
import { parseArgs } from 'node:util';
import { BUILD, CHECKS, type Outcome, run, type Step, setUpStep, suiteStep } from './run/steps.ts';
import { BESIDE, FAST_SUITE, type Selection, SUITES, select } from './run/suites.ts';
import { BUILT } from './svc-program.ts';

const { values, positionals } = parseArgs({
  options: { grep: { type: 'string' }, fast: { type: 'boolean' } },
  allowPositionals: true,
});
const outcomes: Outcome[] = [];
const started = performance.now();
let failed = 0;

try {
  if (values.fast) await step(suiteStep(FAST_SUITE));
  else if (positionals.length === 0 && values.grep === undefined) await runAll();
  else await runSelected(select(positionals, values.grep));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  failed += 1;
}
for (const { report } of outcomes) for (const line of report) console.log(line);
printTimes();
const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, each) => total + count(each), 0);
failed += sum((each) => each.failed);
console.log(`${sum((each) => each.passed)} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

async function runAll(): Promise<void> {
  const suites = SUITES.filter(({ usual }) => usual);
  const installed = step(setUpStep(suites));
  const build = step(BUILD);
  const waiting = [...suites];
  const runWaiting = async () => {
    const built = await build;
    for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift()) {
      if (suite.programs.length > 0) await installed;
      if (suite.built && !built) continue;
      await step(suiteStep(suite, undefined, built ? BUILT : {}));
    }
  };
  const checks = build.then(async () => {
    for (const each of CHECKS) await step(each);
  });
  await Promise.all([checks, ...Array.from({ length: BESIDE }, runWaiting)]);
}

async function runSelected(selections: readonly Selection[]): Promise<void> {
  if (selections.length === 0) throw new Error(`No file, group or test matches: ${process.argv.slice(2).join(' ')}`);
  const suites = selections.map(({ suite }) => suite);
  if (suites.some(({ programs }) => programs.length > 0)) await step(setUpStep(suites));
  const built = !suites.some((suite) => suite.built) || (await step(BUILD));
  for (const { suite, ...files } of selections) if (built || !suite.built) await step(suiteStep(suite, files));
}

/** @returns whether nothing failed. After a failed build, what needs it is not started: it would test an older one. */
async function step(each: Step): Promise<boolean> {
  const outcome = await run(each, (line) => console.log(line));
  outcomes.push(outcome);
  return outcome.failed === 0;
}

function printTimes(): void {
  console.log('\n  seconds  tests  step');
  for (const { step, seconds, passed, failed } of outcomes) {
    console.log(`${seconds.toFixed(1).padStart(9)} ${String(passed + failed).padStart(6)}  ${step.name}`);
  }
  console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(9)}         in all\n`);
}
