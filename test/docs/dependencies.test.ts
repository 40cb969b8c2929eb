import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, read } from './pages.ts';

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly deprecated?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Licenses of development tools. The release build checks shipped packages against a shorter list. */
const LICENSES = new Set(
  `MIT ISC 0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BlueOak-1.0.0 Unlicense WTFPL Zlib CC0-1.0 CC-BY-3.0 CC-BY-4.0
  Python-2.0 PSF-2.0 MPL-2.0 Artistic-2.0`.split(/\s+/),
);
/**
 * Packages without an SPDX license in the lock file: two with an old form of MIT, one with its text only, and one tool
 * that packaging does not run.
 */
const NAMED = /^(?:busboy|streamsearch|khroma|@vscode\/vsce-sign(?:-.+)?)$/;

/**
 * Advisories (github.com/advisories) about packages that are here, each with the first version of every major that it
 * fixes it. This prevents known ones from returning; `npm audit` of a release reports new ones.
 */
const ADVISORIES: readonly (readonly [name: string, advisory: string, ...mended: string[]])[] = [
  ['undici', 'GHSA-g9mf-h72j-4rw9', '6.23.0', '7.18.2'],
  ['dompurify', 'GHSA-v2wj-7wpq-c8vv', '3.3.2'],
  ['preact', 'GHSA-36hm-qxxp-pg3p', '10.28.2'],
  ['zod', 'GHSA-m95q-7qp3-xv42', '3.22.3'],
  ['highlight.js', 'GHSA-7wwv-vh3v-89cq', '10.4.1'],
  ['marked', 'GHSA-rrrm-qjm4-v8hf', '4.0.10'],
  ['esbuild', 'GHSA-67mh-4wv8-2f99', '0.25.0'],
  ['js-yaml', 'GHSA-mh29-5h37-fv8m', '3.14.2', '4.1.1'],
  ['qs', 'GHSA-6rw7-vpxm-498p', '6.14.1'],
  ['jws', 'GHSA-869p-cjfg-cm3x', '3.2.3', '4.0.1'],
  ['glob', 'GHSA-5j98-mcp5-4vw2', '10.5.0', '11.1.0'],
  ['form-data', 'GHSA-fjxv-7rqg-78g4', '2.5.4', '3.0.4', '4.0.4'],
  ['tar-fs', 'GHSA-vj76-c3g6-qr5v', '2.1.4', '3.1.1'],
  ['brace-expansion', 'GHSA-v6h2-p8h4-qcjw', '1.1.12', '2.0.2', '3.0.1', '4.0.1'],
  ['braces', 'GHSA-grv7-fg5c-xmjg', '3.0.3'],
  ['micromatch', 'GHSA-952p-6rrq-rcjv', '4.0.8'],
  ['xml2js', 'GHSA-776f-qx25-q3cc', '0.5.0'],
  ['semver', 'GHSA-c2qf-rxjj-qqgw', '5.7.2', '6.3.1', '7.5.2'],
  ['lodash', 'GHSA-xxjr-mmjv-4gpg', '4.17.23'],
  ['ajv', 'GHSA-2g4f-4pwh-qvx6', '6.14.0', '8.18.0'],
  ['markdown-it', 'GHSA-38c4-r59v-3vqx', '14.1.1'],
  ['diff', 'GHSA-73rr-hh4g-fpgx', '4.0.4', '5.2.2', '8.0.3'],
  ['serialize-javascript', 'GHSA-5c6j-r48x-rmvq', '7.0.3'],
];

const json = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

describe('dependencies', () => {
  const locked: readonly (readonly [path: string, entry: Locked])[] = Object.entries<Locked>(
    json('package-lock.json').packages,
  ).filter(([path]) => path !== '');
  const where = (wrong: (entry: Locked, name: string) => boolean) =>
    locked.filter(([path, entry]) => wrong(entry, nameOf(path))).map(([path]) => path);

  it('dependencies: docs/dependencies.md lists each one with a reason, and no others', () => {
    const rows = [...read('docs/dependencies.md').matchAll(/^\| `([^`]+)` \| (?:yes|no) \| \S/gm)].map(
      ([, name]) => name,
    );
    assert.deepEqual(rows.sort(), Object.keys(json('package.json').devDependencies).sort());
    assert.equal(json('package.json').dependencies, undefined);
  });

  it('dependencies: each comes from the registry with a hash', () => {
    assert.ok(locked.length > 100);
    assert.deepEqual(
      where(({ integrity }) => !integrity?.startsWith('sha512-')),
      [],
    );
    assert.deepEqual(
      where(({ link, resolved }) => link === true || (resolved !== undefined && !resolved.startsWith('https://'))),
      [],
    );
  });

  it('dependencies: the lock file has the packages of all platforms, as npm ci requires', () => {
    const paths = new Set(locked.map(([path]) => path));
    const missing = locked.flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !paths.has(`${path}/node_modules/${name}`) && !paths.has(`node_modules/${name}`))
        .map((name) => `${name} of ${path}`),
    );
    assert.deepEqual(missing, []);
  });

  it('dependencies: only node has an install script, which downloads its binary', () => {
    const scripts: Readonly<Record<string, boolean>> = json('package.json').allowScripts;
    assert.deepEqual(
      where(({ hasInstallScript }) => hasInstallScript === true)
        .map(nameOf)
        .sort(),
      Object.keys(scripts).sort(),
    );
    assert.deepEqual(
      Object.keys(scripts).filter((name) => scripts[name]),
      ['node'],
    );
  });

  it('dependencies: each has a license that allows its use', () => {
    const allowed = (terms: string) => terms.split(' AND ').every((term) => LICENSES.has(term));
    const refused = where(({ license }, name) => {
      if (license === undefined || license.startsWith('SEE LICENSE')) return !NAMED.test(name);
      return !license
        .replace(/^\(|\)$/g, '')
        .split(' OR ')
        .some(allowed);
    });
    assert.deepEqual(refused, []);
  });

  it('dependencies: none is deprecated by its authors', () => {
    assert.deepEqual(
      where(({ deprecated }) => deprecated !== undefined),
      [],
    );
  });

  it('dependencies: no version is listed in a known advisory', () => {
    const named = ADVISORIES.flatMap(([name, advisory, ...mended]) =>
      locked
        .filter(([path, { version }]) => nameOf(path) === name && isBefore(version, mended))
        .map(([path, { version }]) => `${path} ${version}: ${advisory}`),
    );
    assert.deepEqual(named, []);
    const unused = ADVISORIES.filter(([name]) => !locked.some(([path]) => nameOf(path) === name));
    assert.deepEqual(unused, [], 'these are not here any more');
  });
});

/** Whether a version is older than the fixed one of its major version, or than all fixed ones. */
function isBefore(version: string, mended: readonly string[]): boolean {
  const numbers = (text: string) => text.split(/[.-]/).map(Number);
  const [major = 0, minor = 0, patch = 0] = numbers(version);
  const fixes = mended.map(numbers);
  const own = fixes.find(([first]) => first === major);
  if (own === undefined) return fixes.every(([first = 0]) => major < first);
  const [, ownMinor = 0, ownPatch = 0] = own;
  return minor < ownMinor || (minor === ownMinor && patch < ownPatch);
}
