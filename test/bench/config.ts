/**
 * How long the configuration takes: `npm run bench:config`. A file of 100 providers with 20 models each is
 * read, checked, merged, its references resolved and all 2,000 models built, beside `JSON.parse` of the same
 * bytes.
 *
 * "Cold" is the first time in a process: each sample is a process of its own (config-process.ts) that runs a
 * bundle made with the options of the release, so that no code of it has ever run and the engine has compiled
 * nothing. What is not counted has rows of its own: loading the modules, which happens once in an extension
 * host whatever the file holds, and reading the catalog's snapshot. The schema library is in neither: the
 * loader goes by schemas/svc.schema.json, zod only makes that file. Sources are not measured, because Node
 * would strip their types first, and the stripper's own compilation runs on beside the load.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';

const RUNS = 15;
const TARGET_MS = 50;
const KEYSTROKE_MS = 10;

interface Sample {
  readonly [step: string]: number;
}

function configuration(): string {
  const models = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [
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
  const providers = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`p${index}`, provider(index)]));
  return JSON.stringify({ model: 'p0/model-0', provider: providers }, null, 1);
}

/** As people write it: comments, and commas behind the last of a list. */
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

function rowOf(step: string, samples: readonly Sample[]) {
  const values = samples.map((sample) => sample[step] ?? Number.NaN);
  return { step, median: median(values), least: Math.min(...values) };
}

function coldOf(sample: Sample): Sample {
  return { cold: (sample['load, cold'] ?? Number.NaN) + (sample['registry, cold'] ?? Number.NaN) };
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
  copyFileSync(path.join(import.meta.dirname, '../../src/catalog/snapshot.json'), path.join(folder, 'snapshot.json'));
  return outfile;
}

async function run(): Promise<void> {
  const home = mkdtempSync(path.join(tmpdir(), 'svc-bench-'));
  try {
    const text = configuration();
    const plain = homeWith(path.join(home, 'plain'), text);
    const notes = homeWith(path.join(home, 'notes'), commented(text));
    const measured = await bundleInto(home);
    const samples: Sample[] = [];
    const withComments: Sample[] = [];
    for (let index = 0; index < RUNS; index++) {
      samples.push(sampleOf([measured, plain]));
      withComments.push(coldOf(sampleOf([measured, notes, 'cold'])));
    }
    report(samples, rowOf('cold', withComments), text.length);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A home folder whose own configuration is this. */
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

function report(samples: readonly Sample[], withComments: { readonly median: number }, bytes: number): void {
  const steps = Object.keys(samples[0] ?? {});
  const rows = steps.map((step) => rowOf(step, samples));
  const of = (step: string) => rows.find((row) => row.step === step)?.median ?? 0;
  const { median: cold, least } = rowOf('cold', samples.map(coldOf));
  const slowest = Math.max(...rows.filter(({ step }) => /^keystroke|longest/.test(step)).map((row) => row.median));
  console.log(`100 providers of 20 models, ${bytes} bytes, ${samples.length} processes, medians and least in ms`);
  for (const row of rows) {
    console.log(`${row.step.padEnd(26)}${row.median.toFixed(2).padStart(9)}${row.least.toFixed(2).padStart(9)}`);
  }
  console.log(`the same with comments    ${withComments.median.toFixed(2).padStart(9)}`);
  const ratio = of('load, cold') / of('JSON.parse of the bytes');
  console.log(
    `cold load and registry    ${cold.toFixed(2).padStart(9)}${least.toFixed(2).padStart(9)}  (target below ${TARGET_MS}; load is ${ratio.toFixed(1)} times JSON.parse)`,
  );
  const table = [
    '## Configuration',
    '',
    `\`npm run bench:config\`: a file of 100 providers with 20 models each, ${bytes.toLocaleString('en-US')} bytes; each of ${samples.length} samples is a process of its own, which runs a bundle as it is released, and loads, checks, merges, resolves references and builds all 2,000 models once (cold) and again (warm). Keystrokes are at the end of the file, in an extension host that has seen some.`,
    '',
    `Cold load and registry: ${cold.toFixed(0)} ms, wanted below ${TARGET_MS}: ${cold < TARGET_MS ? 'holds' : 'does not hold'} (${least.toFixed(0)} in the process that was disturbed least). That is ${(cold / of('JSON.parse of the bytes')).toFixed(1)} times \`JSON.parse\` of the same bytes; with comments and trailing commas in the file it is ${withComments.median.toFixed(0)} ms; the warm load is ${(of('load, warm') / of('JSON.parse of the bytes')).toFixed(1)} times. Files as people write them are a hundredth of this. What a keystroke asks for, and the longest step of a load that may run beside it, take at most ${slowest.toFixed(1)} ms, wanted below ${KEYSTROKE_MS}: ${slowest < KEYSTROKE_MS ? 'holds' : 'does not hold'}.`,
    '',
    '| step | median, ms | least, ms |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row.step} | ${row.median.toFixed(2)} | ${row.least.toFixed(2)} |`),
  ].join('\n');
  const page = new URL('../../docs/performance.md', import.meta.url);
  const before = readFileSync(page, 'utf8');
  const section = `<!-- config -->\n${table}\n<!-- /config -->`;
  const marked = /<!-- config -->[\s\S]*<!-- \/config -->/;
  const after = marked.test(before) ? before.replace(marked, () => section) : `${before.trimEnd()}\n\n${section}\n`;
  writeFileSync(page, after);
  const results = new URL('./results/', import.meta.url);
  mkdirSync(results, { recursive: true });
  const file = {
    date: new Date().toISOString(),
    node: process.version,
    bytes,
    runs: samples.length,
    rows,
    cold,
    withComments: withComments.median,
    ratio,
  };
  writeFileSync(new URL('config.json', results), `${JSON.stringify(file, null, 2)}\n`);
}

await run();
