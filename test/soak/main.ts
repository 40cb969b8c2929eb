/**
 * Long runs under mixed load with faults: `npm run soak -- [--minutes N] [--seed N] [part …]`. Prints one
 * table; the exit code is 1 when a line does not hold. Seconds of each part run in `npm test`.
 */
import { parseArgs } from 'node:util';
import { editorPart } from './editor-part.ts';
import { fleetPart } from './fleet-part.ts';
import { gatewayPart } from './gateway-part.ts';
import type { SoakPart } from './part.ts';
import { vscodePart } from './vscode-part.ts';
import { walksPart } from './walks-part.ts';

const PARTS: readonly SoakPart[] = [gatewayPart, fleetPart, editorPart, vscodePart, walksPart];

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const wanted = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
const lines = ['| part | what | measured | wanted | holds |', '|---|---|---|---|---|'];
let failed = wanted.length === 0;
for (const { name, run } of wanted) {
  const rows = await run({
    seconds: Number(values.minutes) * 60,
    seed: Number(values.seed),
    scale: 'long',
    progress: (text) => process.stderr.write(`${name}: ${text}\n`),
  });
  for (const { what, measured, wanted: limit, holds } of rows) {
    lines.push(`| ${name} | ${what} | ${measured.replaceAll('|', '\\|')} | ${limit} | ${holds ? 'yes' : 'no'} |`);
    failed ||= !holds;
  }
}
console.log(lines.join('\n'));
process.exitCode = failed ? 1 : 0;
