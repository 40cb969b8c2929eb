/**
 * Gateways that share a state in Postgres, with a real Postgres on this machine:
 * `npm run bench:fleet [-- [--quick] [--cut-off SECONDS] [part …]]`. Prints each figure beside what is wanted, and writes the table of
 * docs/performance.md between its markers, unless `--quick` is set. With names of parts, only these run, and only their
 * rows change.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../gateway/postgres/postgres-server.ts';
import type { Figure } from './fleet.ts';
import { PARTS } from './parts.ts';

const TABLE = /<!-- fleet -->[\s\S]*<!-- \/fleet -->/;
const FILE = path.resolve(import.meta.dirname, '..', '..', '..', 'docs', 'performance.md');

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, 'cut-off': { type: 'string', default: '600' } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !(name in PARTS));
if (unknown.length > 0) throw new Error(`There is no part ${unknown}. Parts: ${Object.keys(PARTS).join(', ')}.`);

const server = await startPostgres();
const cutOffSeconds = values.quick ? 20 : Number(values['cut-off']);
try {
  for (const [name, measure] of Object.entries(PARTS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const figures = await measure({ server, quick: values.quick, cutOffSeconds });
    for (const { what, measured, wanted, holds } of figures) {
      console.log(`${holds ? '✔' : '✘'} ${what}: ${measured} (wanted: ${wanted})`);
    }
    if (!values.quick) writeRows(name, figures);
  }
} finally {
  await server.close();
}

/** Replaces the rows of a part in the table. Each row begins with the name of its part. */
function writeRows(part: string, figures: readonly Figure[]): void {
  const text = readFileSync(FILE, 'utf8');
  const rows = (TABLE.exec(text)?.[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
  const all = Object.keys(PARTS).flatMap((name) =>
    name === part
      ? figures.map(({ what, measured, wanted }) => `| \`${part}\` | ${what} | ${measured} | ${wanted} |`)
      : rows.filter((row) => row.startsWith(`| \`${name}\` |`)),
  );
  const table = ['| part | figure | measured | wanted |', '|---|---|---|---|', ...all].join('\n');
  const note = `${cpus().length} cores, shared by all processes, with other load.`;
  writeFileSync(
    FILE,
    text.replace(TABLE, () => `<!-- fleet -->\n${table}\n\n${note}\n<!-- /fleet -->`),
  );
}
