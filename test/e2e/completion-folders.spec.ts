import assert from 'node:assert/strict';
import { type CompletionHarness, clear, startCompletionHarness } from './completion-harness.ts';

describe('completions in a workspace of several folders', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness({ folders: { workspace: '*.one.ts\n', second: '*.two.ts\n' } });
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  async function refused(name: string, folder?: string): Promise<void> {
    await at.edit(name, 'const secret = ', folder);
    await at.type('abc + ');
    await at.page.locator('.statusbar-item[aria-label^="Svc: No completions here"]').waitFor();
  }

  it('multi-root workspace: each folder uses its own .gitignore', async () => {
    at.answer = ['fine;'];
    await refused('a.one.ts');
    await refused('c.two.ts', 'second');
    assert.deepEqual(at.completionRequests(), []);
    await at.edit('d.one.ts', 'const open = ', 'second');
    await at.type('1 + ');
    await at.shows('fine;');
    await at.page.keyboard.press('Escape');
    await at.edit('b.two.ts', 'const open = ');
    await at.type('2 + ');
    await at.shows('fine;');
    const prompts = at.completionRequests().map(({ body }) => String(body.prompt));
    assert.ok(prompts.length >= 2);
    for (const prompt of prompts) assert.doesNotMatch(prompt, /secret|abc/);
  });
});
