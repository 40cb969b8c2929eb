import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A secret of the repository that no request may contain. */
export const SECRET = 'sk-day-0123456789abcdef0123456789abcdef';

const PRICES = [
  'export interface Item {',
  '  name: string;',
  '  cents: number;',
  '}',
  '',
  '/** The sum of all items, in cents. */',
  'export function total(items: readonly Item[]): number {',
  '  return items.reduce((sum, item) => sum + item.cents, 0);',
  '}',
  '',
].join('\n');

const RECEIPT = [
  "import { type Item, total } from './prices';",
  '',
  'export function receipt(items: readonly Item[]): string {',
  '  const lines = items.map(({ name, cents }) => `${name} ${cents}`);',
  '  return [...lines, `Total ${total(items)}`].join("\\n");',
  '}',
  '',
].join('\n');

const WINDOWS = ['export const currency = "EUR";', 'export const decimals = 2;', ''].join('\r\n');

const WORDS = ['def words(text: str) -> list[str]:', '    return text.lower().split()', ''].join('\n');

/** By its path. What an ordinary project has: two languages, packages, CRLF, a secret, rules for agents, settings. */
const FILES: Readonly<Record<string, string>> = {
  '.env': `API_KEY=${SECRET}\n`,
  '.gitignore': 'node_modules/\n.env\n',
  '.vscode/settings.json': `${JSON.stringify({ 'editor.tabSize': 2, 'files.insertFinalNewline': true }, null, 2)}\n`,
  'AGENTS.md': '# Rules\n\nPrices are integers, in cents.\n',
  'README.md': '# Shop\n\nPrints receipts.\n',
  'package.json': `${JSON.stringify({ name: 'shop', private: true, scripts: { test: 'node test.js' } }, null, 2)}\n`,
  'src/prices.ts': PRICES,
  'src/receipt.ts': RECEIPT,
  'src/windows.ts': WINDOWS,
  'test.js': "console.log('2 tests passed');\n",
  'tools/words.py': WORDS,
  'tsconfig.json': `${JSON.stringify({ compilerOptions: { strict: true, module: 'esnext' }, include: ['src'] }, null, 2)}\n`,
};

/** Packages that git ignores. */
const IGNORED: Readonly<Record<string, string>> = {
  'node_modules/left/package.json': '{"name":"left","version":"1.0.0","main":"index.js"}\n',
  'node_modules/left/index.js': 'module.exports = (text) => text;\n',
};

export function createRepository(folder: string): void {
  for (const [path, content] of Object.entries({ ...FILES, ...IGNORED })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  git(folder, 'init', '--quiet', '--initial-branch', 'main');
  git(folder, 'config', 'user.name', 'Ann');
  git(folder, 'config', 'user.email', 'ann@example.com');
  git(folder, 'config', 'core.autocrlf', 'false');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'feat: print receipts');
}

/** Paths that differ from the last commit, sorted. */
export function changedFiles(folder: string): readonly string[] {
  const lines = git(folder, 'status', '--porcelain', '--untracked-files=all').split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [line.slice(3)])).sort();
}

export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
}
