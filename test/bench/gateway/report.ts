import { cpus, loadavg } from 'node:os';

export interface Row {
  readonly what: string;
  /** By contestant. */
  readonly medians: Readonly<Record<string, number>>;
  /** Of each round, by contestant. */
  readonly values: Readonly<Record<string, readonly number[]>>;
}

export interface Target {
  readonly what: string;
  readonly wanted: string;
  readonly measured: number;
  readonly holds: boolean;
}

export interface Report {
  /** `load`: of the last five minutes at the end; far above the 3 of the benchmark means that other programs ran. */
  readonly machine: { readonly cpus: number; readonly node: string; readonly load: number };
  readonly setup: Readonly<Record<string, unknown>>;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
}

export function reportOf(rows: readonly Row[], setup: Readonly<Record<string, unknown>>): Report {
  const values = (what: string, who: string) => rows.find((row) => row.what === what)?.values[who] ?? [];
  /** Ratio within one round, median of all rounds: load on the machine affects both alike. */
  const paired = (what: string, who: string, against: string, other: string, by: (a: number, b: number) => number) => {
    const others = values(other, against);
    return median(values(what, who).map((value, round) => by(value, others[round] ?? Number.NaN)));
  };
  const quotient = (a: number, b: number) => a / b;
  const ratio = (what: string, other = what) => paired(what, 'svc', 'relay', other, quotient);
  const targets: Target[] = [];
  const atLeast = (what: string, least: number, measured: number) => {
    if (!Number.isNaN(measured)) targets.push({ what, wanted: `≥ ${least}`, measured, holds: measured >= least });
  };
  const atMost = (what: string, most: number, measured: number) => {
    if (!Number.isNaN(measured)) targets.push({ what, wanted: `≤ ${most}`, measured, holds: measured <= most });
  };
  for (const connections of [1, 16, 64]) {
    const what = `requests/s at ${connections}`;
    atLeast(`same format, ${what}, of the relay’s`, 0.85, ratio(`same ${what}`));
  }
  const latency = 'same latency p50 ms';
  const added = (who: string) => values(latency, who).map((ms, round) => ms - (values(latency, 'direct')[round] ?? 0));
  const ofRelay = added('relay');
  atMost('added latency p50, of the relay’s', 1.3, median(added('svc').map((ms, round) => ms / (ofRelay[round] ?? 0))));
  const firstByte = 'same first byte p50 ms';
  atMost(
    'first byte p50, ms above the relay’s',
    0.5,
    paired(firstByte, 'svc', 'relay', firstByte, (a, b) => a - b),
  );
  atLeast('frames/s, of the relay’s', 0.9, ratio('same frames/s'));
  atMost('CPU for frames, of the relay’s', 1.3, ratio('same CPU s per 100,000 frames'));
  atLeast(
    'translated, requests/s at 64, of the (untranslating) relay’s',
    0.65,
    ratio('translated requests/s at 64', 'same requests/s at 64'),
  );
  atLeast('translated, frames/s, of the (untranslating) relay’s', 0.85, ratio('translated frames/s', 'same frames/s'));
  const at64 = 'same requests/s at 64';
  atLeast('requests/s at 64, of @portkey-ai/gateway’s', 20, paired(at64, 'svc', 'portkey', at64, quotient));
  atMost('MB an open stream', 0.25, median(values('MB an open stream', 'svc')));
  atMost('first answer after the start, ms', 400, median(values('cold start ms', 'svc')));
  return { machine: { cpus: cpus().length, node: process.version, load: loadavg()[1] ?? 0 }, setup, rows, targets };
}

function ceiling(rows: readonly Row[]): number {
  const { relay = [], portkey = [] } = rows.find(({ what }) => what === 'same requests/s at 64')?.values ?? {};
  return median(relay.map((value, round) => value / (portkey[round] ?? Number.NaN)));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const shown = (value: number | undefined) => {
  if (value === undefined || Number.isNaN(value)) return '';
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);
};

/** Each measurement as a ratio to the other checkout: the median of the ratios within each round. */
export function comparisonOf(rows: readonly Row[]): string {
  const lines = rows.flatMap(({ what, values }) => {
    const { svc = [], before = [] } = values;
    const ratios = svc.map((value, round) => value / (before[round] ?? Number.NaN));
    return before.length === 0 ? [] : [`| ${what} | ${shown(median(ratios))} |`];
  });
  return ['| measurement | of the checkout before |', '| --- | --- |', ...lines].join('\n');
}

export function tableOf({ rows, targets, machine, setup }: Report): string {
  const names = ['direct', 'relay', 'svc', 'portkey'].filter((name) => rows.some((row) => name in row.medians));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    '## Gateway',
    '',
    '`node test/bench/gateway/main.ts` runs all contestants in one run and by turns, over one simulated upstream that writes bytes made beforehand to bare sockets, each in a process of its own, with load from the process that measures. Ratios say more than figures: client, upstream and contestant share the machine.',
    '',
    '- **direct**: the upstream without anything between.',
    '- **relay**: bare `node:http` and undici’s `dispatch`, as Svc uses it; parses the body, replaces the model, passes the answer on no faster than it is read. With `request` and a pipe, as earlier figures had it, it takes a fifth to a half more instructions.',
    '- **svc**: `svc serve` as it ships, with a stored key, an organization with a policy, budget, rate limit, tool-call repair, ledger and request log.',
    '- **portkey**: `@portkey-ai/gateway` 1.15.2 from npm.',
    '',
    `Medians of ${String(setup.rounds)} rounds of ${String(setup.seconds)} s; a ratio is the median of the ratios within each round; requests of 4 kB, answers of 1 kB; 32 streams for frames; frames are measured three times a round, one connection in 15 slices of 0.2 s by turns; ${machine.cpus} CPUs, Node ${machine.node}, load average ${machine.load.toFixed(1)} (the bench itself makes about 3; above it other programs took part of the machine, which costs the fast ones most). “same” is Chat Completions to Chat Completions, “translated” is to Messages.`,
    '',
    line(['target', 'wanted', 'measured', 'holds']),
    line(['---', '---', '---', '---']),
    ...targets.map(({ what, wanted, measured, holds }) => line([what, wanted, shown(measured), holds ? 'yes' : 'no'])),
    '',
    `Here the bare relay itself makes ${shown(ceiling(rows))} times the requests of @portkey-ai/gateway at 64 connections.`,
    '',
    line(['', ...names]),
    line(['---', ...names.map(() => '---')]),
    ...rows.map(({ what, medians }) => line([what, ...names.map((name) => shown(medians[name]))])),
  ].join('\n');
}
