import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read } from './pages.ts';

interface Locked {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

const json = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));

describe('dependencies', () => {
  it('are all in docs/dependencies.md with a reason, and none that is gone', () => {
    const rows = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| (?:yes|no) \| \S/gm)].map(
      ([, name]) => name,
    );
    assert.deepEqual(rows.sort(), Object.keys(json('package.json').devDependencies).sort());
    assert.equal(json('package.json').dependencies, undefined);
  });

  it('have a hash each, and no install scripts but those that are known', () => {
    const locked: [string, Locked][] = Object.entries(json('package-lock.json').packages);
    const others = locked.filter(([path]) => path !== '');
    assert.ok(others.length > 100);
    assert.deepEqual(
      others.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path),
      [],
    );
    const scripts = others.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
    const known = ['@vscode/vsce-sign', 'esbuild', 'keytar', 'node'];
    assert.deepEqual(
      scripts.map((path) => path.replace('node_modules/', '')),
      known,
    );
  });
});
