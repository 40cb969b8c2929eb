import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Policy } from './typist.ts';

/** One contestant's figures in one setting. */
export interface Row {
  /** The engine alone on a virtual clock, or real keys in a real VS Code. */
  readonly tier: 'engine' | 'editor';
  readonly contestant: 'ours' | 'plain';
  readonly policy: Policy;
  /** Milliseconds to the first byte. */
  readonly firstMs: number;
  /** Places in a hundred where the model answers a wrong line. */
  readonly errorPercent: number;
  readonly keys: number;
  readonly missing: number;
  readonly acceptedShare: number;
  readonly ghostP50: number;
  readonly ghostP95: number;
  readonly within100: number;
  readonly within300: number;
  readonly requests: number;
  readonly requestsPerThousand: number;
  readonly requestsPerAccepted: number | null;
  readonly sentPerAccepted: number | null;
  readonly tokensPerAccepted: number | null;
  readonly tokensPerThousand: number;
  readonly flicker: number;
  readonly wrongTails: number;
}

export interface Storm {
  readonly tier: Row['tier'];
  readonly contestant: Row['contestant'];
  readonly keys: number;
  readonly requests: number;
  readonly popups: number;
}

/** Milliseconds. */
export interface Times {
  readonly lines: number;
  readonly keys: number;
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
  readonly preparingP50: number;
  readonly preparingP99: number;
}

interface Verdict {
  readonly target: string;
  /** By tier; a target that only one tier can tell has one. */
  readonly measured: Readonly<Partial<Record<Row['tier'], string>>>;
  readonly holds: boolean;
}

export interface Result {
  readonly seed: number;
  readonly errorPercent: number;
  readonly tasks: number;
  readonly tasksInEditor: number;
  readonly rows: readonly Row[];
  readonly storms: readonly Storm[];
  readonly times: Times;
  readonly verdicts: readonly Verdict[];
}

/** Sums over the typed parts of a row. */
export interface Sums {
  readonly keys: number;
  /** Keys after which text was still missing. */
  readonly unfinished: number;
  readonly accepted: number;
  readonly missing: number;
  readonly waits: readonly number[];
  readonly requests: number;
  readonly sent: number;
  readonly tokens: number;
  readonly flicker: number;
  readonly wrongTails: number;
}

type Setting = Pick<Row, 'tier' | 'contestant' | 'policy' | 'firstMs' | 'errorPercent'>;

export function rowOf(setting: Setting, sums: Sums): Row {
  const { keys, unfinished, accepted, missing, requests, sent, tokens, flicker, wrongTails } = sums;
  const waits = [...sums.waits].sort((a, b) => a - b);
  const perAccepted = (value: number): number | null => (accepted === 0 ? null : round(value / accepted));
  const within = (ms: number): number => round(waits.filter((wait) => wait <= ms).length / unfinished);
  return {
    ...setting,
    keys,
    missing,
    acceptedShare: round(accepted / missing),
    ghostP50: round(waits[Math.floor(waits.length * 0.5)] ?? 0),
    ghostP95: round(waits[Math.floor(waits.length * 0.95)] ?? 0),
    within100: within(100),
    within300: within(300),
    requests,
    requestsPerThousand: round((requests / missing) * 1_000),
    requestsPerAccepted: perAccepted(requests),
    sentPerAccepted: perAccepted(sent),
    tokensPerAccepted: perAccepted(tokens),
    tokensPerThousand: round((tokens / missing) * 1_000),
    flicker,
    wrongTails,
  };
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** The targets at 150 ms to the first byte, with everything right accepted. */
export function verdicts(rows: readonly Row[], storms: readonly Storm[], times: Times): Verdict[] {
  const at = (tier: Row['tier'], contestant: Row['contestant']): Row | undefined =>
    rows.find(
      (row) => row.tier === tier && row.contestant === contestant && row.policy === 'all' && row.firstMs === 150,
    );
  const tiers = (['engine', 'editor'] as const).filter((tier) => at(tier, 'ours') !== undefined);
  const each = (
    target: string,
    show: (value: number) => string,
    holds: (value: number) => boolean,
    value: (tier: Row['tier']) => number,
  ): Verdict => {
    const values = tiers.map((tier) => [tier, value(tier)] as const);
    return {
      target,
      measured: Object.fromEntries(values.map(([tier, one]) => [tier, show(one)])),
      holds: values.every(([, one]) => holds(one)),
    };
  };
  const ratio = (key: 'requestsPerAccepted' | 'tokensPerAccepted') => (tier: Row['tier']) =>
    (at(tier, 'ours')?.[key] ?? Number.POSITIVE_INFINITY) / (at(tier, 'plain')?.[key] ?? 1);
  const worst = (key: 'flicker' | 'wrongTails') => (tier: Row['tier']) =>
    rows.filter((row) => row.tier === tier && row.contestant === 'ours').reduce((sum, row) => sum + row[key], 0);
  const stormOf = (tier: Row['tier']) => storms.find((one) => one.tier === tier && one.contestant === 'ours');
  const count = (value: number): string => `${value}`;
  const none = (value: number): boolean => value === 0;
  return [
    each(
      'requests per accepted character, of the reference’s, at most 20 %',
      percent,
      (it) => it <= 0.2,
      ratio('requestsPerAccepted'),
    ),
    each(
      'tokens per accepted character, of the reference’s, at most 15 %',
      percent,
      (it) => it <= 0.15,
      ratio('tokensPerAccepted'),
    ),
    each(
      'keys with ghost text within 100 ms, at least 50 %',
      percent,
      (it) => it >= 0.5,
      (tier) => at(tier, 'ours')?.within100 ?? 0,
    ),
    each(
      'missing text accepted, at least 95 %',
      percent,
      (it) => it >= 0.95,
      (tier) => at(tier, 'ours')?.acceptedShare ?? 0,
    ),
    each('flicker, all runs, 0', count, none, worst('flicker')),
    each('wrong tails, all runs, 0', count, none, worst('wrongTails')),
    each(
      'requests in 30 keys while the server answers 402, at most 2',
      count,
      (it) => it <= 2,
      (tier) => stormOf(tier)?.requests ?? Number.POSITIVE_INFINITY,
    ),
    { ...each('popups then, 0', count, none, (tier) => stormOf(tier)?.popups ?? 0) },
    {
      target: `time a key in a document of ${times.lines} lines, p99 below 1 ms`,
      measured: { engine: `${times.p99.toFixed(2)} ms` },
      holds: times.p99 < 1,
    },
  ];
}

/** The targets, and the rows at 150 ms; the rest is in the JSON. */
export function tables({ rows, verdicts, ...run }: Result): string {
  const shown = rows.filter(({ firstMs, errorPercent }) => firstMs === 150 && errorPercent === run.errorPercent);
  return [
    `Seed ${run.seed}; ${run.tasks} parts missing for the engine, ${run.tasksInEditor} in the editor; ${run.errorPercent} % of places answered wrong.`,
    '',
    '| target, at 150 ms to the first byte, accept all | engine alone | in VS Code | holds |',
    '|---|---|---|---|',
    ...verdicts.map(
      ({ target, measured, holds }) =>
        `| ${target} | ${measured.engine ?? ''} | ${measured.editor ?? ''} | ${holds ? 'yes' : 'no'} |`,
    ),
    '',
    '| where | accepts | who | accepted | ghost ≤ 100 ms | p50 / p95 ms | requests / accepted char | tokens / accepted char | flicker | wrong tails |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...shown.map(lineOf),
  ].join('\n');
}

function lineOf(row: Row): string {
  const cells = [
    row.tier,
    row.policy,
    row.contestant,
    percent(row.acceptedShare),
    percent(row.within100),
    `${row.ghostP50.toFixed(0)} / ${row.ghostP95.toFixed(0)}`,
    row.requestsPerAccepted?.toFixed(3) ?? '–',
    row.tokensPerAccepted?.toFixed(2) ?? '–',
    `${row.flicker}`,
    `${row.wrongTails}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** Puts the tables of a benchmark between its marks in a document, and leaves the rest alone. */
export function writeInto(document: URL, bench: string, table: string): void {
  if (!existsSync(document)) return;
  const text = readFileSync(document, 'utf8');
  const begin = `<!-- ${bench}:begin -->`;
  const [from, to] = [text.indexOf(begin), text.indexOf(`<!-- ${bench}:end -->`)];
  if (from < 0 || to < from) return;
  writeFileSync(document, `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
