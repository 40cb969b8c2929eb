/**
 * How long the configuration takes: `node test/bench/config.ts`. Each cold row is a process of its own
 * that loads the modules, reads 100 providers of 20 models each, checks, merges, resolves references and
 * builds the registry; beside it, `JSON.parse` of the same bytes.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const RUNS = 15;
const TARGET_MS = 50;

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

/** One process: what it measures is written to its output. */
async function measure(home: string): Promise<void> {
  const sample: Record<string, number> = {};
  let mark = performance.now();
  const step = (name: string) => {
    const now = performance.now();
    sample[name] = now - mark;
    mark = now;
  };
  const { loadSettings } = await import('../../src/config/load.ts');
  const { buildRegistry } = await import('../../src/catalog/registry.ts');
  const { loadSnapshot } = await import('../../src/catalog/snapshot.ts');
  step('modules');
  const env = { BENCH_KEY: 'k', SVC_MANAGED_CONFIG_DIR: path.join(home, 'none') };
  const input = { env, platform: process.platform, home, cwd: home, trustedWorkspace: true };
  const settings = await loadSettings(input);
  step('load, cold');
  const catalog = await loadSnapshot();
  step('catalog');
  const registry = buildRegistry({ settings, catalog, env });
  step('registry, cold');
  if (registry.models.size !== 2_000 || settings.diagnostics.length > 0)
    throw new Error('The configuration was not read.');
  for (let turn = 0; turn < 5; turn++) await loadSettings(input);
  mark = performance.now();
  await loadSettings(input);
  step('load, warm');
  buildRegistry({ settings, catalog, env });
  step('registry, warm');
  const text = readFileSync(path.join(home, '.config/svc/svc.jsonc'), 'utf8');
  mark = performance.now();
  JSON.parse(text);
  step('JSON.parse of the bytes');
  const { proposalsAt, providerKeys, subjectAt } = await import('../../src/config/assist.ts');
  const end = text.lastIndexOf('"model-19"') + 3;
  const nothing = () => [];
  const knowledge = { providers: nothing, models: nothing, refs: nothing, variants: nothing, environment: nothing };
  // What VS Code asks for at a keystroke and a hover, at the end of the file, where it costs most.
  const keystroke = () => {
    mark = performance.now();
    proposalsAt(text, end, knowledge);
    step('keystroke: completion');
    subjectAt(text, end);
    step('keystroke: hover');
    providerKeys(text);
    step('keystroke: code lenses');
  };
  for (let turn = 0; turn < 6; turn++) keystroke();
  console.log(JSON.stringify(sample));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function isSample(value: unknown): value is Sample {
  return typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'number');
}

function run(): void {
  const home = mkdtempSync(path.join(tmpdir(), 'svc-bench-'));
  try {
    mkdirSync(path.join(home, '.config/svc'), { recursive: true });
    const text = configuration();
    writeFileSync(path.join(home, '.config/svc/svc.jsonc'), text);
    const samples: Sample[] = [];
    for (let index = 0; index < RUNS; index++) {
      const out = execFileSync(process.execPath, [fileURLToPath(import.meta.url), home], { encoding: 'utf8' });
      const sample: unknown = JSON.parse(out);
      if (isSample(sample)) samples.push(sample);
    }
    report(samples, text.length);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function report(samples: readonly Sample[], bytes: number): void {
  const steps = Object.keys(samples[0] ?? {});
  const rows = steps.map((step) => ({ step, median: median(samples.map((sample) => sample[step] ?? 0)) }));
  const of = (step: string) => rows.find((row) => row.step === step)?.median ?? 0;
  const cold = of('load, cold') + of('registry, cold');
  console.log(`100 providers of 20 models, ${bytes} bytes, ${samples.length} processes, medians in ms`);
  for (const row of rows) console.log(`${row.step.padEnd(26)}${row.median.toFixed(2).padStart(9)}`);
  const ratio = of('load, cold') / of('JSON.parse of the bytes');
  console.log(
    `cold load and registry    ${cold.toFixed(2).padStart(9)}  (target below ${TARGET_MS}; load is ${ratio.toFixed(1)} times JSON.parse)`,
  );
  const table = [
    '## Configuration',
    '',
    `\`npm run bench:config\`: a file of 100 providers with 20 models each, ${bytes.toLocaleString('en-US')} bytes; each of ${samples.length} samples is a process of its own, which loads, checks, merges, resolves references and builds all 2,000 models once (cold) and again (warm). Medians. Keystrokes are at the end of the file, in an extension host that has seen some.`,
    '',
    `Cold load and registry: ${cold.toFixed(0)} ms, wanted below ${TARGET_MS}: ${cold < TARGET_MS ? 'holds' : 'does not hold'}. That is ${(cold / of('JSON.parse of the bytes')).toFixed(1)} times \`JSON.parse\` of the same bytes; the warm load is ${(of('load, warm') / of('JSON.parse of the bytes')).toFixed(1)} times. Files as people write them are a hundredth of this.`,
    '',
    '| step | ms |',
    '|---|---|',
    ...rows.map((row) => `| ${row.step} | ${row.median.toFixed(2)} |`),
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
    ratio,
  };
  writeFileSync(new URL('config.json', results), `${JSON.stringify(file, null, 2)}\n`);
}

const [home] = process.argv.slice(2);
if (home === undefined) run();
else await measure(home);
