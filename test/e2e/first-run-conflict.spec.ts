import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { pickTyped, screenshot } from '../host/workbench.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

describe('another extension that completes code', () => {
  let harness: VSCodeHarness;
  let page: Page;

  before(async () => {
    harness = await startVSCodeHarness({
      otherExtensions: [{ publisher: 'Continue', name: 'continue', displayName: 'Other Tool' }],
    });
    page = await harness.open();
    page.setDefaultTimeout(30_000);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await screenshot(page, 'first-run-conflict-failed');
  });
  after(() => harness.close());

  /** A toast needs a focused window. The list of notifications closes itself when it is empty, so it is opened again. */
  async function showNotice(): Promise<void> {
    const row = page.locator('.quick-input-list .monaco-list-row', { hasText: 'Notifications: Show Notifications' });
    for (;;) {
      await pickTyped(page, 'F1', '>Notifications: Show Notifications', row.first());
      const shown = notice().waitFor({ timeout: 3000 });
      if (await shown.then(() => true).catch(() => false)) return;
    }
  }

  const notice = () =>
    page.locator('.notifications-center .notification-list-item', { hasText: 'Other Tool and Svc both complete code' });

  it('conflict: is reported once, with a way to turn off either extension', async () => {
    await showNotice();
    await screenshot(page, 'first-run-conflict');
    const buttons = await notice().locator('.monaco-button').allInnerTexts();
    assert.deepEqual(buttons, ['Turn Off Other Tool', 'Turn Off Svc']);
    await page.reload();
    await page.locator('.statusbar-item', { hasText: 'Svc' }).first().click();
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Other Tool completes code too' }).waitFor();
    assert.equal(await notice().count(), 0);
    await screenshot(page, 'first-run-conflict-menu');
  });

  it('conflict: Svc can be turned off from its menu', async () => {
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Other Tool completes code too' }).click();
    await showNotice();
    await notice().locator('.monaco-button', { hasText: 'Turn Off Svc' }).click();
    await page.locator('.statusbar-item .codicon-circle-slash').waitFor();
  });
});
