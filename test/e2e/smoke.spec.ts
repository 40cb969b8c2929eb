import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openFile, runCommand, screenshot, webviewFrame } from '../host/workbench.ts';
import { sendMessage } from './chat-harness.ts';
import { showsGhost } from './completion-harness.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

describe('smoke test', () => {
  let harness: VSCodeHarness;
  let page: Page;

  before(async () => {
    harness = await startVSCodeHarness();
    page = await harness.open();
  });
  after(() => harness?.close());

  it('smoke: typing shows ghost text, and Tab inserts it', async () => {
    await openFile(page, 'receipt.ts');
    await page.locator('.statusbar-item', { hasText: 'Svc simulated' }).waitFor();
    // The language is loaded: brackets are coloured, and closed while one types.
    await page.locator('.view-line .bracket-highlighting-0').first().waitFor();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('export function formatPrice(cents', { delay: 30 });
    const rest = [
      ': number): string {',
      '  const euros = Math.floor(cents / 100);',
      "  const rest = String(cents % 100).padStart(2, '0');",
      '  return `${euros}.${rest} €`;',
      '}',
    ].join('\n');
    // The closing bracket exists already: ghost text is before and after it.
    await showsGhost(page, rest.replace(')', ''));
    await screenshot(page, 'ghost-text', { docs: true });
    await page.keyboard.press('Tab');
    await page.locator('.ghost-text-decoration, .ghost-text').first().waitFor({ state: 'detached' });
    await page.locator('.tab.active.dirty[data-resource-name="receipt.ts"]').waitFor();
    await page.keyboard.press('ControlOrMeta+S');
    await page.locator('.tab.active:not(.dirty)[data-resource-name="receipt.ts"]').waitFor();
    const saved = readFileSync(join(harness.workspace, 'src', 'receipt.ts'), 'utf8');
    assert.ok(saved.endsWith(`export function formatPrice(cents${rest}`), saved);
  });

  it('smoke: the panel streams an answer and marks it as simulated', async () => {
    await runCommand(page, 'Svc: Open Chat');
    const panel = await webviewFrame(page, '.composer textarea');
    await sendMessage(page, panel, 'What does `basketTotal` return?');
    await panel.locator('.message.assistant[aria-busy="false"]').waitFor();
    assert.match(await panel.locator('.message.user').innerText(), /basketTotal/);
    assert.match(await panel.locator('.message.assistant').innerText(), /simulated provider/);
    await screenshot(page, 'panel', { docs: true });
  });

  it('smoke: the conversation remains after the view was hidden', async () => {
    await page.keyboard.press('ControlOrMeta+Shift+E');
    await page.locator('.explorer-folders-view').waitFor();
    await runCommand(page, 'Svc: Open Chat');
    const panel = await webviewFrame(page, '.message.assistant');
    await panel.locator('.message.assistant', { hasText: 'simulated provider' }).waitFor();
  });
});
