import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import path from 'node:path';
import { type Contestant, cpuSeconds, FEATURES, type Feature, gateway, startUpstream } from './contestants.ts';
import { chatBody, drive } from './load.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 15);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 0.7);
const WARM_SECONDS = 8;
const CONNECTIONS = 64;
const WANTED = 1.1;
const BODY = chatBody();
/** Equal processes differ by some percent, so those that are compared with each other are several. */
const PROCESSES = 3;
const NOTHING: readonly Feature[] = [];
const KINDS: readonly (readonly Feature[])[] = [NOTHING, ...FEATURES.map((each) => [each]), FEATURES];
const nameOf = (features: readonly Feature[]) => (features.length === 0 ? 'nothing' : features.join(', '));

/** Gateways with the same features. */
interface Kind {
  readonly name: string;
  readonly processes: readonly Contestant[];
}

/**
 * The CPU time of a request with features that are off by default, of that without. The gateways take turns, and a ratio
 * is of the measurements of one round, so that other load of the machine affects both.
 */
export async function measureFeatures(): Promise<void> {
  const upstream = await startUpstream();
  const contestants: Contestant[] = [];
  try {
    const kinds: Kind[] = [];
    for (const features of KINDS) {
      const processes: Contestant[] = [];
      const count = features.length === 1 ? 1 : PROCESSES;
      for (let made = 0; made < count; made += 1) processes.push(await gateway(upstream.url, BODY, { features }));
      contestants.push(...processes);
      kinds.push({ name: nameOf(features), processes });
    }
    for (let second = 0; second < WARM_SECONDS; second += 1) {
      for (const who of contestants) {
        await cpuOf(who, false, 1);
        await cpuOf(who, true, 1);
      }
    }
    const same = await inTurns(contestants, false);
    const translated = await inTurns(contestants, true);
    writeTable(
      kinds.map((kind) => ({ ...kind, same: ratio(same, kinds, kind), translated: ratio(translated, kinds, kind) })),
    );
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

type Times = ReadonlyMap<Contestant, readonly number[]>;

/** The times of each round. Another gateway is the first one in each round. */
async function inTurns(contestants: readonly Contestant[], translated: boolean): Promise<Times> {
  const times = new Map<Contestant, number[]>(contestants.map((who) => [who, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = round % contestants.length;
    for (const who of [...contestants.slice(first), ...contestants.slice(0, first)]) {
      times.get(who)?.push(await cpuOf(who, translated, SECONDS));
    }
  }
  return times;
}

/** The quartiles of the ratios: the mean of the processes of a kind in a round, of the mean of those without features. */
function ratio(times: Times, kinds: readonly Kind[], { name, processes }: Kind): readonly number[] {
  const mean = (all: readonly Contestant[], round: number) =>
    all.reduce((sum, who) => sum + (times.get(who)?.[round] ?? Number.NaN), 0) / all.length;
  const without = kinds[0]?.processes ?? [];
  // Of those without features, the first one is compared with the others.
  const [own, others] = name === nameOf(NOTHING) ? [processes.slice(0, 1), without.slice(1)] : [processes, without];
  const ratios = Array.from({ length: ROUNDS }, (_, round) => mean(own, round) / mean(others, round));
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
  const table = [
    '| on | same format | translated |',
    '|---|---|---|',
    ...results.map(({ name, same, translated }) => `| ${name} | ${cell(same)} | ${cell(translated)} |`),
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
