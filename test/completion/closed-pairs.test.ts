import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { BracketScanner } from '../../src/completion/document/brackets.ts';
import { findLanguage } from '../../src/completion/document/languages.ts';
import { closedPairs, lineAfter, type MissingText, middles } from './closed-pairs.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const LANGUAGE_OF: Readonly<Record<string, string>> = {
  '.ts': 'typescript',
  '.js': 'javascript',
  '.mjs': 'javascript',
  '.py': 'python',
  '.go': 'go',
  '.rs': 'rust',
};
/** Sources of dependencies and fixtures, one of so many files, and files of other languages. */
const SOURCES: readonly (readonly [pattern: string, every: number])[] = [
  ['node_modules/{@anthropic-ai/sdk,openai,zod}/src/**/*.ts', 23],
  ['node_modules/{highlight.js/lib,ajv/dist,lodash,yaml/dist,underscore/modules}/**/*.js', 29],
  ['node_modules/katex/src/**/*.py', 1],
  ['test/bench/typist/fixtures/*', 1],
  ['test/completion/real-lines/*', 1],
];
/** One of so many places is tried. Of all, 12 of 15,951 closed pairs and 18 of 18,064 other places are wrong. */
const PLACES = 13;
const MAX_LINE = 120;
/** One of so many places in the middle of a line is tried: there are twenty times as many as closed pairs. */
const FEWER = 20;

interface Place extends MissingText {
  readonly file: string;
  readonly lines: readonly string[];
  readonly languageId: string;
}

function placesOf(file: string): readonly Place[] {
  const languageId = LANGUAGE_OF[extname(file.replace(/\.txt$/, ''))] ?? 'plaintext';
  const lines = readFileSync(`${ROOT}${file}`, 'utf8').split(/\r?\n/);
  const scanner = new BracketScanner(findLanguage(languageId));
  return lines.flatMap((line, row) => {
    const { inside } = scanner;
    scanner.read(`${line}\n`);
    // Lines in strings and comments follow no grammar.
    if (inside !== undefined || line.length > MAX_LINE || /\/\/|\/\*|#/.test(line)) return [];
    const fewer = middles(line, row).filter((_, at) => (row + at) % FEWER === 0);
    return [...closedPairs(line, row, languageId), ...fewer].map((each) => ({ ...each, file, lines, languageId }));
  });
}

function everyPlace(): readonly Place[] {
  return SOURCES.flatMap(([pattern, every]) => {
    const files = globSync(pattern, { cwd: ROOT, exclude: ['**/*.d.ts', '**/*.min.js'] }).sort();
    return files.filter((_, at) => at % every === 0).flatMap(placesOf);
  }).filter((_, at) => at % PLACES === 0);
}

function squashed(text: string): string {
  return text.replace(/\s+/g, '');
}

/** What is wrong at a place. Nothing shown is wrong in a closed pair; half of a statement need not be shown. */
function wrongAt(place: Place, pieceLength: number): string | undefined {
  const { head, tail, answer, how, row, lines, languageId, file } = place;
  const around = { above: lines.slice(0, row), below: lines.slice(row + 1), languageId };
  const line = lineAfter(around, place, pieceLength);
  if (line === undefined && how === 'middle of a line') return undefined;
  if (line !== undefined && squashed(line) === squashed(head + answer + tail)) return undefined;
  return `${file}:${row + 1}: ${how}: ${head}‸${tail} with ${JSON.stringify(answer)} is ${line}`;
}

/**
 * Wrong are: strings that look like secrets (nothing is sent), an answer that starts with the caret's line again, text
 * after a template literal of more than 4,000 characters, and halves of regular expressions and type parameters.
 */
describe('completion: real lines from which text is missing', () => {
  const places = everyPlace();
  for (const [how, share] of [
    ['closed pair', 0.001],
    ['middle of a line', 0.002],
  ] as const) {
    for (const [name, pieceLength] of [
      ['in one piece', 1_000],
      ['in pieces of three characters', 3],
    ] as const) {
      it(`closed pairs: ${how}, answered ${name}`, () => {
        const tried = places.filter((place) => place.how === how);
        const wrong = tried.flatMap((place) => wrongAt(place, pieceLength) ?? []);
        assert.ok(tried.length >= 800, `only ${tried.length} places`);
        assert.ok(wrong.length <= tried.length * share, `${wrong.length} of ${tried.length}:\n${wrong.join('\n')}`);
      });
    }
  }
});
