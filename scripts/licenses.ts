import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Paths in a bundle's list of inputs that come from a package: `node_modules/@scope/name/…`. */
const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\//g;
const ALLOWED = /^(?:MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|CC-BY-4\.0|BlueOak-1\.0\.0|Unlicense)$/;

/**
 * Writes the licence texts of every package whose code or data is in the bundles.
 * @throws Error for a package whose licence is not one that may be shipped.
 */
export function writeLicenses(root: string, inputs: Iterable<string>, extra: readonly string[]): void {
  const names = new Set(extra);
  for (const input of inputs) {
    const name = [...input.matchAll(PACKAGE)].at(-1)?.[1];
    if (name) names.add(name);
  }
  const licensed = [...names].sort().map((name) => read(join(root, 'node_modules', name), name));
  // Each text once, and similar ones beside each other: compressed, the file is a third smaller.
  const sections = [...Map.groupBy(licensed, ({ text }) => text)].map(([text, packages]) => ({
    text,
    title: packages.map(({ title }) => title).join('\n'),
    license: packages[0]?.license ?? '',
  }));
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  sections.sort((a, b) => order(a.license, b.license) || a.text.length - b.text.length || order(a.title, b.title));
  const line = '='.repeat(72);
  const texts = sections.map(({ title, text }) => `${line}\n${title}\n${line}\n\n${text}`);
  writeFileSync(
    join(root, 'THIRD_PARTY_LICENSES.txt'),
    `Svc contains the work of others, under these licences.\n\n${texts.join('\n\n')}\n`,
  );
}

interface Licensed {
  /** Name, version and licence. */
  readonly title: string;
  readonly license: string;
  readonly text: string;
}

function read(folder: string, name: string): Licensed {
  const { version, license: told, licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  // Packages from before SPDX name theirs as a list of objects.
  const listed = Array.isArray(licenses) ? licenses.map(({ type }) => type).join(' OR ') : undefined;
  const file = readdirSync(folder).find((each) => /^(?:licen[cs]e|copying)(?:\.|-|$)/i.test(each));
  const text = file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim();
  // Some have only the text.
  const license = told ?? listed ?? (/^(?:The )?MIT License\b/.test(text ?? '') ? 'MIT' : undefined);
  const terms = String(license)
    .replace(/^\(|\)$/g, '')
    .split(' OR ');
  if (!terms.some((term) => ALLOWED.test(term)))
    throw new Error(`${name} is under ${license}, which may not be shipped.`);
  return { title: `${name} ${version} (${license})`, license: String(license), text: text ?? `Licence: ${license}` };
}
