import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../host/workbench.ts';
import { type CompletionHarness, clear, startCompletionHarness } from './completion-harness.ts';

describe('content and number of completion requests', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness({ settings: { 'svc.completion.exclude': ['confidential/', '*.private.ts'] } });
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  it('completion requests: contain no file with secrets, ignored by Git or excluded by a setting, not even as context', async () => {
    writeFileSync(join(at.vscode.workspace, '.gitignore'), 'ignored.ts\n');
    at.answer = ['leaked'];
    for (const name of ['.env', 'key.pem', 'ignored.ts', 'plan.private.ts']) {
      await at.edit(name, 'const sesame = openDoor(');
      await at.type('abc + ');
      await at.page.locator('.statusbar-item[aria-label^="Svc: No completions here"]').waitFor();
      await runCommand(at.page, 'Svc: Trigger Completion');
      await runCommand(at.page, 'File: Save');
    }
    assert.deepEqual(at.completionRequests(), []);
    at.answer = ['fine;'];
    await at.edit('open.ts', 'const sesame = openDoor();\nconst ok = ');
    await at.type('sesame + ');
    await at.shows('fine;');
    const bodies = at.completionRequests().map(({ bytes }) => bytes.toString('utf8'));
    assert.ok(bodies.length > 0);
    for (const body of bodies) assert.doesNotMatch(body, /abc \+|\.env|key\.pem|ignored\.ts|private/);
  });

  it('completion requests: a key is replaced in the request and restored in the answer', async () => {
    const key = `sk-${'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7'}`;
    at.answer = (prompt) => [`connect("${/token = "([^"]+)"/.exec(prompt)?.[1] ?? ''}");`];
    await at.edit('keyed.ts', `const token = "${key}";\nconst link = `);
    await at.type('await ');
    await at.shows(`connect("${key}");`);
    assert.ok(!at.completionRequests().some(({ bytes }) => bytes.toString('utf8').includes(key)));
  });

  it('completion requests: missing credit causes at most two requests for thirty keys, no popup and a status', async () => {
    at.status = 402;
    await at.edit('credit.ts', 'const value = ');
    const before = at.completionRequests().length;
    await at.page.keyboard.type('someCall(other, third) + more +', { delay: 60 });
    await at.page.locator('.statusbar-item.warning-kind', { hasText: 'Svc' }).waitFor();
    const requests = at.completionRequests().length - before;
    assert.ok(requests >= 1 && requests <= 2, `${requests} requests`);
    assert.equal(await at.page.locator('.notification-toast').count(), 0);
    at.status = 200;
    at.answer = ['again;'];
    await at.page.keyboard.press('Enter');
    await at.type('x = ');
    await runCommand(at.page, 'Svc: Completion Menu');
    await at.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Try again' }).click();
    await at.shows('again;');
  });
});
