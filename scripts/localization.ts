/**
 * Gathers every text that the editor's face and its pages show: `node scripts/localization.ts` writes
 * l10n/bundle.l10n.json and says what the German translation lacks.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** A literal in single quotes or in backticks without a placeholder. */
const LITERAL = [String.raw`'((?:[^'\\]|\\.)*)'`, '`((?:[^`\\\\$])*)`'].join('|');
const CALL = new RegExp(String.raw`\bt\(\s*(?:${LITERAL})`, 'g');
/** Two literals that a condition picks from: `t(one ? 'a' : 'b')`. */
const CHOICE = new RegExp(String.raw`\bt\([^'()]*\?\s*(?:${LITERAL})\s*:\s*(?:${LITERAL})`, 'g');
/** Problems of a form: their `text` is a key too. */
const TEXT = new RegExp(String.raw`\b(?:text:|rule =|at\('\w+',)\s*(?:${LITERAL})`, 'g');
/** Titles of error cards, words of their buttons, and what a slash command does. */
const CARD = new RegExp(String.raw`^ {2}\w+: \[(?:${LITERAL}),`, 'gm');
const LABEL = new RegExp(String.raw`\b(?:label|detail): (?:${LITERAL})`, 'g');
/** Messages of errors, and those of the network, which are a table by code. */
const MESSAGE = new RegExp(String.raw`\bmsg\(\s*(?:${LITERAL}|"([^"\\]*)")`, 'g');
const NETWORK = /^ {2}\w+: '(\{0\}[^']*)',$/gm;
/** Only clients of the API and the terminal see their errors, in English. */
const ENGLISH_ONLY = /^src\/(?:gateway|cli)\//;
/** What is wrong with a file that can't be changed. */
const UNREADABLE = new RegExp(String.raw`new UnreadableFile\((?:${LITERAL})`, 'g');

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(ROOT, folder, file));
}

function literals(source: string, pattern: RegExp): string[] {
  return [...source.matchAll(pattern)].flatMap((match) =>
    match
      .slice(1)
      .filter((text) => text !== undefined)
      .map(unescaped),
  );
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(u\{?[0-9a-fA-F]+\}?|.)/g, (_whole, code: string) => {
    if (code === 'n') return '\n';
    return code.startsWith('u') ? String.fromCodePoint(Number.parseInt(code.replaceAll(/[u{}]/g, ''), 16)) : code;
  });
}

/** The files whose errors the editor can show. */
export function errorSources(): readonly string[] {
  return sources('src').filter((file) => !ENGLISH_ONLY.test(relative(ROOT, file)));
}

/** The templates of all errors that the editor can show. */
export function errorTemplates(): readonly string[] {
  return errorSources().flatMap((file) => {
    const source = readFileSync(file, 'utf8');
    const network = file.endsWith('network-failure.ts') ? literals(source, NETWORK) : [];
    return [...literals(source, MESSAGE), ...network].filter((text) => text !== '{0}');
  });
}

/** The texts that the files of a folder translate with `t()`. */
export function textsOf(folder: string): readonly string[] {
  return sources(folder).flatMap((file) => {
    const source = readFileSync(file, 'utf8');
    return [...literals(source, CALL), ...literals(source, CHOICE)];
  });
}

/** Every text that is translated, sorted. */
export function shownTexts(): readonly string[] {
  const found = new Set<string>([...textsOf('src/extension'), ...textsOf('src/webview')]);
  const form = readFileSync(join(ROOT, 'src/config/provider-form/provider-form.ts'), 'utf8');
  for (const text of literals(form, TEXT)) found.add(text);
  const reader = readFileSync(join(ROOT, 'src/config/editing/config-text.ts'), 'utf8');
  for (const text of literals(reader, UNREADABLE)) found.add(text);
  const cards = readFileSync(join(ROOT, 'src/chat/page/error-card.ts'), 'utf8');
  for (const text of literals(cards, CARD)) found.add(text);
  for (const text of errorTemplates()) found.add(text);
  for (const file of ['src/webview/chat/transcript/ending-view.tsx', 'src/chat/page/slash-commands.ts']) {
    for (const text of literals(readFileSync(join(ROOT, file), 'utf8'), LABEL)) found.add(text);
  }
  found.delete('');
  return [...found].sort((a, b) => (a < b ? -1 : 1));
}

export function bundle(name: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
}

/** Texts that a translation lacks, says with other placeholders, or has although nothing shows them. */
export function faults(texts: readonly string[], translation: Readonly<Record<string, unknown>>): readonly string[] {
  const placeholders = (text: string) => [...new Set(text.match(/\{\d\}/g))].sort().join();
  const missing = texts.flatMap((text) => {
    const said = translation[text];
    if (typeof said !== 'string' || said === '') return [`missing: ${text}`];
    return placeholders(said) === placeholders(text) ? [] : [`other placeholders: ${text}`];
  });
  const known = new Set(texts);
  return [...missing, ...Object.keys(translation).flatMap((text) => (known.has(text) ? [] : [`unused: ${text}`]))];
}

if (process.argv[1]?.endsWith('localization.ts')) {
  const texts = shownTexts();
  const own = Object.fromEntries(texts.map((text) => [text, text]));
  writeFileSync(join(ROOT, 'l10n', 'bundle.l10n.json'), `${JSON.stringify(own, null, 2)}\n`);
  for (const fault of faults(texts, bundle('l10n/bundle.l10n.de.json'))) console.log(fault);
}
