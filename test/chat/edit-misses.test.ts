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
});
