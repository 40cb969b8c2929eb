import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Policy } from './typist.ts';

export interface Row {
  readonly contestant: 'ours' | 'plain' | 'plain-line';
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
  readonly tokensBeforeStopPerAccepted: number | null;
  readonly tokensPerThousand: number;
  readonly sharedStart: number;
  readonly flicker: number;
  readonly wrongTails: number;
}

export interface Storm {
  readonly contestant: 'ours' | 'plain';
  readonly keys: number;
  readonly requests: number;
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

export interface Verdict {
  readonly target: string;
  readonly measured: string;
  readonly holds: boolean;
}

export interface Result {
  readonly seed: number;
  readonly errorPercent: number;
  readonly tasks: number;
  readonly rows: readonly Row[];
  readonly storms: readonly Storm[];
  readonly times: Times;
  readonly verdicts: readonly Verdict[];
}

export function verdicts(rows: readonly Row[], storms: readonly Storm[], times: Times): Verdict[] {
  const at = (contestant: Row['contestant']): Row | undefined =>
    rows.find((row) => row.contestant === contestant && row.policy === 'all' && row.firstMs === 150);
  const [ours, plain] = [at('ours'), at('plain')];
  const ratio = (key: 'requestsPerAccepted' | 'tokensPerAccepted'): number => (ours?.[key] ?? 1) / (plain?.[key] ?? 1);
  const mine = rows.filter(({ contestant }) => contestant === 'ours');
  const flicker = mine.reduce((sum, row) => sum + row.flicker, 0);
  const wrongTails = mine.reduce((sum, row) => sum + row.wrongTails, 0);
  const requests = storms.find(({ contestant }) => contestant === 'ours')?.requests ?? Number.POSITIVE_INFINITY;
  const verdict = (target: string, measured: string, holds: boolean): Verdict => ({ target, measured, holds });
  return [
    verdict(
      'requests per accepted character, of the reference, at most 20 %',
      percent(ratio('requestsPerAccepted')),
      ratio('requestsPerAccepted') <= 0.2,
    ),
    verdict(
      'tokens per accepted character, of the reference, at most 15 %',
      percent(ratio('tokensPerAccepted')),
      ratio('tokensPerAccepted') <= 0.15,
    ),
    verdict(
      'keys with ghost text within 100 ms, at least 50 %',
      percent(ours?.within100 ?? 0),
      (ours?.within100 ?? 0) >= 0.5,
    ),
    verdict(
      'missing text accepted, at least 95 %',
      percent(ours?.acceptedShare ?? 0),
      (ours?.acceptedShare ?? 0) >= 0.95,
    ),
    verdict('flicker, all runs, 0', `${flicker}`, flicker === 0),
    verdict('wrong tails, all runs, 0', `${wrongTails}`, wrongTails === 0),
    verdict('requests in 30 keys while the server answers 402, at most 2', `${requests}`, requests <= 2),
    verdict(
      `time a key in a document of ${times.lines} lines, p99 below 1 ms`,
      `${times.p99.toFixed(3)} ms`,
      times.p99 < 1,
    ),
  ];
}

export function tables({ rows, storms, times, verdicts, ...run }: Result): string {
  const head =
    '| first byte | wrong answers | policy | engine | accepted | ghost ≤ 100 ms | ≤ 300 ms | p50 / p95 ms | requests / 1,000 chars | requests / accepted char | tokens / accepted char | sent / accepted char | flicker | wrong tails |';
  const lines = rows.map((row) =>
    [
      '',
      `${row.firstMs} ms`,
      `${row.errorPercent} %`,
      row.policy,
      row.contestant,
      percent(row.acceptedShare),
      percent(row.within100),
      percent(row.within300),
      `${row.ghostP50.toFixed(0)} / ${row.ghostP95.toFixed(0)}`,
      row.requestsPerThousand.toFixed(1),
      row.requestsPerAccepted?.toFixed(4) ?? '–',
      row.tokensPerAccepted?.toFixed(2) ?? '–',
      row.sentPerAccepted?.toFixed(0) ?? '–',
      `${row.flicker}`,
      `${row.wrongTails}`,
      '',
    ]
      .join(' | ')
      .trim(),
  );
  const targets = verdicts.map(
    ({ target, measured, holds }) => `| ${target} | ${measured} | ${holds ? 'yes' : 'no'} |`,
  );
  return [
    `Seed ${run.seed}, ${run.tasks} functions missing, ${run.errorPercent} % of places answered wrong. Policies: accept all that is right, word by word, never.`,
    '',
    '| target, at 150 ms to the first byte, accept all | measured | holds |',
    '|---|---|---|',
    ...targets,
    '',
    head,
    head.replace(/[^|]+/g, '---'),
    ...lines,
    '',
    `Requests in 30 keys while the server answers 402: ${storms.map(({ contestant, requests }) => `${contestant} ${requests}`).join(', ')}.`,
    `Engine time a key in a document of ${times.lines} lines: p50 ${times.p50.toFixed(3)} ms, p99 ${times.p99.toFixed(3)} ms; preparing a request: p50 ${times.preparingP50.toFixed(2)} ms, p99 ${times.preparingP99.toFixed(2)} ms.`,
  ].join('\n');
}

const BEGIN = '<!-- typist:begin -->';
const END = '<!-- typist:end -->';

/** Puts a table between its marks in a document, and leaves the rest alone. */
export function writeInto(document: URL, table: string): void {
  if (!existsSync(document)) return;
  const text = readFileSync(document, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from < 0 || to < from) return;
  writeFileSync(document, `${text.slice(0, from + BEGIN.length)}\n${table}\n${text.slice(to)}`);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
