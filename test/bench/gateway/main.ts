/**
 * Compares the gateway with others in one run, in alternation:
 * `node test/bench/gateway/main.ts [--quick] [--no-peer] [--full] [--before CHECKOUT]`.
 * `--full` only measures what a pool, telemetry, and the admin API with a page that shows live requests cost.
 * `--before` adds the gateway of another checkout (built there) and prints the ratio to it for each measurement.
 * Writes test/bench/results/gateway.json, and without --quick the table in docs/performance.md.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  type Contestant,
  cpuSeconds,
  direct,
  gateway,
  peer,
  relay,
  residentBytes,
  startUpstream,
} from './contestants.ts';
import { chatBody, drain, drive, firstBytes, hold, PROMPT } from './load.ts';
import { comparisonOf, type Row, reportOf, tableOf } from './report.ts';

const has = (flag: string) => process.argv.includes(flag);
const QUICK = has('--quick');
const BEFORE = has('--before') ? process.argv[process.argv.indexOf('--before') + 1] : undefined;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? (QUICK ? 3 : 7));
const SECONDS = Number(process.env.BENCH_SECONDS ?? (QUICK ? 0.7 : 1));
const FRAMES = QUICK ? 400 : 3_000;
const STREAMS = 32;
const OPEN = 200;
/**
 * One connection mostly waits, so that other load of the machine affects it most: its time is cut into
 * slices that all take in turn. Streams settle into one rhythm or another: they need more rounds.
 */
const SLICES = 15;

if (has('--full')) {
  const { measureFeatures } = await import('./features.ts');
  await measureFeatures();
  process.exit();
}

const WHOLE = chatBody();
const STREAM = chatBody({ stream: true }, `frames:20 ${PROMPT}`);
const FLOOD = chatBody({ stream: true }, `frames:${FRAMES} ${PROMPT}`);
const OPEN_STREAM = chatBody({ stream: true }, `hold: ${PROMPT}`);

/** Names of measurements to the values of each round, by contestant. */
const samples = new Map<string, Map<string, number[]>>();

function note(what: string, who: string, value: number): void {
  const of = samples.get(what) ?? new Map<string, number[]>();
  samples.set(what, of);
  of.set(who, [...(of.get(who) ?? []), value]);
}

const percentile = (values: readonly number[], share: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

/** One measurement of one contestant. */
type Step = (who: Contestant, kind: 'same' | 'translated') => Promise<void>;

const throughput =
  (connections: number, seconds = SECONDS): Step =>
  async (who, kind) => {
    const { url, bytes } = who.request(WHOLE, kind === 'translated');
    const before = cpuSeconds(who.pid);
    const { perSecond, latencies } = await drive(url, bytes, connections, seconds);
    note(`${kind} requests/s at ${connections}`, who.name, perSecond);
    const used = ((cpuSeconds(who.pid) - before) / latencies.length) * 1e6;
    if (connections === 64) note(`${kind} CPU µs a request at 64`, who.name, used);
    if (connections > 1) return;
    note(`${kind} latency p50 ms`, who.name, percentile(latencies, 0.5));
    note(`${kind} latency p99 ms`, who.name, percentile(latencies, 0.99));
  };

const firstByte: Step = async (who, kind) => {
  const { url, bytes } = who.request(STREAM, kind === 'translated');
  const found = await firstBytes(url, bytes, QUICK ? 40 : 100);
  note(`${kind} first byte p50 ms`, who.name, percentile(found, 0.5));
};

const flood: Step = async (who, kind) => {
  const { url, bytes } = who.request(FLOOD, kind === 'translated');
  const before = cpuSeconds(who.pid);
  const seconds = await drain(url, bytes, STREAMS);
  const frames = STREAMS * FRAMES;
  note(`${kind} frames/s`, who.name, frames / seconds);
  note(`${kind} CPU s per 100,000 frames`, who.name, ((cpuSeconds(who.pid) - before) / frames) * 100_000);
};

const STEPS: readonly Step[] = [
  ...Array.from({ length: SLICES }, () => throughput(1, (3 * SECONDS) / SLICES)),
  throughput(16),
  throughput(64),
  firstByte,
  ...[flood, flood, flood],
];

async function memory(who: Contestant): Promise<void> {
  const { url, bytes } = who.request(OPEN_STREAM, false);
  // The first streams load code that later ones share.
  (await hold(url, bytes, 8))();
  const before = residentBytes(who.pid);
  const release = await hold(url, bytes, OPEN);
  note('MB an open stream', who.name, (residentBytes(who.pid) - before) / OPEN / 1024 / 1024);
  release();
}

const upstream = await startUpstream();
const contestants: Contestant[] = [direct(upstream.url, upstream.pid)];
try {
  contestants.push(await relay(upstream.url, WHOLE), await gateway(upstream.url, WHOLE));
  if (BEFORE !== undefined) contestants.push(await gateway(upstream.url, WHOLE, { before: BEFORE }));
  if (!has('--no-peer')) contestants.push(await peer(upstream.url, WHOLE));
  for (const who of contestants) note('cold start ms', who.name, who.coldStartMs);
  for (const who of contestants) if (who.name !== 'direct') await memory(who);
  // Warm up, so that compilation does not count: it takes more seconds the more code a contestant runs.
  for (const who of contestants) {
    for (const translated of [false, true]) {
      const { url, bytes } = who.request(WHOLE, translated && who.name !== 'relay');
      await drive(url, bytes, 64, 8);
      const flood = who.request(FLOOD, translated && who.name !== 'relay');
      await drain(flood.url, flood.bytes, STREAMS);
    }
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    // One after another within each measurement, and another one first in each round: a machine that
    // becomes slower or faster meanwhile does so for all of them.
    const order = [
      ...contestants.slice(round % contestants.length),
      ...contestants.slice(0, round % contestants.length),
    ];
    for (const step of STEPS) {
      for (const who of order) await step(who, 'same');
      for (const who of order) if (who.name !== 'relay') await step(who, 'translated');
    }
    process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`);
  }
} finally {
  for (const who of contestants) who.stop();
  upstream.stop();
}

const rows: Row[] = [...samples].map(([what, of]) => ({
  what,
  medians: Object.fromEntries([...of].map(([who, values]) => [who, percentile(values, 0.5)])),
  values: Object.fromEntries(of),
}));
const report = reportOf(rows, { rounds: ROUNDS, seconds: SECONDS, quick: QUICK });
const root = path.resolve(import.meta.dirname, '..', '..', '..');
mkdirSync(path.join(root, 'test/bench/results'), { recursive: true });
writeFileSync(path.join(root, 'test/bench/results/gateway.json'), `${JSON.stringify(report, null, 2)}\n`);
const table = tableOf(report);
console.log(table);
if (BEFORE !== undefined) console.log(`\n${comparisonOf(rows)}`);
if (!QUICK) {
  const file = path.join(root, 'docs/performance.md');
  const text = readFileSync(file, 'utf8');
  const section = `<!-- gateway -->\n${table}\n<!-- /gateway -->`;
  const marked = /<!-- gateway -->[\s\S]*<!-- \/gateway -->/;
  writeFileSync(file, marked.test(text) ? text.replace(marked, () => section) : `${text.trimEnd()}\n\n${section}\n`);
}
process.exitCode = report.targets.every(({ holds }) => holds) ? 0 : 1;
