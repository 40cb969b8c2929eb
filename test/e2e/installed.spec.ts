import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { openFile, runCommand, webviewFrame } from '../host/workbench.ts';
import { sendMessage } from './chat-harness.ts';
import { startVSCodeHarness, type VSCodeHarness } from './vscode-harness.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The installed product: the VSIX in a new profile and the tarball in an empty folder, without the sources. */
describe('installed package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
  let harness: VSCodeHarness;
  let page: Page;
  let installed: string;

  before(async function () {
    this.timeout(240_000);
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'package.ts')], { cwd: ROOT, stdio: 'pipe' });
    harness = await startVSCodeHarness({ vsix: join(ROOT, `svc-${version}.vsix`) });
    installed = String(harness.installed);
    page = await harness.open();
  });
  after(async () => {
    await harness?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('package: contains the program and its documentation only', () => {
    assert.ok(lstatSync(installed).isDirectory());
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).map((file) =>
      file.replaceAll('\\', '/'),
    );
    for (const wanted of [
      'package.json',
      'LICENSE.txt',
      'THIRD_PARTY_LICENSES.txt',
      'dist/extension.js',
      'dist/cli.js',
      'dist/admin-page/admin.en.html',
    ]) {
      assert.ok(files.includes(wanted), wanted);
    }
    const surplus = files.filter((file) => /\.map$|\.ts$|^src|^test|^docs|^scripts|node_modules|\.env/.test(file));
    assert.deepEqual(surplus, []);
  });

  it('package: completes code', async () => {
    await openFile(page, 'receipt.ts');
    await page.locator('.statusbar-item', { hasText: 'Svc simulated' }).waitFor();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('export function formatPrice(cents', { delay: 30 });
    await page.locator('.ghost-text-decoration, .ghost-text').filter({ hasText: 'number' }).first().waitFor();
  });

  it('package: answers in the panel', async () => {
    await runCommand(page, 'Svc: Open Chat');
    const panel = await webviewFrame(page, '.composer textarea');
    await sendMessage(page, panel, 'Hello');
    await panel.locator('.message.assistant[aria-busy="false"]').waitFor();
    assert.match(await panel.locator('.message.assistant').innerText(), /simulated provider/);
  });

  it('package: provides `svc` in the terminals of VS Code', async () => {
    const file = join(harness.workspace, 'models.txt');
    const written = new Promise<void>((resolve) => {
      const watcher = watch(harness.workspace, () => {
        if (!existsSync(file) || !readFileSync(file, 'utf8').includes('done')) return;
        watcher.close();
        resolve();
      });
    });
    await runCommand(page, 'Terminal: Create New Terminal');
    await page.locator('.terminal-wrapper.active .xterm-helper-textarea').waitFor({ state: 'attached' });
    await page.locator('.terminal-wrapper.active .xterm-screen').click();
    await page.keyboard.type('(svc models; echo done) > models.txt');
    await page.keyboard.press('Enter');
    await written;
    assert.match(readFileSync(file, 'utf8'), /^svc\/.+\n(?:.+\n)*done\n$/);
  });

  it('package: runs with `npx svc` from the packed tarball', async () => {
    const npm = join(ROOT, 'node_modules', '.bin', 'npm');
    const run = (file: string, args: readonly string[], env = {}) =>
      execFileSync(file, args, {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, npm_config_update_notifier: 'false', ...env },
      });
    const tool = existsSync(npm) ? npm : 'npm';
    const tarball = run(tool, ['pack', ROOT, '--silent', '--ignore-scripts']).trim();
    run(tool, ['init', '--yes', '--silent']);
    run(tool, ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball)]);
    assert.equal(run(tool, ['exec', '--offline', '--', 'svc', '--version']), `${version}\n`);
    const config = JSON.stringify({
      provider: { p: { options: { baseURL: 'http://127.0.0.1:1' }, models: { m: {} } } },
    });
    assert.equal(run(tool, ['exec', '--offline', '--', 'svc', 'models'], { SVC_CONFIG_CONTENT: config }), 'p/m\n');
  });

  it('package: serves from deploy/Dockerfile', async () => {
    const container = containerIn(join(folder, 'container'));
    const config = { provider: { p: { options: { baseURL: 'http://127.0.0.1:1' }, models: { m: {} } } } };
    writeFileSync(container.env.SVC_CONFIG ?? '', JSON.stringify(config));
    const key = execFileSync(process.execPath, [...container.entry, 'keys', 'create', '--name', 'ann'], {
      cwd: container.cwd,
      env: container.env,
      encoding: 'utf8',
    })
      .trimEnd()
      .split('\n')
      .at(-1);
    const serving = spawn(process.execPath, [...container.entry, ...container.args, '--port', '0'], {
      cwd: container.cwd,
      env: container.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let said = '';
    for await (const part of serving.stdout) {
      said += part;
      if (/:\d+/.test(said)) break;
    }
    const [, port] = /:(\d+)/.exec(said) ?? [];
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, { headers });
    assert.match(await answer.text(), /p\/m/);
    serving.kill();
    assert.equal(await new Promise((resolve) => serving.on('exit', resolve)), 0);
  });
});

/** The container's folder and environment, with its root at `root`. */
function containerIn(root: string) {
  const text = readFileSync(join(ROOT, 'deploy', 'Dockerfile'), 'utf8');
  const of = (word: string) => [...text.matchAll(new RegExp(`^${word} (.+)$`, 'gm'))].map(([, rest = '']) => rest);
  const cwd = join(root, ...of('WORKDIR'));
  for (const words of of('COPY').map((rest) => rest.split(' '))) {
    const [from = '', to = ''] = words;
    cpSync(join(ROOT, from), join(cwd, to, to.endsWith('/') ? '' : from), { recursive: true });
  }
  const env: Record<string, string> = {};
  for (const pair of of('ENV').flatMap((rest) => rest.split(' '))) {
    const [name = '', path = ''] = pair.split('=');
    env[name] = join(root, path);
    mkdirSync(dirname(env[name]), { recursive: true });
  }
  const [, ...entry]: string[] = JSON.parse(of('ENTRYPOINT')[0] ?? '[]');
  const args: string[] = JSON.parse(of('CMD')[0] ?? '[]');
  return { cwd, env, entry, args };
}
