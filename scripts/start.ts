// npm start: builds, starts the gateway on loopback and opens VS Code with the extension on a sample
// workspace. Uses the providers that are there, else the simulated one. Ctrl-C ends all of it.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCodeServer } from '../test/host/code-server.ts';
import { workbenchUrl } from '../test/host/workbench.ts';
import { localServers, providersWithKeys } from './find-providers.ts';
import { editorConfig, startLocalGateway } from './local-gateway.ts';
import { startSimulatedProvider } from './simulated-provider/server.ts';

const WINDOWS = process.platform === 'win32';
const ROOT = join(import.meta.dirname, '..');
const HOME = join(ROOT, '.cache', 'start');
const WORKSPACE = join(HOME, 'workspace');

const closing: (() => Promise<unknown> | unknown)[] = [];
process.once('SIGINT', () => void end(0));
process.once('SIGTERM', () => void end(0));

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  await end(1);
}

async function main(): Promise<void> {
  console.log('Building …');
  execFileSync(process.execPath, ['esbuild.mjs'], { cwd: ROOT, stdio: 'inherit' });
  if (!existsSync(WORKSPACE)) cpSync(join(import.meta.dirname, 'sample-workspace'), WORKSPACE, { recursive: true });

  const upstreams = await findUpstreams();
  const gateway = await startLocalGateway({ config: upstreams.config });
  closing.push(() => gateway.close());
  console.log(`Gateway: ${gateway.url}`);

  const config = writeEditorConfig(JSON.stringify(editorConfig(gateway, upstreams), null, 2));
  const code = desktopCode();
  if (code) await openDesktop(code, config);
  else await openBrowserHost(config);
}

/** Configuration of the gateway in addition to the keys in the environment and the user's svc.jsonc. */
async function findUpstreams(): Promise<{ readonly config: unknown; readonly simulated: boolean }> {
  const [keys, servers] = await Promise.all([providersWithKeys(), localServers()]);
  if (keys.length + servers.length > 0) {
    console.log(`Providers: ${[...keys, ...servers.map(({ name }) => name)].join(', ')}`);
    const provider = Object.fromEntries(servers.map(({ id, baseURL }) => [id, { options: { baseURL } }]));
    return { config: { provider }, simulated: false };
  }
  console.log('No provider key in the environment and no model server on this machine:');
  console.log('using the simulated provider. Its answers are made by a small program, not by a model.');
  const simulated = await startSimulatedProvider({ workspace: WORKSPACE });
  closing.push(() => simulated.close());
  const options = { baseURL: simulated.url, fimURL: `${simulated.url}/fim`, simulated: true };
  return { config: { provider: { simulated: { name: 'Simulated', fim: 'mistral', options } } }, simulated: true };
}

/** In a file that only the user can read, because it contains the gateway's key. */
function writeEditorConfig(content: string): string {
  const file = join(HOME, 'svc.jsonc');
  mkdirSync(HOME, { recursive: true });
  writeFileSync(file, content, { mode: 0o600 });
  chmodSync(file, 0o600);
  closing.push(() => rmSync(file, { force: true }));
  return file;
}

function desktopCode(): string | undefined {
  const display = process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY;
  const named = process.env.VSCODE_EXECUTABLE ?? 'code';
  if (!display || process.env.SVC_HOST === 'browser') return undefined;
  return spawnSync(named, ['--version'], { shell: WINDOWS }).status === 0 ? named : undefined;
}

async function openDesktop(code: string, config: string): Promise<void> {
  console.log('Opening VS Code. Ctrl-C here ends the gateway.');
  const profile = ['--user-data-dir', join(HOME, 'desktop'), '--extensionDevelopmentPath', ROOT];
  const args = ['--wait', '--new-window', '--disable-workspace-trust', ...profile, WORKSPACE];
  const child = spawn(code, WINDOWS ? args.map((arg) => `"${arg}"`) : args, {
    stdio: 'inherit',
    env: { ...process.env, SVC_CONFIG: config },
    shell: WINDOWS,
  });
  await new Promise((resolve) => child.once('exit', resolve));
  await end(0);
}

async function openBrowserHost(config: string): Promise<void> {
  console.log('No desktop VS Code here: starting VS Code for the browser (its first install takes a while) …');
  const host = await startCodeServer({
    userDataDir: join(HOME, 'browser'),
    extensionsDir: join(HOME, 'extensions'),
    env: { SVC_CONFIG: config },
    settings: { 'workbench.startupEditor': 'readme' },
  });
  closing.push(() => host.close());
  console.log(`\nOpen this address in a browser:\n\n  ${workbenchUrl(host, { folder: WORKSPACE, extension: ROOT })}\n`);
  console.log('Type at the end of src/receipt.ts to see ghost text; the Svc icon in the activity bar opens the chat.');
  console.log('Ctrl-C ends it.');
}

async function end(code: number): Promise<void> {
  for (const close of closing.reverse()) await close();
  process.exit(code);
}
