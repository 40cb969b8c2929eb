import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ghostText, openFile, runCommand, screenshot } from '../host/workbench.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { type Desk, setDesk } from './desk.ts';

const GHOST = '.ghost-text-decoration, .ghost-text';

describe('completions in the editor', () => {
  let upstream: Upstream;
  let desk: Desk;
  let page: Page;
  /** What the model says, piece by piece. */
  let answer: readonly string[] = [];
  let status = 200;

  before(async () => {
    upstream = await startUpstream((_request, response) => {
      if (status !== 200) {
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: 'Payment required: no credit left.' } }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const piece of answer) response.write(chunk({ delta: { content: piece }, finish_reason: null }));
      response.end(`${chunk({ delta: {}, finish_reason: 'stop' }, { usage: USAGE })}data: [DONE]\n\n`);
    });
    desk = await setDesk({
      config: () => ({
        provider: {
          model: {
            name: 'Model',
            fim: 'mistral',
            options: { baseURL: `${upstream.url}/v1`, fimURL: `${upstream.url}/v1/fim` },
            models: { coder: { name: 'Coder' } },
          },
        },
        completionModel: 'model/coder',
      }),
    });
    page = await desk.open();
  });
  after(async () => {
    await desk.close();
    await upstream.close();
  });
  afterEach(async () => {
    status = 200;
    await runCommand(page, 'View: Revert and Close Editor');
  });

  /** A file of its own for each test, with the caret behind its text. */
  async function edit(name: string, content: string): Promise<void> {
    writeFileSync(join(desk.workspace, name), content);
    await openFile(page, name);
    await page.locator('.statusbar-item', { hasText: /^Svc$/ }).first().waitFor();
    await page.keyboard.press('ControlOrMeta+End');
  }

  async function saved(name: string): Promise<string> {
    await page.keyboard.press('ControlOrMeta+S');
    await page.locator(`.tab.active:not(.dirty)[data-resource-name="${name}"]`).waitFor();
    return readFileSync(join(desk.workspace, name), 'utf8');
  }

  const shown = (text: string) => page.locator(GHOST).filter({ hasText: text }).first().waitFor();
  const gone = () => page.locator(GHOST).first().waitFor({ state: 'detached' });
  const asked = () => upstream.requests.filter(({ method }) => method === 'POST').length;

  it('keeps what is shown while it is typed through, without asking again', async () => {
    answer = ['items.length * factor;'];
    await edit('typed.ts', 'const factor = 3;\nconst total = ');
    await page.keyboard.type('0 + ', { delay: 40 });
    await shown('items.length');
    const before = asked();
    for (const key of 'items.len') {
      await page.keyboard.type(key);
      assert.match(await ghostText(page), /factor;$/, `after ${key}`);
    }
    assert.equal(asked(), before);
    await page.keyboard.press('Tab');
    await gone();
    assert.match(await saved('typed.ts'), /const total = 0 \+ items\.length \* factor;$/);
  });

  it('accepts by word, then by line, then all', async () => {
    answer = ['alpha beta gamma;\n', 'const next = delta;\n', 'const last = epsilon;'];
    await edit('parts.ts', 'const first = ');
    await page.keyboard.type('1 + ', { delay: 40 });
    await shown('epsilon');
    await runCommand(page, 'Svc: Accept Next Word of Completion');
    await shown('beta gamma');
    await runCommand(page, 'Svc: Accept Next Line of Completion');
    await shown('const next');
    await page.keyboard.press('Tab');
    await gone();
    assert.equal(
      (await saved('parts.ts')).trimEnd(),
      'const first = 1 + alpha beta gamma;\nconst next = delta;\nconst last = epsilon;',
    );
  });

  it('indents with Tab where nothing is shown', async () => {
    answer = [''];
    await edit('indent.ts', 'function f() {\n');
    await page.keyboard.press('Tab');
    await page.keyboard.type('x');
    assert.match(await saved('indent.ts'), /^function f\(\) \{\n[ \t]+x/);
  });

  it('sends a suggestion away with Escape, and it stays away at that place', async () => {
    answer = ['dismissed();'];
    await edit('escape.ts', 'const value = ');
    await page.keyboard.type('a.', { delay: 40 });
    await shown('dismissed();');
    await page.keyboard.press('Escape');
    await gone();
    const before = asked();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.type('d');
    await page.keyboard.press('Backspace');
    await page.locator('.statusbar-item', { hasText: /^Svc$/ }).first().waitFor();
    assert.equal(await ghostText(page), '');
    assert.equal(asked(), before);
  });

  it('leaves the bracket that the editor closed by itself where it is', async () => {
    answer = ['item.price)'];
    await edit('bracket.ts', 'const sum = ');
    await page.keyboard.type('add(', { delay: 40 });
    await shown('item.price');
    await page.keyboard.press('Tab');
    await gone();
    assert.equal((await saved('bracket.ts')).trimEnd(), 'const sum = add(item.price)');
  });

  const texts = [
    {
      name: 'Windows line ends',
      file: 'crlf.ts',
      before: 'const a = 1;\r\nconst b = ',
      type: 'a + ',
      says: 'a * 2;\nconst c = b;',
      after: 'const a = 1;\r\nconst b = a + a * 2;\r\nconst c = b;',
    },
    {
      name: 'emoji and combining characters',
      file: 'emoji.ts',
      before: 'const s = "👩‍👩‍👧 é";\nconst t = ',
      type: 's + ',
      says: '"🎉 naïve";',
      after: 'const s = "👩‍👩‍👧 é";\nconst t = s + "🎉 naïve";',
    },
    {
      name: 'right-to-left text',
      file: 'rtl.ts',
      before: 'const s = "שלום עולם";\nconst t = ',
      type: 's + ',
      says: '"مرحبا";',
      after: 'const s = "שלום עולם";\nconst t = s + "مرحبا";',
    },
    {
      name: 'tabs',
      file: 'tabs.ts',
      before: 'function f() {\n\tif (a) {\n\t\treturn 1;\n\t}\n\tconst x = ',
      type: '2 * ',
      says: '3;\n\treturn x;\n}',
      after: 'function f() {\n\tif (a) {\n\t\treturn 1;\n\t}\n\tconst x = 2 * 3;\n\treturn x;\n}',
    },
  ];
  for (const { name, file, before, type, says, after } of texts) {
    it(`fits into a file with ${name}`, async () => {
      answer = [says];
      await edit(file, before);
      await page.keyboard.type(type, { delay: 40 });
      await page.locator(GHOST).first().waitFor();
      await page.keyboard.press('Tab');
      await gone();
      assert.equal((await saved(file)).trimEnd(), after);
    });
  }

  it('never sends a file that holds secrets, nor one that git ignores', async () => {
    writeFileSync(join(desk.workspace, '.gitignore'), 'private/\nsecret.ts\n');
    answer = ['leaked'];
    const before = asked();
    for (const name of ['.env', 'secret.ts']) {
      await edit(name, 'KEY=');
      await page.keyboard.type('abc = ', { delay: 40 });
      await page.locator('.statusbar-item', { hasText: /^Svc$/ }).first().waitFor();
      assert.equal(await ghostText(page), '');
      await runCommand(page, 'View: Revert and Close Editor');
    }
    assert.equal(asked(), before);
    await edit('open.ts', 'const ok = ');
  });

  it('stops asking when credit is out, and says so once in the status bar', async () => {
    status = 402;
    await edit('credit.ts', 'const value = ');
    const before = asked();
    await page.keyboard.type('someFunction(other, third) +\nmore + ', { delay: 60 });
    await page.locator('.statusbar-item.warning-kind', { hasText: 'Svc' }).waitFor();
    assert.ok(asked() - before <= 2, `${asked() - before} requests`);
    assert.equal(await page.locator('.notification-toast').count(), 0);
    await screenshot(page, 'credit-out');
  });
});

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function chunk(choice: object, more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'x', object: 'fim.completion.chunk', model: 'coder', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
}
