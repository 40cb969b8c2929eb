import assert from 'node:assert/strict';
import { BLOCKS, NAMED, NAMING_LINE, SHAPES } from '../../src/completion/prompt/secret-patterns.ts';
import { attacks, regularExpressions } from './regular-expressions.ts';

/**
 * Patterns that take more than linear time for some text, each with what bounds the text. A pattern that is not listed
 * here has to be linear.
 */
const BOUNDED: readonly (readonly [pattern: string, bound: string])[] = [
  ['/qwen[\\w.-]*coder|coder[\\w.-]*qwen|codeqwen/i', 'MAX_MATCHED_ID characters of a model id'],
  ['/deepseek[\\w.-]*coder/i', 'MAX_MATCHED_ID characters of a model id'],
  ['/gpt-(?!.*(mini|nano|image|realtime|audio|oss|3\\.5|chat))[5-9]/', 'MAX_MATCHED_ID characters of a model id'],
  ['/qwen.*coder|kimi|glm-|deepseek/', 'MAX_MATCHED_ID characters of a model id'],
  ['/qwen.*coder|codeqwen/', 'MAX_MATCHED_ID characters of a model id'],
  ['/prompt (?:contains|has) \\d+ tokens[^.]*too (?:large|long)/i', '2,000 characters of an error (`clean`)'],
  ['/input token count[^.]*exceeds the maximum/i', '2,000 characters of an error (`clean`)'],
  ['/(\\d[\\d,]*)\\s+(?:maximum context length|maximum)/i', '2,000 characters of an error (`clean`)'],
];

const SMALL = 5_000;
const LARGE = 20_000;
/** A search that takes fewer milliseconds for the large text is not measured. */
const MEASURABLE = 4;

function timeOf(pattern: RegExp, text: string): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage();
    if (pattern.global) text.replace(pattern, '');
    else pattern.test(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
    if (least < MEASURABLE) break;
  }
  return least;
}

/** The text for which four times the length takes more than eight times as long, if there is one. */
function nonLinear(pattern: RegExp): string | undefined {
  const small = attacks(pattern, SMALL);
  for (const [index, text] of attacks(pattern, LARGE).entries()) {
    const large = timeOf(pattern, text);
    if (large < MEASURABLE) continue;
    if (large / Math.max(timeOf(pattern, small[index] ?? ''), 0.2) > 8) return JSON.stringify(text.slice(0, 40));
  }
  return undefined;
}

describe('regular expressions of the sources', () => {
  const bounded = new Map(BOUNDED);
  const all = regularExpressions();

  it('regular expressions: take linear time or are listed with the limit of their text', () => {
    const found: string[] = [];
    for (const [literal, file] of all) {
      if (bounded.has(literal)) continue;
      const end = literal.lastIndexOf('/');
      const attack = nonLinear(new RegExp(literal.slice(1, end), literal.slice(end + 1)));
      if (attack !== undefined) found.push(`${file}: ${literal} for ${attack}…`);
    }
    assert.deepEqual(found, []);
  });

  it('regular expressions: patterns for secrets take linear time', () => {
    const found = [...BLOCKS, ...SHAPES, ...NAMED, NAMING_LINE].filter((pattern) => nonLinear(pattern) !== undefined);
    assert.deepEqual(found, []);
  });

  it('regular expressions: the listed ones exist', () => {
    assert.deepEqual(
      [...bounded.keys()].filter((literal) => !all.has(literal)),
      [],
    );
  });

  it('regular expressions: the search for attacks finds known quadratic ones', () => {
    for (const pattern of [/\/+$/, /\{(env|file):([^}]*)\}/g, /\r+\n/g, /^\s*x?\s*$/]) {
      assert.notEqual(nonLinear(pattern), undefined, String(pattern));
    }
  });
});
