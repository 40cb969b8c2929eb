import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { actUntil, findNotification, screenshot } from '../host/workbench.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

describe('another extension that completes code', () => {
  let harness: VSCodeHarness;
  let page: Page;

  before(async () => {
    harness = await startVSCodeHarness({
      otherExtensions: [{ publisher: 'Continue', name: 'continue', displayName: 'Other Tool' }],
    });
    page = await harness.open();
  });
  after(() => harness?.close());

  const NOTICE = 'Other Tool and Svc both complete code';
  const row = () => page.locator('.quick-input-list .monaco-list-row', { hasText: 'Other Tool completes code too' });
  /** A window that was just loaded may still be moving the focus, which closes the menu. */
  const openMenu = () =>
    actUntil(page, () => page.locator('.statusbar-item', { hasText: 'Svc' }).first().click(), row());

  it('conflict: is reported once, with a way to turn off either extension', async () => {
    const notice = await findNotification(page, NOTICE);
    await screenshot(page, 'first-run-conflict');
    const buttons = await notice.locator('.monaco-button').allInnerTexts();
    assert.deepEqual(buttons, ['Turn Off Other Tool', 'Turn Off Svc']);
    await page.reload();
    await openMenu();
    assert.equal(await notice.count(), 0);
    await screenshot(page, 'first-run-conflict-menu');
    await page.keyboard.press('Escape');
    await row().waitFor({ state: 'hidden' });
  });

  it('conflict: Svc can be turned off from its menu', async () => {
    await openMenu();
    await row().click();
    const notice = await findNotification(page, NOTICE);
    await notice.locator('.monaco-button', { hasText: 'Turn Off Svc' }).click();
    await page.locator('.statusbar-item .codicon-circle-slash').waitFor();
  });
});
