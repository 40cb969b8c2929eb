import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { waitUntil } from '../host/wait-until.ts';
import { actUntil, clickRow, findNotification, screenshot, webviewFrame } from '../host/workbench.ts';
import { showsGhost } from './completion-harness.ts';
import { startStory } from './story.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

describe('local models from zero', () => {
  let folder: string;
  let harness: VSCodeHarness;
  let page: Page;
  const step = startStory();

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-ollama-'));
    const script = `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, 'fake-ollama.cjs')}' "$@"\n`;
    writeFileSync(join(folder, 'later'), script, { mode: 0o755 });
    // An installer whose program is there before it has ended.
    const installer = `ln -s '${folder}/later' '${folder}/ollama'; until [ -e '${folder}/go' ]; do sleep 0.1; done`;
    writeFileSync(join(folder, 'curl'), `#!/bin/sh\necho "${installer}"\n`, { mode: 0o755 });
    harness = await startVSCodeHarness({
      config: {},
      environment: { PATH: ['.', folder, process.env.PATH].join(delimiter), FAKE_OLLAMA: folder },
      settings: { 'terminal.integrated.gpuAcceleration': 'off', 'terminal.integrated.defaultProfile.linux': 'bash' },
    });
    // A repository with programs of these names, and a PATH that has the folder of the shell.
    for (const name of ['ollama', 'curl']) {
      writeFileSync(join(harness.workspace, name), `#!/bin/sh\ntouch '${folder}/foreign'\n`, { mode: 0o755 });
    }
    page = await harness.open();
    await page.locator('.statusbar-item', { hasText: 'Set up Svc' }).waitFor();
  });
  after(async () => {
    await harness?.close();
    const pid = join(folder, 'pid');
    if (existsSync(pid)) end(Number(readFileSync(pid, 'utf8')));
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens the menu of the status item and chooses a row. What takes the focus late closes the menu. */
  async function openList(item: string, row: string): Promise<void> {
    const found = page.locator('.quick-input-list .monaco-list-row', { hasText: row });
    do await actUntil(page, () => page.locator('.statusbar-item', { hasText: item }).click(), found);
    while (!(await clickRow(page, found)));
  }

  step(
    'local models: after an installation the models are set up when its command has ended; the plan leads to an address',
    async () => {
      const rows = page.locator('.quick-input-list .monaco-list-row');
      await openList('Set up Svc', 'Use a model on this machine…');
      await rows.filter({ hasText: 'Install Ollama in the terminal' }).click();
      await waitUntil('the installer to run', () => existsSync(join(folder, 'ollama')), Boolean);
      assert.equal(await rows.filter({ hasText: 'Completions: Qwen2.5-Coder' }).count(), 0);
      writeFileSync(join(folder, 'go'), '');
      await rows.filter({ hasText: 'Completions: Qwen2.5-Coder' }).waitFor();
      await page.locator('.quick-input-titlebar [aria-label="Enter an address…"]').click();
      // The form takes the focus, which closes a list.
      await page.frameLocator('iframe.webview').frameLocator('#active-frame').locator('#name:focus').waitFor();
      assert.equal(existsSync(join(folder, 'foreign')), false, 'a program of the repository ran');
    },
  );

  step('local models: a program that is installed elsewhere is offered, without leaving the list', async () => {
    const rows = page.locator('.quick-input-list .monaco-list-row');
    renameSync(join(folder, 'ollama'), join(folder, 'hidden'));
    await openList('Set up Svc', 'Use a model on this machine…');
    await rows.filter({ hasText: 'Get Ollama' }).waitFor();
    renameSync(join(folder, 'hidden'), join(folder, 'ollama'));
    await rows.filter({ hasText: 'Set up models…' }).waitFor();
    await rows.filter({ hasText: 'Enter an address…' }).waitFor();
    await page.keyboard.press('Escape');
    await rows.first().waitFor({ state: 'hidden' });
  });

  step(
    'local models: from no configuration to the first completion in three clicks, with the exact commands before',
    async () => {
      const rows = page.locator('.quick-input-list .monaco-list-row');
      await openList('Set up Svc', 'Use a model on this machine…');
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
      assert.equal(existsSync(join(folder, 'foreign')), false, 'a program of the repository ran');
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
      assert.doesNotMatch(written, /num_ctx/);
    },
  );

  step('local models: a server that is used gets a window for an agent', async () => {
    const rows = page.locator('.quick-input-list .monaco-list-row');
    const file = join(dirname(harness.workspace), 'config', 'svc', 'svc.jsonc');
    const open = () => page.locator('.statusbar-item', { hasText: /^\s*Svc$/ }).click();
    await actUntil(page, open, rows.filter({ hasText: 'Turn completions off' }));
    // The open menu follows the file.
    writeFileSync(file, '{}');
    await rows.filter({ hasText: 'Use a model on this machine…' }).click();
    await rows.filter({ hasText: /Ollama, \d models?\. Use it/ }).click();
    await waitUntil(
      'the window to be in svc.jsonc',
      () => readFileSync(file, 'utf8'),
      (text) => /"num_ctx": (?:8192|16384)\b/.test(text),
    );
    const chat = await webviewFrame(page, '.composer textarea');
    await chat.locator('.composer textarea:focus').waitFor();
  });

  step('local models: for a server that runs already, its models get a window', async () => {
    const rows = page.locator('.quick-input-list .monaco-list-row');
    const file = join(dirname(harness.workspace), 'config', 'svc', 'svc.jsonc');
    writeFileSync(file, '{}');
    await openList('Set up Svc', 'Use a model on this machine…');
    await rows.filter({ hasText: 'Set up other models…' }).click();
    await rows.filter({ hasText: 'Completions: Qwen2.5-Coder' }).waitFor();
    assert.equal(await rows.filter({ hasText: 'Start Ollama' }).count(), 0);
    await page.locator('.quick-input-widget .monaco-button', { hasText: 'OK' }).click();
    await waitUntil(
      'the window to be in svc.jsonc',
      () => readFileSync(file, 'utf8'),
      (text) => /"num_ctx": (?:8192|16384)\b/.test(text) && text.includes('"completionModel"'),
    );
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
