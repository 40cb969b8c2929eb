import assert from 'node:assert/strict';
import { type CompletionHarness, startCompletionHarness } from './completion-harness.ts';

describe('the first keys in a window', () => {
  let at: CompletionHarness;

  before(async () => {
    // As in a busy window: what VS Code does in idle time, such as its part for inline completions, is done 5 s later.
    at = await startCompletionHarness({
      prepare: async (page) => {
        await page.addInitScript(() => {
          const whenIdle = window.requestIdleCallback.bind(window);
          window.requestIdleCallback = (callback, options) =>
            Number(setTimeout(whenIdle, options?.timeout ?? 5000, callback));
        });
      },
    });
  });
  after(() => at?.close());

  it('ghost text: follows keys for which VS Code did not request it yet', async () => {
    at.answer = ['a * 2;'];
    await at.edit('first.ts', 'const a = 1;\nconst b = ');
    await at.type('a + ');
    await at.shows('a * 2;');
    await at.accept();
    assert.equal(await at.saved('first.ts'), 'const a = 1;\nconst b = a + a * 2;');
  });
});
