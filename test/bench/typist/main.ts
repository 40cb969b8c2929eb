/**
 * The typist, tier A: types real source files against a model that knows them, with our engine and
 * with a plain reference, on a virtual clock. `node test/bench/typist/main.ts [--quick]`.
 * Writes test/bench/results/typist.json and the table in docs/performance.md.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { VirtualClock } from '../../completion/virtual-clock.ts';
import { ours, plain } from './contestants.ts';
import { keystrokeTimes } from './keystroke-times.ts';
import { Oracle } from './oracle.ts';
import { oracleFill, type Traffic } from './oracle-fill.ts';
import { type Row, type Storm, tables, verdicts, writeInto } from './report.ts';
import { type Task, tasksOf } from './truth.ts';
import { type Policy, type Session, Typist } from './typist.ts';

const SEED = 20_250;
const ERROR_PERCENT = 4;
/** A model that is often wrong. */
const MANY_ERRORS_PERCENT = 30;
const here = new URL('.', import.meta.url);

const quick = process.argv.includes('--quick');
const files = readdirSync(new URL('fixtures/', here))
  .sort()
  .map((name) => readFileSync(new URL(`fixtures/${name}`, here), 'utf8'));
const tasks = files.flatMap((file) => tasksOf(file, quick ? 2 : 3));

async function run(name: Row['contestant'], policy: Policy, firstMs: number, errors = ERROR_PERCENT): Promise<Row> {
  const traffic = noTraffic();
  const sessions: Session[] = [];
  const clock = new VirtualClock();
  const fill = oracleFill(new Oracle(files, errors), clock, firstMs, traffic);
  // One engine for all of it, as in a day's work.
  const contestant = name === 'ours' ? ours(fill, clock) : plain(fill, clock, name === 'plain-line');
  for (const [index, task] of tasks.entries()) {
    sessions.push(await new Typist(task, policy, contestant, clock, SEED + index).run());
  }
  return { ...rowOf(name, policy, firstMs, sessions, traffic), errorPercent: errors };
}

/** Thirty keys while the server answers 402. */
async function storm(name: 'ours' | 'plain'): Promise<Storm> {
  const traffic = noTraffic();
  const clock = new VirtualClock();
  const fill = oracleFill(new Oracle(files, 0), clock, 150, traffic, true);
  const contestant = name === 'ours' ? ours(fill, clock) : plain(fill, clock);
  await new Typist(tasks[0] as Task, 'never', contestant, clock, SEED).run(30);
  return { contestant: name, keys: 30, requests: traffic.requests };
}

function noTraffic(): Traffic {
  return { requests: 0, sent: 0, tokens: 0, tokensBeforeStop: 0, shared: 0, sharable: 0 };
}

function rowOf(
  contestant: Row['contestant'],
  policy: Policy,
  firstMs: number,
  sessions: Session[],
  traffic: Traffic,
): Omit<Row, 'errorPercent'> {
  const sum = (key: 'keys' | 'unfinished' | 'accepted' | 'missing' | 'flicker' | 'wrongTails'): number =>
    sessions.reduce((total, session) => total + session[key], 0);
  const waits = sessions.flatMap(({ waits }) => waits).sort((a, b) => a - b);
  const [keys, unfinished, accepted, missing] = [sum('keys'), sum('unfinished'), sum('accepted'), sum('missing')];
  const perAccepted = (value: number): number | null => (accepted === 0 ? null : round(value / accepted));
  return {
    contestant,
    policy,
    firstMs,
    keys,
    missing,
    acceptedShare: round(accepted / missing),
    ghostP50: round(waits[Math.floor(waits.length * 0.5)] ?? 0),
    ghostP95: round(waits[Math.floor(waits.length * 0.95)] ?? 0),
    within100: round(waits.filter((wait) => wait <= 100).length / unfinished),
    within300: round(waits.filter((wait) => wait <= 300).length / unfinished),
    requests: traffic.requests,
    requestsPerThousand: round((traffic.requests / missing) * 1_000),
    requestsPerAccepted: perAccepted(traffic.requests),
    sentPerAccepted: perAccepted(traffic.sent),
    tokensPerAccepted: perAccepted(traffic.tokens),
    tokensBeforeStopPerAccepted: perAccepted(traffic.tokensBeforeStop),
    tokensPerThousand: round((traffic.tokens / missing) * 1_000),
    sharedStart: round(traffic.shared / Math.max(1, traffic.sharable)),
    flicker: sum('flicker'),
    wrongTails: sum('wrongTails'),
  };
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

const rows: Row[] = [];
for (const firstMs of quick ? [150] : [50, 150, 300, 800]) {
  for (const policy of ['all', 'word', 'never'] as const) {
    for (const contestant of ['ours', 'plain', 'plain-line'] as const)
      rows.push(await run(contestant, policy, firstMs));
  }
}
for (const contestant of ['ours', 'plain', 'plain-line'] as const)
  rows.push(await run(contestant, 'all', 150, MANY_ERRORS_PERCENT));
const storms = [await storm('ours'), await storm('plain')];
const times = await keystrokeTimes(files, quick ? 400 : 1_500);
const judged = verdicts(rows, storms, times);
const result = { seed: SEED, errorPercent: ERROR_PERCENT, tasks: tasks.length, rows, storms, times, verdicts: judged };
console.log(tables(result));
if (!quick) {
  mkdirSync(new URL('../results/', here), { recursive: true });
  writeFileSync(new URL('../results/typist.json', here), `${JSON.stringify(result, null, 2)}\n`);
  writeInto(new URL('../../../docs/performance.md', here), tables(result));
}
process.exitCode = judged.every(({ holds }) => holds) ? 0 : 1;
