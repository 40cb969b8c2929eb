// npm run package: builds without source maps, gathers the licences of what is bundled, makes the VSIX and
// says how large it is.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** Megabytes that each update downloads. */
const LIMIT = 1.5;

const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const file = join(ROOT, `${name}-${version}.vsix`);
// All dependencies are in the bundles.
const vsce = ['package', '--no-dependencies', '--out', file];
execFileSync(process.execPath, [join(ROOT, 'node_modules', '@vscode', 'vsce', 'vsce'), ...vsce], {
  cwd: ROOT,
  stdio: 'inherit',
});
const size = statSync(file).size / 1024 / 1024;
console.log(`${file}: ${size.toFixed(2)} MB`);
if (size > LIMIT) {
  console.error(`That is more than ${LIMIT} MB.`);
  process.exit(1);
}
