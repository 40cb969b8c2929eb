import assert from 'node:assert/strict';
import { editorPart } from '../soak/editor-part.ts';

describe('completion soak test', () => {
  it('completion soak: no leaks, no useless requests and constant memory (seconds of `npm run soak`)', async () => {
    const rows = await editorPart.run({ seconds: 0, seed: 7, scale: 'short', progress: () => undefined });
    assert.deepEqual(
      rows.filter(({ holds }) => !holds),
      [],
    );
  });
});
