import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { type Contestant, cpuSeconds, FEATURES, type Feature, gateway, startUpstream } from './contestants.ts';
import { chatBody, drive } from './load.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 25);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 0.7);
const WARM_SECONDS = 8;
const CONNECTIONS = 64;
const WANTED = 1.1;
const BODY = chatBody();
const CASES: readonly (readonly Feature[])[] = [...FEATURES.map((each) => [each]), FEATURES];
/** A second gateway without features: its ratio shows how much two equal processes differ. */
const CONTROL = 'nothing';

/**
 * The CPU time of a request with features that are off by default, of that without. The gateways take turns, and a ratio
 * is of two measurements of one round, so that other load of the machine affects both.
 */
export async function measureFeatures(): Promise<void> {
  const upstream = await startUpstream();
  const contestants: Contestant[] = [];
  try {
    contestants.push(await gateway(upstream.url, BODY));
    contestants.push({ ...(await gateway(upstream.url, BODY)), name: CONTROL });
    for (const features of CASES) contestants.push(await gateway(upstream.url, BODY, { features }));
    // In turns: the one that is warmed up together with the upstream stays the slowest.
    for (let second = 0; second < WARM_SECONDS; second += 1) {
      for (const who of contestants) {
        await cpuOf(who, false, 1);
        await cpuOf(who, true, 1);
      }
    }
    const same = await inTurns(contestants, false);
    const translated = await inTurns(contestants, true);
    writeTable(contestants.map(({ name }) => ({ name, same: ratio(same, name), translated: ratio(translated, name) })));
  } finally {
    for (const who of contestants) who.stop();
    upstream.stop();
  }
}

/** CPU microseconds of a request. */
async function cpuOf(who: Contestant, translated: boolean, seconds: number): Promise<number> {
  const { url, bytes } = who.request(BODY, translated);
  const before = cpuSeconds(who.pid);
  const { latencies } = await drive(url, bytes, CONNECTIONS, seconds);
  return ((cpuSeconds(who.pid) - before) / latencies.length) * 1e6;
}

/** The times of each round, by name. Another gateway is the first one in each round. */
async function inTurns(contestants: readonly Contestant[], translated: boolean): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = round % contestants.length;
    for (const who of [...contestants.slice(first), ...contestants.slice(0, first)]) {
      times.get(who.name)?.push(await cpuOf(who, translated, SECONDS));
    }
  }
  return times;
}

/** The quartiles of the ratios. */
function ratio(times: ReadonlyMap<string, readonly number[]>, name: string): readonly number[] {
  const without = times.get('svc') ?? [];
  const ratios = (times.get(name) ?? []).map((time, round) => time / (without[round] ?? Number.NaN));
  const sorted = ratios.sort((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((share) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN);
}

interface Result {
  readonly name: string;
  readonly same: readonly number[];
  readonly translated: readonly number[];
}

function writeTable(results: readonly Result[]): void {
  const cell = ([low = 0, median = 0, high = 0]: readonly number[]) =>
    `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
  const rows = results.filter(({ name }) => name !== 'svc');
  const table = [
    '| on | same format | translated |',
    '|---|---|---|',
    ...rows.map(({ name, same, translated }) => `| ${name} | ${cell(same)} | ${cell(translated)} |`),
    '',
    `All of them, same format: at most ${WANTED.toFixed(2)} is wanted. Load average: ${loadavg()[0]?.toFixed(1)}, of which the benchmark makes about 3.`,
  ].join('\n');
  console.log(table);
  const file = path.resolve(import.meta.dirname, '..', '..', '..', 'docs', 'performance.md');
  const section = `<!-- features -->\n${table}\n<!-- /features -->`;
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text.replace(/<!-- features -->[\s\S]*<!-- \/features -->/, () => section),
  );
}
