/**
 * How long the configuration takes: `npm run bench:config`. Files of 10 providers with 10 models each and of 100
 * providers with 20 models each are read, checked, merged, their references resolved and all models built, beside
 * `JSON.parse` of the same bytes.
 *
 * "Cold" is the first time in a process: each sample is a separate process (config-process.ts) that runs a
 * bundle made with the options of the release, so that no code of it has ever run and the engine has compiled
 * nothing. "Warm" is each later load, after a change of a file. Separate rows measure the rest: loading the
 * modules, jsonc-parser and zod among them, which happens once and never while the extension starts, and reading the
 * catalog's snapshot. Sources are not measured, because Node would strip their types first, and the stripper's own
 * compilation runs on beside the load.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

const RUNS = 15;
const SIZES = [
  { providers: 10, models: 10, targetMs: 10 },
  { providers: 100, models: 20, targetMs: 150 },
] as const;
type Size = (typeof SIZES)[number];
/** The longest that other work of the process may have to wait. */
const LONGEST_MS = 20;

interface Sample {
  readonly [step: string]: number;
}

function configuration(size: Size): string {
  const models = Object.fromEntries(
    Array.from({ length: size.models }, (_, index) => [
      `model-${index}`,
      {
        name: `Model ${index}`,
        limit: { context: 128_000, output: 8_192 },
        modalities: { input: ['text', 'image'], output: ['text'] },
        cost: { input: 1, output: 2 },
        tool_call: true,
        variants: { high: { reasoning_effort: 'high' } },
      },
    ]),
  );
  const provider = (index: number) => ({
    name: `Provider ${index}`,
    options: { baseURL: `https://p${index}.example/v1`, apiKey: '{env:BENCH_KEY}', headers: { 'x-n': `${index}` } },
    models,
  });
  const providers = Object.fromEntries(
    Array.from({ length: size.providers }, (_, index) => [`p${index}`, provider(index)]),
  );
  return JSON.stringify({ model: 'p0/model-0', provider: providers }, null, 1);
}

/** A typical file: comments, and trailing commas. */
function commented(text: string): string {
  const lines = text.split('\n').map((line) => {
    if (line.includes('"tool_call"')) return `${line} // it "can": https://example.com`;
    if (line.includes('"options"')) return `/* where it is, and its key */\n${line}`;
    return line.includes('"output": 8192') ? `${line},` : line;
  });
  return `// My providers\n${lines.join('\n')}`;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

interface Row {
  readonly step: string;
  readonly median: number;
  readonly least: number;
}

function rowOf(step: string, samples: readonly Sample[]): Row {
  const values = samples.map((sample) => sample[step] ?? Number.NaN);
  return { step, median: median(values), least: Math.min(...values) };
}

function isSample(value: unknown): value is Sample {
  return typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'number');
}

/** The process to measure as one file, as the release bundles. */
async function bundleInto(folder: string): Promise<string> {
  const outfile = path.join(folder, 'config-process.mjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, 'config-process.ts')],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    mainFields: ['module', 'main'],
    logLevel: 'warning',
  });
  copyFileSync(
    path.join(import.meta.dirname, '../../src/catalog/public/snapshot.json'),
    path.join(folder, 'snapshot.json'),
  );
  return outfile;
}

async function run(): Promise<void> {
  const home = mkdtempSync(path.join(tmpdir(), 'svc-bench-'));
  try {
    const measured = await bundleInto(home);
    report(SIZES.map((size) => measureSize(size, path.join(home, String(size.providers)), measured)));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Measured {
  readonly size: Size;
  readonly bytes: number;
  readonly rows: readonly Row[];
}

function measureSize(size: Size, folder: string, measured: string): Measured {
  const text = configuration(size);
  const models = String(size.providers * size.models);
  const plain = homeWith(path.join(folder, 'plain'), text);
  const notes = homeWith(path.join(folder, 'notes'), commented(text));
  const samples: Sample[] = [];
  for (let index = 0; index < RUNS; index++) {
    const withComments = sampleOf([measured, notes, models, 'cold']);
    samples.push({
      ...sampleOf([measured, plain, models]),
      'load with comments, cold': withComments['load, cold'] ?? Number.NaN,
    });
  }
  const rows = Object.keys(samples[0] ?? {}).map((step) => rowOf(step, samples));
  return { size, bytes: text.length, rows };
}

/** A home folder with this user configuration. */
function homeWith(folder: string, text: string): string {
  mkdirSync(path.join(folder, '.config/svc'), { recursive: true });
  writeFileSync(path.join(folder, '.config/svc/svc.jsonc'), text);
  return folder;
}

function sampleOf(parameters: readonly string[]): Sample {
  const sample: unknown = JSON.parse(execFileSync(process.execPath, parameters, { encoding: 'utf8' }));
  if (!isSample(sample)) throw new Error('A process did not say what it measured.');
  return sample;
}

function report(all: readonly Measured[]): void {
  const sections = all.flatMap((measured) => [`${titleOf(measured)}`, '', ...tableOf(measured), '']);
  const table = [
    '## Configuration',
    '',
    `\`npm run bench:config\`: each of ${RUNS} samples is a process of its own, which runs a bundle as it is released, and loads a file, checks it, merges it, resolves its references and builds all models once (cold, the first load of a process) and again (warm, each later load). The longest step is how long other work of the process has to wait at most. Keystrokes are at the end of the file, in an extension host that has seen some.`,
    '',
    ...sections,
  ].join('\n');
  console.log(table);
  const page = new URL('../../docs/performance.md', import.meta.url);
  const before = readFileSync(page, 'utf8');
  const section = `<!-- config -->\n${table.trimEnd()}\n<!-- /config -->`;
  const marked = /<!-- config -->[\s\S]*<!-- \/config -->/;
  const after = marked.test(before) ? before.replace(marked, () => section) : `${before.trimEnd()}\n\n${section}\n`;
  writeFileSync(page, after);
  const results = new URL('./results/', import.meta.url);
  mkdirSync(results, { recursive: true });
  const file = { date: new Date().toISOString(), node: process.version, runs: RUNS, all };
  writeFileSync(new URL('config.json', results), `${JSON.stringify(file, null, 2)}\n`);
}

function titleOf({ size, bytes, rows }: Measured): string {
  const verdict = (step: string, target: number) => {
    const { median: middle, least } = rows.find((row) => row.step === step) ?? {
      median: Number.NaN,
      least: Number.NaN,
    };
    const holds = middle <= target ? 'holds' : 'does not hold';
    return `${middle.toFixed(1)} ms (least ${least.toFixed(1)}), target ${target}: ${holds}`;
  };
  return [
    `**${size.providers} providers with ${size.models} models each**, ${bytes.toLocaleString('en-US')} bytes.`,
    `Cold load: ${verdict('load, cold', size.targetMs)}.`,
    `Warm load: ${verdict('load, warm', size.targetMs)}.`,
    `Longest step, cold: ${verdict('load, cold: longest step', LONGEST_MS)}.`,
    `Longest step, warm: ${verdict('load, warm: longest step', LONGEST_MS)}.`,
  ].join(' ');
}

function tableOf({ rows }: Measured): readonly string[] {
  return [
    '| step | median, ms | least, ms |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row.step} | ${row.median.toFixed(2)} | ${row.least.toFixed(2)} |`),
  ];
}

await run();
