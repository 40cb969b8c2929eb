import assert from 'node:assert/strict';
import { applyTextEdits } from '../../src/chat/tools/text-edit.ts';
import { MISSES, type Miss } from './fixtures/edit-misses.ts';

type Outcome = 'right' | 'refused' | 'wrong';

function outcome({ path, file, oldText, newText, result }: Miss): Outcome {
  try {
    return applyTextEdits(path, file, [{ oldText, newText }]) === result ? 'right' : 'wrong';
  } catch (error) {
    // The model gets the reason, with lines of the file where some are similar.
    assert.match(String(error), /old_text (?:was not found|occurs)|new_text leaves out/);
    return 'refused';
  }
}

const SPREADS: readonly (readonly [name: string, file: string, oldText: string, newText: string, result: string])[] = [
  ['an argument', 'call(\n  a,\n);\n', '  a,\n', '  a,\n  ...rest\n', 'call(\n  a,\n  ...rest\n);\n'],
  [
    'a member',
    'const all = {\n  a: 1,\n};\n',
    '  a: 1,',
    '  a: 1,\n  ...existing',
    'const all = {\n  a: 1,\n  ...existing\n};\n',
  ],
  [
    'a member of both texts, which are indented otherwise',
    'const all = {\n    first: 1,\n    second: 2,\n    ...remaining\n};\n',
    '  first: 1,\n  second: 2,\n  ...remaining',
    '  first: 2,\n  second: 2,\n  ...remaining',
    'const all = {\n    first: 2,\n    second: 2,\n    ...remaining\n};\n',
  ],
  [
    'a parameter',
    'function run(\n  first: string,\n) {}\n',
    '\tfirst: string,\n',
    '\tfirst: string,\n\t...omitted\n',
    'function run(\n  first: string,\n  ...omitted\n) {}\n',
  ],
];

describe('recorded misses of small models', () => {
  it('edit misses: none is applied at a wrong place or with a wrong result', () => {
    const wrong = MISSES.filter((miss) => outcome(miss) === 'wrong');
    assert.deepEqual(
      wrong.map(({ name }) => name),
      [],
    );
  });

  it('edit misses: of 100 and more that name one place, at least 85 of 100 are applied', () => {
    const certain = MISSES.filter(({ result }) => result !== undefined);
    const refused = certain.filter((miss) => outcome(miss) === 'refused').map(({ name }) => name);
    assert.ok(certain.length >= 100, `${certain.length} misses`);
    assert.ok(refused.length <= certain.length * 0.15, `refused: ${refused.join(', ')}`);
  });

  for (const [name, file, oldText, newText, result] of SPREADS) {
    it(`edit misses: a line of code that begins with three dots leaves nothing out: ${name}`, () => {
      assert.equal(applyTextEdits('a.ts', file, [{ oldText, newText }]), result);
    });
  }
});
