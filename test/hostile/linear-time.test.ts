import assert from 'node:assert/strict';
import { requestJson } from '../../src/base/json.ts';
import { plainOutput } from '../../src/chat/tools/terminal-output.ts';
import { redact, SecretRestorer } from '../../src/completion/prompt/redact.ts';
import { proposalsAt, subjectAt } from '../../src/config/editing/assist.ts';
import { providersIn } from '../../src/config/editing/edit-providers.ts';
import { load } from '../../src/config/load/load.ts';
import { BoundedLexer } from '../../src/webview/chat/markdown/bounded-lexer.ts';
import { vendorError } from '../../src/wire/errors/vendor-errors.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { assertLinear } from '../linear-time.ts';

const NOTHING = { providers: () => [], models: () => [], refs: () => [], variants: () => [], environment: () => [] };
const provider = (options: unknown, over: object = {}) => JSON.stringify({ provider: { p: { options, ...over } } });

describe('configuration files of a repository', () => {
  const files: readonly (readonly [what: string, make: (size: number) => string])[] = [
    ['{env:{env:…', (size) => provider({ apiKey: '{env:'.repeat(size) })],
    ['{file:{file:…', (size) => provider({ apiKey: '{file:'.repeat(size) })],
    ['{env:{env:…}', (size) => provider({ apiKey: `${'{env:'.repeat(size)}}` })],
    ['{file:x}{file:x}…', (size) => provider({ apiKey: '{file:x}'.repeat(size) })],
    ['slashes at the end of an address', (size) => provider({ baseURL: `http://a/${'/'.repeat(size)}x` })],
    ['question marks in an address', (size) => provider({ baseURL: `http://a/${'?'.repeat(size)}` })],
    ['many providers', (size) => JSON.stringify({ provider: members(size / 8, { options: {} }) })],
    ['many models', (size) => provider({}, { models: members(size / 8, {}) })],
    ['many models that are not valid', (size) => provider({}, { models: members(size / 8, 1) })],
    ['many addresses that are not valid', (size) => wrongAddresses(size / 8)],
    ['many wrong items of a list', (size) => provider({}, { whitelist: Array(size).fill(1) })],
    ['many names of headers in upper case', (size) => headers(size / 8)],
    ['many unknown keys', (size) => JSON.stringify(members(size / 8, 1))],
    ['one key many times', (size) => `{${'"model":"a/b",'.repeat(size / 8)}"x":1}`],
    ['many comments', (size) => `{${'/*'.repeat(size)}*/}`],
    ['many line comments', (size) => `{${'//\n'.repeat(size)}}`],
    ['many commas', (size) => `{"a":[${','.repeat(size)}]}`],
    ['many quotes', (size) => `{${'"'.repeat(size)}}`],
    ['many opening brackets', (size) => `{"a":${'['.repeat(size)}`],
    ['backslashes', (size) => `{"a":"${'\\\\'.repeat(size)}"}`],
    ['spaces', (size) => `{${' '.repeat(size)}"a":1${' '.repeat(size)}}`],
    ['a long whitelist', (size) => provider({}, { whitelist: Object.keys(members(size / 8, 1)) })],
    ['many headers', (size) => provider({ headers: members(size / 8, 'x') })],
    ['a long model', (size) => JSON.stringify({ model: `a/${'b'.repeat(size)}` })],
    ['a long unknown key', (size) => `{"${'k'.repeat(size)}":1}`],
  ];
  for (const [what, make] of files) {
    it(`configuration file: loading takes linear time: ${what}`, async () => {
      // Four times as many wrong items take so much memory that the garbage collector takes most of the time.
      await assertLinear(4_000, make, async (text) => {
        using folder = new ProjectFolder();
        folder.write('project/svc.jsonc', text);
        await load({ ...folder.input(), folders: [folder.project] });
      });
    });
    it(`configuration file: proposals and subjects take linear time: ${what}`, async () => {
      await assertLinear(8_000, make, (text) => {
        proposalsAt(text, text.length - 1, NOTHING);
        subjectAt(text, Math.floor(text.length / 2));
        readProviders(text);
      });
    });
  }
});

describe('text of a provider or a program', () => {
  const texts: readonly (readonly [what: string, make: (size: number) => string, run: (text: string) => unknown])[] = [
    ['a terminal’s carriage returns', (size) => '\r'.repeat(size), plainOutput],
    ['a terminal’s lines written over', (size) => 'a\r'.repeat(size), plainOutput],
    ['a terminal’s escapes', (size) => '\u001b]0;'.repeat(size), plainOutput],
    ['a terminal’s spaces', (size) => `a${' '.repeat(size)}b`.repeat(3), plainOutput],
    ['eyJ-eyJ-…', (size) => 'eyJ-'.repeat(size / 8), redact],
    ['sk-sk-…', (size) => 'sk-'.repeat(size / 8), redact],
    ['password:password:…', (size) => 'password:'.repeat(size / 32), redact],
    ['password=password=…(', (size) => `${'password='.repeat(size / 32)}(`, redact],
    ['://a:://a:…', (size) => 'http://a:'.repeat(size / 8), redact],
    ['many private keys that do not end', (size) => '-----BEGIN PRIVATE KEY-----'.repeat(size / 32), redact],
    ['halves of surrogate pairs', (size) => `${'\\'.repeat(size)}\ud83d`.repeat(4), requestJson],
    ['an error of nested lists', (size) => '['.repeat(size) + ']'.repeat(size), failure],
    ['an error of digits', (size) => JSON.stringify({ error: { message: '1,'.repeat(size) } }), failure],
    ['quotes in quotes', (size) => `${'> '.repeat(size)}x`, lex],
    ['lists in lists', (size) => `${'- '.repeat(size)}x`, lex],
    ['brackets', (size) => '['.repeat(size), lex],
    ['links', (size) => '[a]('.repeat(size), lex],
    ['emphasis', (size) => `${'**a *b '.repeat(size / 8)}c*`, lex],
    ['many paragraphs of emphasis', (size) => `${'**a *b '.repeat(40)}\n\n`.repeat(size / 400), lex],
  ];
  for (const [what, make, run] of texts) {
    it(`hostile text: reading takes linear time: ${what}`, () =>
      assertLinear(run === lex ? 10_000 : 50_000, make, run));
  }

  it('redacted text: restoring it in pieces takes linear time', async () => {
    const { secrets, text } = redact('password: "correct-horse9"');
    await assertLinear(
      100_000,
      (size) => text.repeat(size / 8),
      (answer) => {
        const restoring = new SecretRestorer(secrets);
        for (let at = 0; at < answer.length; at += 7) restoring.push(answer.slice(at, at + 7));
      },
    );
  });
});

/** The error for an invalid file, for any fault. */
function readProviders(text: string): void {
  try {
    providersIn(text);
  } catch (error) {
    assert.match(String(error), /not valid JSONC|nested too deeply/);
  }
}

function failure(bodyText: string): unknown {
  return vendorError({ provider: 'p', status: 400, bodyText, byok: true });
}

function lex(text: string): unknown {
  return new BoundedLexer().lex(text);
}

function wrongAddresses(count: number): string {
  return JSON.stringify({ provider: members(count, { options: { baseURL: 'ftp://a' } }) });
}

function headers(count: number): string {
  return JSON.stringify({ provider: members(count, { options: { headers: { 'X-A': 'b' } } }) });
}

function members(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: Math.floor(count) }, (_, index) => [`k${index}`, value]));
}
