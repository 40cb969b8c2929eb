import assert from 'node:assert/strict';
import { endingWarning } from '../../src/wire/endings.ts';

describe('endings of an answer (spec 7)', () => {
  it('endingWarning: contains the setting that solves the problem', () => {
    assert.match(endingWarning('incomplete') ?? '', /may be incomplete.*limit\.output/);
    assert.match(endingWarning('reasoning-only') ?? '', /[Dd]isable reasoning or raise `limit\.output`/);
    assert.equal(endingWarning('complete'), undefined);
  });
});
