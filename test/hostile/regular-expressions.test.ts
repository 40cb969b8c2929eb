import assert from 'node:assert/strict';
import { BLOCKS, NAMED, NAMING_LINE, SHAPES } from '../../src/completion/prompt/secret-patterns.ts';
import { growth, processorTime } from '../linear-time.ts';
import { attacks, regularExpressions } from './regular-expressions.ts';

/**
 * Patterns that take more than linear time for some text, each with what bounds the text. A pattern that is not listed
 * here has to be linear.
 */
const BOUNDED: readonly (readonly [pattern: string, bound: string])[] = [
  ['/qwen[\\w.-]*coder|coder[\\w.-]*qwen/i', 'MAX_MATCHED_ID characters of a model id'],
  ['/deepseek[\\w.-]*coder/i', 'MAX_MATCHED_ID characters of a model id'],
  ['/starcoder|stable-?code|granite[\\w.-]*code|codeqwen/i', 'MAX_MATCHED_ID characters of a model id'],
  ['/gpt-(?!.*(mini|nano|image|realtime|audio|oss|3\\.5|chat))[5-9]/', 'MAX_MATCHED_ID characters of a model id'],
  ['/qwen.*coder|kimi|glm-|deepseek/', 'MAX_MATCHED_ID characters of a model id'],
  ['/qwen.*coder|codeqwen/', 'MAX_MATCHED_ID characters of a model id'],
  ['/prompt (?:contains|has) \\d+ tokens[^.]*too (?:large|long)/i', '2,000 characters of an error (`clean`)'],
  ['/input token count[^.]*exceeds the maximum/i', '2,000 characters of an error (`clean`)'],
  ['/\\{([^}]*)\\}/', 'MAX_STATEMENT characters of an import'],
  ['/\\s+as\\s+|\\s*:\\s*/', 'MAX_STATEMENT characters of an import'],
  ['/\\s+as\\s+/', 'MAX_STATEMENT characters of an import'],
  ['/^from\\s+(\\.*)([\\w.]*)\\s+import\\s+\\(?([^)#]*)/', 'MAX_STATEMENT characters of an import'],
  ['/(\\d[\\d,]*)\\s+(?:maximum context length|maximum)/i', '2,000 characters of an error (`clean`)'],
];

/**
 * Length of the longer text in characters, tried in turn. A quadratic search of the first length takes little time; some
 * are fast enough to be seen with the second length only.
 */
const LENGTHS = [5_000, 20_000];
/** A search that takes fewer milliseconds for the longer text is linear, or fast enough. */
const SUSPICIOUS = 4;
/** Shorter times for the shorter text, in milliseconds, are too inaccurate. */
const MEASURABLE = 0.2;

/** The text for which the time of the search grows faster than the text, if there is one. */
async function nonLinear(pattern: RegExp): Promise<string | undefined> {
  const search = (text: string) => (pattern.global ? text.replace(pattern, '') : pattern.test(text));
  for (const length of LENGTHS) {
    const small = attacks(pattern, length / 4);
    for (const [index, text] of attacks(pattern, length).entries()) {
      if ((await processorTime(() => search(text))) < SUSPICIOUS) continue;
      const measured = await growth(
        () => search(small[index] ?? ''),
        () => search(text),
        MEASURABLE,
      );
      if (measured.superlinear && measured.after >= SUSPICIOUS) return JSON.stringify(text.slice(0, 40));
    }
  }
  return undefined;
}

describe('regular expressions of the sources', () => {
  const bounded = new Map(BOUNDED);
  const all = regularExpressions();

  it('regular expressions: take linear time or are listed with the limit of their text', async () => {
    const found: string[] = [];
    for (const [literal, file] of all) {
      if (bounded.has(literal)) continue;
      const end = literal.lastIndexOf('/');
      const attack = await nonLinear(new RegExp(literal.slice(1, end), literal.slice(end + 1)));
      if (attack !== undefined) found.push(`${file}: ${literal} for ${attack}…`);
    }
    assert.deepEqual(found, []);
  });

  it('regular expressions: patterns for secrets take linear time', async () => {
    const found: string[] = [];
    for (const pattern of [...BLOCKS, ...SHAPES, ...NAMED, NAMING_LINE]) {
      const attack = await nonLinear(pattern);
      if (attack !== undefined) found.push(`${pattern} for ${attack}…`);
    }
    assert.deepEqual(found, []);
  });

  it('regular expressions: the listed ones exist', () => {
    assert.deepEqual(
      [...bounded.keys()].filter((literal) => !all.has(literal)),
      [],
    );
  });

  it('regular expressions: the search for attacks finds known quadratic ones', async () => {
    for (const pattern of [/\/+$/, /\{(env|file):([^}]*)\}/g, /\r+\n/g, /^\s*x?\s*$/]) {
      assert.notEqual(await nonLinear(pattern), undefined, String(pattern));
    }
  });
});
