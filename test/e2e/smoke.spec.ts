import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { docPicture } from '../host/doc-pictures.ts';
import { openFile, runCommand, webviewFrame } from '../host/workbench.ts';
import { sendMessage, showExplorer } from './chat-harness.ts';
import { showsGhost } from './completion-harness.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

const TEST = 'test/e2e/smoke.spec.ts';

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
    await page.keyboard.type('export function average', { delay: 30 });
    const rest = [
      'Price(items: readonly Item[]): string {',
      '  if (items.length === 0) return formatPrice(0);',
      '  return formatPrice(Math.round(basketTotal(items) / items.length));',
      '}',
    ].join('\n');
    await showsGhost(page, rest);
    const item = await page.locator('.statusbar-item', { hasText: 'Svc simulated' }).first().innerText();
    await docPicture(page, 'ghost-text', `${rest}\n${item.trim()}`, TEST);
    await page.keyboard.press('Tab');
    await page.locator('.ghost-text-decoration, .ghost-text').first().waitFor({ state: 'detached' });
    await page.locator('.tab.active.dirty[data-resource-name="receipt.ts"]').waitFor();
    await page.keyboard.press('ControlOrMeta+S');
    await page.locator('.tab.active:not(.dirty)[data-resource-name="receipt.ts"]').waitFor();
    const saved = readFileSync(join(harness.workspace, 'src', 'receipt.ts'), 'utf8');
    assert.ok(saved.endsWith(`export function average${rest}`), saved);
  });

  it('smoke: the panel streams an answer and marks it as simulated', async () => {
    await runCommand(page, 'Svc: Open Chat');
    const panel = await webviewFrame(page, '.composer textarea');
    await sendMessage(page, panel, 'What does basketTotal return?');
    await panel.locator('.message.assistant[aria-busy="false"]').waitFor();
    await panel.locator('.message.user', { hasText: /basketTotal/ }).waitFor();
    await panel.locator('.message.assistant', { hasText: /Simulated provider/ }).waitFor();
    const shown = (await panel.locator('.transcript').innerText()).replaceAll(/\d+/g, '0');
    await docPicture(page, 'panel', shown, TEST);
  });

  it('smoke: the conversation remains after the view was hidden', async () => {
    await showExplorer(page);
    await runCommand(page, 'Svc: Open Chat');
    const panel = await webviewFrame(page, '.message.assistant');
    await panel.locator('.message.assistant', { hasText: 'Simulated provider' }).waitFor();
  });
});
