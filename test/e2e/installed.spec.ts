import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { installExtension } from '../host/code-server.ts';
import { type Packaged, packageExtension } from '../host/package.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The VSIX, the npm package and the container, without the sources. A day of work uses the VSIX in a window. */
describe('installed package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
  let product: Packaged;

  before(() => {
    product = packageExtension();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('package: contains the program and its documentation only', () => {
    const into = join(folder, 'extensions');
    mkdirSync(into);
    installExtension(product.vsix, into, folder);
    const [name = ''] = readdirSync(into).filter((each) => each.startsWith('svc.svc-'));
    const installed = join(into, name);
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
    const tarball = run(tool, ['pack', product.folder, '--silent', '--ignore-scripts']).trim();
    run(tool, ['init', '--yes', '--silent']);
    run(tool, ['install', '--offline', '--no-audit', '--no-fund', join(folder, tarball)]);
    assert.equal(run(tool, ['exec', '--offline', '--', 'svc', '--version']), `${product.version}\n`);
    const config = JSON.stringify({
      provider: { p: { options: { baseURL: 'http://127.0.0.1:1' }, models: { m: {} } } },
    });
    assert.equal(run(tool, ['exec', '--offline', '--', 'svc', 'models'], { SVC_CONFIG_CONTENT: config }), 'p/m\n');
  });

  it('package: serves from deploy/Dockerfile', async () => {
    const container = containerIn(product.folder, join(folder, 'container'));
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
      if (/:\d+\s/.test(said)) break;
    }
    const [, port] = /:(\d+)\s/.exec(said) ?? [];
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, { headers });
    assert.match(await answer.text(), /p\/m/);
    serving.kill();
    assert.equal(await new Promise((resolve) => serving.on('exit', resolve)), 0);
  });
});

/** The container's folder and environment, with its root at `root`. */
function containerIn(product: string, root: string) {
  const text = readFileSync(join(product, 'deploy', 'Dockerfile'), 'utf8');
  const of = (word: string) => [...text.matchAll(new RegExp(`^${word} (.+)$`, 'gm'))].map(([, rest = '']) => rest);
  const cwd = join(root, ...of('WORKDIR'));
  for (const words of of('COPY').map((rest) => rest.split(' '))) {
    const [from = '', to = ''] = words;
    cpSync(join(product, from), join(cwd, to, to.endsWith('/') ? '' : from), { recursive: true });
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
