import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { sharedBrowser } from '../host/chromium.ts';
import { observePage } from '../host/failure-report.ts';
import { OPENS_WITHIN_MS, pickTyped } from '../host/workbench.ts';

/**
 * A list as VS Code has it: F1 opens it, and a click on its row runs the command and closes it. The first event whose
 * type is the query of the address keeps the page busy for longer than a click may take.
 */
const LIST = `
  <div class="quick-input-widget" style="display: none">
    <input class="input" />
    <div class="quick-input-list"><div class="monaco-list-row" aria-label="Reload">Reload</div></div>
  </div>
  <output>0</output>
  <script>
    const widget = document.querySelector('.quick-input-widget');
    const row = document.querySelector('.monaco-list-row');
    const output = document.querySelector('output');
    addEventListener('keydown', (event) => {
      if (event.key === 'F1') widget.style.display = 'block';
    });
    const wait = () => {
      const request = new XMLHttpRequest();
      request.open('GET', '/late', false);
      request.send();
    };
    row.addEventListener(location.search.slice(1), wait, { once: true });
    row.addEventListener('click', () => {
      output.value++;
      widget.style.display = 'none';
    });
  </script>`;

describe('the row of a list that a test clicks', () => {
  let page: Page;
  before(async () => {
    page = await (await sharedBrowser()).newPage();
    observePage(page);
    await page.route('**/late', async (route) => {
      await setTimeout(OPENS_WITHIN_MS * 1.2);
      await route.fulfill({ body: '' });
    });
    await page.route('http://list.invalid/?*', (route) => route.fulfill({ body: LIST, contentType: 'text/html' }));
  });
  after(() => page?.close());

  for (const type of ['mousedown', 'mouseup', 'click']) {
    it(`a picked row: its command runs once, also if the page is busy with the ${type}`, async () => {
      await page.goto(`http://list.invalid/?${type}`);
      await pickTyped(page, 'F1', '>Reload', page.locator('.monaco-list-row'));
      assert.equal(await page.locator('output').textContent(), '1');
    });
  }
});
