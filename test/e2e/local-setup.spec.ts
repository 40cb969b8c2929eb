import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { findNotification, screenshot } from '../host/workbench.ts';
import { showsGhost } from './completion-harness.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';
import { waitUntil } from './wait-until.ts';

describe('local models from zero', () => {
  let folder: string;
  let harness: VSCodeHarness;
  let page: Page;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-ollama-'));
    const script = `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'fake-ollama.cjs')}' "$@"\n`;
    writeFileSync(join(folder, 'ollama'), script, { mode: 0o755 });
    harness = await startVSCodeHarness({
      config: {},
      environment: { PATH: `${folder}${delimiter}${process.env.PATH}`, FAKE_OLLAMA: folder },
      settings: { 'terminal.integrated.gpuAcceleration': 'off', 'terminal.integrated.defaultProfile.linux': 'bash' },
    });
    page = await harness.open();
    await page.locator('.statusbar-item', { hasText: 'Set up Svc' }).waitFor();
  });
  after(async () => {
    await harness?.close();
    const pid = join(folder, 'pid');
    if (existsSync(pid)) end(Number(readFileSync(pid, 'utf8')));
    rmSync(folder, { recursive: true, force: true });
  });

  it('local models: from no configuration to the first completion in three clicks, with the exact commands before', async () => {
    const rows = page.locator('.quick-input-list .monaco-list-row');
    await page.locator('.statusbar-item', { hasText: 'Set up Svc' }).click();
    await rows.filter({ hasText: 'Use a model on this machine…' }).click();
    await rows.filter({ hasText: 'Completions: Qwen2.5-Coder' }).waitFor();
    await screenshot(page, 'local-setup');
    const shown = await rows.allInnerTexts();
    const commands = shown.map((text) => text.split('\n').at(-1)?.trim() ?? '');
    assert.match(shown[0] ?? '', /Start Ollama/);
    assert.match(
      commands[0] ?? '',
      /^OLLAMA_CONTEXT_LENGTH=\d+ OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE=q8_0 .*ollama serve$/,
    );
    assert.match(shown[1] ?? '', /Completions: Qwen2\.5-Coder [\d.]+B.*[\d.]+ GB, license Apache 2\.0/s);
    assert.match(commands[1] ?? '', /^ollama pull qwen2\.5-coder:[\d.]+b-base$/);
    assert.match(shown[2] ?? '', /Next edits: Sweep Next-Edit/);
    assert.equal(existsSync(join(folder, 'pid')), false, 'something was started without a click');
    await page.locator('.quick-input-widget .monaco-button', { hasText: 'OK' }).click();
    await showsGhost(page, 'sum / numbers.length;');
    await screenshot(page, 'local-setup-first-completion');
    await page.keyboard.press('Tab');
    await page.locator('.view-line', { hasText: 'return sum / numbers.length;' }).waitFor();
    const file = join(dirname(harness.workspace), 'config', 'svc', 'svc.jsonc');
    const models = commands.slice(1).map((command) => command.replace('ollama pull ', ''));
    const written = await waitUntil(
      'each model to be in svc.jsonc',
      () => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
      (text) => models.every((model) => text.includes(`ollama/${model}`)),
    );
    assert.match(written, /"completionModel": "ollama\/qwen2\.5-coder/);
    assert.match(written, /"nextEditModel": "ollama\/hf\.co\/sweepai/);
    await findNotification(page, 'Ollama is set up');
    await screenshot(page, 'local-setup-end');
  });
});

/** Ended with its window, or still running for a moment. */
function end(pid: number): void {
  try {
    process.kill(pid);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
