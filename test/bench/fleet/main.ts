/**
 * Gateways that share a state in Postgres, with a real Postgres on this machine: `npm run bench:fleet [-- --quick]`.
 * Prints each figure beside what is wanted, and writes the table of docs/performance.md between its markers, unless
 * `--quick` is set.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { type PostgresServer, startPostgres } from '../../gateway/postgres/postgres-server.ts';
import { cpuFigures } from './cpu.ts';
import { budgetFigure, killedPostgres, killedReplica, stoppedPostgres } from './failures.ts';
import type { Figure } from './fleet.ts';
import { revocationFigure } from './revocation.ts';

const QUICK = process.argv.includes('--quick');

type Measurement = (server: PostgresServer, quick: boolean) => Promise<readonly Figure[]>;
const MEASUREMENTS: readonly Measurement[] = [
  cpuFigures,
  revocationFigure,
  killedReplica,
  budgetFigure,
  stoppedPostgres,
  killedPostgres,
];

const server = await startPostgres();
const figures: Figure[] = [];
try {
  for (const measure of MEASUREMENTS) {
    for (const figure of await measure(server, QUICK)) {
      figures.push(figure);
      console.log(`${figure.what}: ${figure.measured} (wanted: ${figure.wanted})`);
    }
  }
} finally {
  await server.close();
}

const table = [
  '| figure | measured | wanted |',
  '|---|---|---|',
  ...figures.map(({ what, measured, wanted }) => `| ${what} | ${measured} | ${wanted} |`),
].join('\n');
if (!QUICK) {
  const file = path.resolve(import.meta.dirname, '..', '..', '..', 'docs', 'performance.md');
  const text = readFileSync(file, 'utf8');
  const section = `<!-- fleet -->\n${table}\n\n${cpus().length} cores, shared by all processes, with other load.\n<!-- /fleet -->`;
  writeFileSync(
    file,
    text.replace(/<!-- fleet -->[\s\S]*<!-- \/fleet -->/, () => section),
  );
}
