import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { endChildWithTests } from '../end-with-tests.ts';
import { SHOWN, SHOWN_END } from '../host/failure-report.ts';
import { groups, ROOT, type Selection, type Suite } from './suites.ts';

const COUNTS = join(ROOT, 'out', 'counts');
/** The last lines of a step that failed without a list of its failed tests. */
const LAST_LINES = 40;

/** A process that tests. */
export interface Step {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** It reports the number of its tests. A step without counts is one test: it passes or fails as a whole. */
  readonly counted: boolean;
}

export interface Outcome {
  readonly step: Step;
  readonly passed: number;
  readonly failed: number;
  readonly seconds: number;
  /** The printed lines about the failures; empty if nothing failed. */
  readonly report: readonly string[];
}

const bin = (name: string) => join(ROOT, 'node_modules', '.bin', name);

export const BUILD: Step = { name: 'build', file: process.execPath, args: ['esbuild.mjs', '--tests'], counted: false };

/** Installs what the suites need. */
export function setUpStep(suites: readonly Suite[]): Step {
  const names = suites.map(({ name }) => name);
  return { name: 'set-up', file: process.execPath, args: ['test/run/set-up.ts', ...names], counted: false };
}

/** They need nothing and nothing needs them. */
export const CHECKS: readonly Step[] = [
  { name: 'lint and layers', file: bin('biome'), args: ['check', '--error-on-warnings', '.'], counted: false },
  { name: 'types', file: bin('tsc'), args: ['-p', '.'], counted: false },
  { name: 'types of the pages', file: bin('tsc'), args: ['-p', 'src/webview'], counted: false },
];

/** The process that runs a whole suite, or some files of it. */
export function suiteStep(
  suite: Suite,
  selection?: Omit<Selection, 'suite'>,
  env: Readonly<Record<string, string>> = {},
): Step {
  const { name, mocha } = suite;
  const grep = selection?.grep;
  if (mocha === undefined) {
    const title = grep ?? '';
    const some = selection && { SVC_SUITES: groupPattern(selection.files.flatMap(groups), title) };
    return { name, file: process.execPath, args: ['test/host/run-suites.ts'], env: { ...env, ...some }, counted: true };
  }
  const reporter = ['--reporter', join(ROOT, 'test', 'run', 'reporter.ts')];
  const files = selection?.files ?? [];
  const spec = files.length > 0 ? files : suite.files;
  const ignored = files.length > 0 ? [] : (suite.except ?? []).flatMap((glob) => ['--ignore', glob]);
  const fgrep = grep === undefined ? [] : ['--fgrep', grep];
  return {
    name,
    file: bin('mocha'),
    args: ['--no-config', ...mocha, ...reporter, ...ignored, ...fgrep, ...spec],
    env,
    counted: true,
  };
}

/** A regular expression for full titles: one of the groups first, the text somewhere after. */
function groupPattern(outer: readonly string[], text: string): string {
  const literal = (part: string) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return `^(?:${outer.map(literal).join('|')}).*${literal(text)}`;
}

/** @param print called with each line, with the step's name before it because others run beside it. */
export async function run(step: Step, print: (line: string) => void): Promise<Outcome> {
  print(`\n== ${step.name}`);
  const counts = join(COUNTS, `${step.name.replaceAll(/\W+/g, '-')}.json`);
  mkdirSync(COUNTS, { recursive: true });
  rmSync(counts, { force: true });
  const started = performance.now();
  const child = spawn(step.file, step.args, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...step.env, SVC_TEST_COUNTS: counts },
  });
  endChildWithTests(child, 'SIGTERM');
  const lines: string[] = [];
  const printed = [child.stdout, child.stderr].map(async (stream) => {
    for await (const line of createInterface({ input: stream })) {
      lines.push(line);
      print(`${step.name} | ${line}`);
    }
  });
  const [status] = await once(child, 'close');
  await Promise.all(printed);
  const seconds = (performance.now() - started) / 1000;
  print(`== ${step.name}: ${status === 0 ? 'ok' : 'FAILED'} in ${seconds.toFixed(1)} s`);
  const report = status === 0 ? [] : [`\n== failed: ${step.name}`, ...failuresIn(lines)];
  return { step, seconds, report, ...count(step, status === 0, counts) };
}

function count(step: Step, ok: boolean, counts: string): { readonly passed: number; readonly failed: number } {
  if (!step.counted || !existsSync(counts))
    return { passed: ok && !step.counted ? 1 : 0, failed: ok && !step.counted ? 0 : 1 };
  const { passes, failures } = JSON.parse(readFileSync(counts, 'utf8'));
  return { passed: passes, failed: ok || failures > 0 ? failures : 1 };
}

/** What failed tests showed, then the part of Mocha's output that lists these tests, else the last lines. */
function failuresIn(lines: readonly string[]): readonly string[] {
  const start = lines.findLastIndex((line) => /^\s+\d+ failing\b/.test(stripVTControlCharacters(line)));
  const shown = lines.flatMap((line, at) => {
    if (!line.includes(SHOWN)) return [];
    const end = lines.findIndex((each, index) => index > at && each.trimStart().startsWith(SHOWN_END));
    return lines.slice(at, end === -1 ? at + LAST_LINES : end + 1);
  });
  return [...shown, ...lines.slice(start === -1 ? -LAST_LINES : start)];
}
