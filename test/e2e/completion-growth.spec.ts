import assert from 'node:assert/strict';
import { type CompletionDesk, clear, setCompletionDesk } from './completion-desk.ts';

describe('ghost text that is still arriving', () => {
  let at: CompletionDesk;

  before(async () => {
    at = await setCompletionDesk();
  });
  after(() => at.close());
  afterEach(() => clear(at));

  it('shows its first line at once and grows at its end only, line by line, while nothing is typed', async () => {
    const [second, third] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    at.answer = ['alpha;\n', second.promise, 'const beta = 2;\n', third.promise, 'const gamma = 3;'];
    await at.edit('grows.ts', 'const first = ');
    const seen = await at.watch();
    await at.type('1 + ');
    await at.shows('alpha;');
    second.resolve();
    await at.shows('alpha;\nconst beta = 2;');
    third.resolve();
    await at.shows('alpha;\nconst beta = 2;\nconst gamma = 3;');
    const texts = await seen.texts();
    for (const [index, text] of texts.entries()) {
      assert.ok(text.startsWith(texts[index - 1] ?? ''), `${JSON.stringify(texts)}`);
    }
    assert.equal(at.asked().length, 1);
    await at.page.keyboard.press('Tab');
    await at.gone();
    assert.equal(await at.saved('grows.ts'), 'const first = 1 + alpha;\nconst beta = 2;\nconst gamma = 3;');
  });
});
