import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { actUntil, came, findNotification, OPENS_WITHIN_MS, runCommand, typeInList } from '../host/workbench.ts';
import { type CompletionHarness, clear, startCompletionHarness } from './completion-harness.ts';

const ROWS = '.quick-input-list .monaco-list-row';
const ITEM = '[id="svc.svc.svc.completion"]';
const LANGUAGE = '[id="status.languageStatus"]';

describe('the controls of completions', () => {
  let at: CompletionHarness;

  before(async () => {
    at = await startCompletionHarness({
      folders: { workspace: '*.one.ts\n', second: '*.two.ts\n' },
      providers: {
        svc: {
          name: 'Gateway',
          options: { baseURL: 'http://127.0.0.1:9/v1' },
          models: {
            'mistralai/codestral-2508': { name: 'Codestral', cost: { input: 0.3, output: 0.9 } },
            'inception/mercury-edit-2': { name: 'Mercury', cost: { input: 0.25, output: 0.75 } },
          },
        },
        'deepseek-direct': {
          name: 'DeepSeek',
          fim: 'deepseek',
          options: { baseURL: 'http://127.0.0.2:9' },
          models: { 'deepseek-chat': { name: 'DeepSeek V3', cost: { input: 0.28, output: 0.42 } } },
        },
        here: {
          name: 'This machine',
          fim: 'llamacpp-infill',
          options: { baseURL: 'http://127.0.0.1:8012' },
          models: { local: { name: 'Local', cost: { input: 0, output: 0 } } },
        },
        templated: {
          name: 'Templated',
          fim: 'template-qwen',
          options: { baseURL: 'http://127.0.0.1:8013/v1' },
          models: { qwen: { name: 'Qwen Coder' }, chatty: { name: 'Chatty' } },
        },
      },
    });
  });
  after(() => at?.close());
  afterEach(() => clear(at));

  async function menu(page: Page): Promise<void> {
    await actUntil(page, () => page.locator(ITEM).click(), page.locator(ROWS).first());
  }

  it('completion controls: the model picker shows price and destination', async () => {
    await at.edit('pick.ts', 'const a = ');
    await runCommand(at.page, 'Svc: Choose Completion Model');
    for (const [name, facts] of [
      ['Codestral', ['0.3 USD in', '0.9 USD out', 'to 127.0.0.1:9']],
      ['Mercury', ['0.25 USD in', '0.75 USD out', 'to 127.0.0.1:9']],
      ['DeepSeek V3', ['0.28 USD in', 'to 127.0.0.2:9']],
      ['Local', ['free', 'to 127.0.0.1:8012']],
      ['Qwen Coder', ['to 127.0.0.1:8013']],
    ] as const) {
      await typeInList(at.page, name);
      const row = at.page.locator(ROWS, { hasText: name }).first();
      await row.waitFor();
      const text = await row.innerText();
      for (const fact of facts) assert.ok(text.includes(fact), `${name}: ${text}`);
    }
    await typeInList(at.page, 'Qwen Coder');
    await at.page.keyboard.press('Enter');
    await at.page.locator(`${ITEM}[aria-label*="Completions by Qwen Coder"]`).waitFor();
    await at.page.locator(`${LANGUAGE}[aria-label*="Completions by Qwen Coder"]`).waitFor();
    await runCommand(at.page, 'Svc: Choose Completion Model');
    await typeInList(at.page, 'model/coder');
    await at.page.locator(ROWS, { hasText: 'model/coder' }).first().waitFor();
    await at.page.keyboard.press('Enter');
    await at.page.locator(`${ITEM}[aria-label*="Completions by Coder"]`).waitFor();
  });

  it('completion controls: the picker says that a chat model may be slow or poor, also after it was chosen', async () => {
    const row = (name: string) => at.page.locator(ROWS, { hasText: name }).first();
    await at.edit('chatty.ts', 'const a = ');
    await runCommand(at.page, 'Svc: Choose Completion Model');
    await typeInList(at.page, 'Codestral');
    await row('Codestral').waitFor();
    assert.doesNotMatch(await row('Codestral').innerText(), /slow or poor/);
    await typeInList(at.page, 'Chatty');
    await row('Chatty').waitFor();
    await row('Chatty')
      .filter({ hasText: /not made for completion: may be slow or poor/ })
      .waitFor();
    await at.page.keyboard.press('Enter');
    await at.page.locator(`${ITEM}[aria-label*="Completions by Chatty"]`).waitFor();
    const notice = await findNotification(
      at.page,
      'Chatty is not made for code completion. Its suggestions may be slow or poor.',
    );
    const list = at.page.locator('.quick-input-title', { hasText: 'Model for completions' });
    const press = notice.locator('.monaco-button', { hasText: 'Choose Another Model' });
    // The notification closes when its button is pressed, and the list may come later.
    await actUntil(at.page, async () => void (await came(press.click({ timeout: OPENS_WITHIN_MS }))), list);
    await typeInList(at.page, 'model/coder');
    await row('model/coder').waitFor();
    await at.page.keyboard.press('Enter');
    await at.page.locator(`${ITEM}[aria-label*="Completions by Coder"]`).waitFor();
  });

  it('completion controls: the status item names a configured completion model that does not exist', async () => {
    await at.edit('wrong.ts', 'const a = ');
    const file = join(at.vscode.workspace, 'svc.jsonc');
    writeFileSync(file, '{\n  "completionModel": "model/codr",\n}');
    const said = ['model/codr', 'svc.jsonc, line 2', 'model/coder'].map((text) => `[aria-label*="${text}"]`);
    await at.page.locator(`${ITEM}${said.join('')}`).waitFor();
    rmSync(file);
    await at.page.locator(`${ITEM}[aria-label*="model/codr"]`).waitFor({ state: 'detached' });
  });

  it('completion controls: the status bar shows requests, latency and cost, and opens a menu', async () => {
    at.answer = ['priced;'];
    await at.edit('cost.ts', 'const a =');
    await at.type(' ');
    await at.shows('priced;');
    await at.accept();
    await at.page.locator(ITEM).hover();
    // What was accepted a moment ago is reported a moment later.
    const figures = /Coder.*\d+ requests · \d+ characters accepted · first text after [\d,]+ ms · \$0\.\d+/s;
    await at.page.locator('.monaco-hover:visible', { hasText: figures }).waitFor();
    await menu(at.page);
    const rows = (await at.page.locator(ROWS).allInnerTexts()).join('\n');
    for (const entry of [
      'Turn completions off',
      'typescript',
      'Snooze',
      'Choose the completion model',
      'cost',
      'last request',
      'log',
    ]) {
      assert.ok(rows.includes(entry), `${entry} in ${rows}`);
    }
    await at.page.keyboard.press('Escape');
    await runCommand(at.page, 'Svc: Show Completion Cost');
    const dialog = at.page.locator('.monaco-dialog-box');
    await dialog.waitFor();
    await dialog.filter({ hasText: /Requests: \d+[\s\S]*Characters accepted: \d+[\s\S]*Cost: \$/ }).waitFor();
    await at.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('walkthrough: a step is complete when what it explains has worked, not when it was opened', async () => {
    at.answer = ['walked;'];
    await at.edit('walk.ts', 'const a =');
    await at.type(' ');
    await at.shows('walked;');
    await at.accept();
    await runCommand(at.page, 'Welcome: Open Walkthrough...');
    await at.page.locator(ROWS, { hasText: 'Svc' }).first().click();
    const box = (step: string) => at.page.locator(`[data-done-step-id$="#${step}"]`).first();
    const title = at.page.locator('.getting-started-step');
    await title.first().waitFor();
    await title.first().filter({ hasText: /key/i }).waitFor();
    await title.filter({ hasText: /chat/i }).first().click();
    await box('completion').and(at.page.locator('.codicon-getting-started-step-checked')).waitFor();
    assert.match((await box('chat').getAttribute('class')) ?? '', /step-unchecked/);
    await runCommand(at.page, 'View: Close Editor');
  });

  it('completion controls: snooze disables completions until it is cancelled', async () => {
    at.answer = ['awake;'];
    await at.edit('snooze.ts', 'const a =');
    await runCommand(at.page, 'Svc: Snooze Completions');
    await at.page.locator(ROWS, { hasText: '5 minutes' }).first().click();
    await at.page.locator(`${ITEM}[aria-label*="snoozed"]`).waitFor();
    const before = at.completionRequests().length;
    await at.type(' 1 + ');
    await at.page.locator(`${ITEM}[aria-label*="snoozed"]`).waitFor();
    assert.equal(at.completionRequests().length, before);
    await runCommand(at.page, 'Svc: End Snooze');
    await at.rests();
    await at.type('2 + ');
    await at.shows('awake;');
  });

  it('completion controls: next and previous suggestion', async () => {
    let asked = 0;
    at.answer = () => {
      asked += 1;
      return [asked === 1 ? 'first;' : 'second;'];
    };
    await at.edit('ideas.ts', 'const a =');
    await at.type(' ');
    await at.shows('first;');
    await at.page.keyboard.press('Alt+]');
    await at.shows('second;');
    await at.page.keyboard.press('Alt+[');
    await at.shows('first;');
  });

  async function refused(name: string, folder?: string): Promise<void> {
    await at.edit(name, 'const secret = ', folder);
    await at.type('abc + ');
    await at.page.locator('.statusbar-item[aria-label^="Svc: No completions here"]').waitFor();
  }

  it('multi-root workspace: each folder uses its own .gitignore', async () => {
    at.answer = ['fine;'];
    await at.rests();
    const before = at.completionRequests().length;
    await refused('a.one.ts');
    await refused('c.two.ts', 'second');
    assert.equal(at.completionRequests().length, before);
    await at.edit('d.one.ts', 'const open = ', 'second');
    await at.type('1 + ');
    await at.shows('fine;');
    await at.page.keyboard.press('Escape');
    await at.edit('b.two.ts', 'const open = ');
    await at.type('2 + ');
    await at.shows('fine;');
    const prompts = at
      .completionRequests()
      .slice(before)
      .map(({ body }) => String(body.prompt));
    assert.ok(prompts.length >= 2);
    for (const prompt of prompts) assert.doesNotMatch(prompt, /secret|abc/);
  });
});
