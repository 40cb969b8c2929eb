import { cpus, loadavg } from 'node:os';

export interface Row {
  readonly what: string;
  /** By contestant. */
  readonly medians: Readonly<Record<string, number>>;
}

export interface Target {
  readonly what: string;
  readonly wanted: string;
  readonly measured: number;
  readonly holds: boolean;
}

export interface Report {
  /** `load`: of the last five minutes at the end; far above the bench's own 3 means that others ran too. */
  readonly machine: { readonly cpus: number; readonly node: string; readonly load: number };
  readonly setup: Readonly<Record<string, unknown>>;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
}

export function reportOf(rows: readonly Row[], setup: Readonly<Record<string, unknown>>): Report {
  const of = (what: string, who: string) => rows.find((row) => row.what === what)?.medians[who] ?? Number.NaN;
  const ratio = (what: string, against = what) => of(what, 'svc') / of(against, 'relay');
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
  const added = (who: string) => of('same latency p50 ms', who) - of('same latency p50 ms', 'direct');
  atMost('added latency p50, of the relay’s', 1.3, added('svc') / added('relay'));
  atMost(
    'first byte p50, ms above the relay’s',
    0.5,
    of('same first byte p50 ms', 'svc') - of('same first byte p50 ms', 'relay'),
  );
  atLeast('frames/s, of the relay’s', 0.9, ratio('same frames/s'));
  atMost('CPU for frames, of the relay’s', 1.3, ratio('same CPU s per 100,000 frames'));
  atLeast(
    'translated, requests/s at 64, of the (untranslating) relay’s',
    0.65,
    ratio('translated requests/s at 64', 'same requests/s at 64'),
  );
  atLeast('translated, frames/s, of the (untranslating) relay’s', 0.85, ratio('translated frames/s', 'same frames/s'));
  atLeast(
    'requests/s at 64, of @portkey-ai/gateway’s',
    20,
    of('same requests/s at 64', 'svc') / of('same requests/s at 64', 'portkey'),
  );
  atMost('MB an open stream', 0.25, of('MB an open stream', 'svc'));
  atMost('first answer after the start, ms', 400, of('cold start ms', 'svc'));
  return { machine: { cpus: cpus().length, node: process.version, load: loadavg()[1] ?? 0 }, setup, rows, targets };
}

const shown = (value: number | undefined) => {
  if (value === undefined || Number.isNaN(value)) return '';
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3);
};

export function tableOf({ rows, targets, machine, setup }: Report): string {
  const names = ['direct', 'relay', 'svc', 'portkey'].filter((name) => rows.some((row) => name in row.medians));
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    '## Gateway',
    '',
    '`node test/bench/gateway/main.ts` runs all contestants in one run and by turns, over one simulated upstream, each in a process of its own, with load from the process that measures. Ratios say more than figures: client, upstream and contestant share the machine.',
    '',
    '- **direct**: the upstream without anything between.',
    '- **relay**: bare `node:http` and undici; parses the body, replaces the model, pipes the answer.',
    '- **svc**: `svc serve` as it ships, with a stored key, an organization with a policy, budget, rate limit, tool-call repair, ledger and request log.',
    '- **portkey**: `@portkey-ai/gateway` 1.15.2 from npm.',
    '',
    `Medians of ${String(setup.rounds)} rounds of ${String(setup.seconds)} s; requests of 4 kB, answers of 1 kB; 32 streams for frames; ${machine.cpus} CPUs, Node ${machine.node}, load average ${machine.load.toFixed(1)} (the bench itself makes about 3; above it other programs took part of the machine, which costs the fast ones most). “same” is Chat Completions to Chat Completions, “translated” is to Messages.`,
    '',
    line(['target', 'wanted', 'measured', 'holds']),
    line(['---', '---', '---', '---']),
    ...targets.map(({ what, wanted, measured, holds }) => line([what, wanted, shown(measured), holds ? 'yes' : 'no'])),
    '',
    line(['', ...names]),
    line(['---', ...names.map(() => '---')]),
    ...rows.map(({ what, medians }) => line([what, ...names.map((name) => shown(medians[name]))])),
  ].join('\n');
}
