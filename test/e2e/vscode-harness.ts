import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { editorConfig, type LocalGateway, startLocalGateway } from '../../scripts/local-gateway.ts';
import { startSimulatedProvider } from '../../scripts/simulated-provider/server.ts';
import { sharedBrowser } from '../host/chromium.ts';
import { installExtension } from '../host/code-server.ts';
import { addEvidence } from '../host/evidence.ts';
import { freePort } from '../host/free-port.ts';
import { came, OPENS_WITHIN_MS, openWorkbench, workbenchReady } from '../host/workbench.ts';
import { sharedServer } from './editor.ts';
import { createExtensions, createProfile, type InstalledExtension, type OtherExtension } from './profile.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** VS Code and a folder; unless the test has its own configuration, also a simulated provider and the gateway. */
export interface VSCodeHarness {
  readonly workspace: string;
  /** Where a window looks for Ollama (`OLLAMA_HOST`): nothing answers there until the test starts it. */
  readonly ollamaHost: string;
  /** Log files of the extension hosts that were started last, by their name. */
  extensionLogs(): Readonly<Record<string, string>>;
  open(viewport?: { width: number; height: number }): Promise<Page>;
  /** Closes what `open` opened, and ends all else. */
  close(): Promise<void>;
}

export interface VSCodeHarnessOptions {
  /** Several folders that are open, each with its .gitignore; `workspace` is the main one. */
  readonly folders?: Readonly<Record<string, string>>;
  /** The user's settings.json. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Variables of the extension host and of the terminals. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A VSIX to install; the extension then runs from there, not from this folder. */
  readonly vsix?: string;
  readonly otherExtensions?: readonly OtherExtension[];
  /** The content of the editor's svc.jsonc; absent: the gateway with the simulated provider; null: no file. */
  readonly config?: unknown;
  /** Writes the folder that is open, instead of the sample. */
  readonly createFolder?: (folder: string) => void;
}

export async function startVSCodeHarness(options: VSCodeHarnessOptions = {}): Promise<VSCodeHarness> {
  const root = mkdtempSync(join(tmpdir(), 'svc-vscode-'));
  const workspace = join(root, 'workspace');
  if (options.createFolder) {
    mkdirSync(workspace);
    options.createFolder(workspace);
  } else cpSync(join(ROOT, 'scripts', 'sample-workspace'), workspace, { recursive: true });
  // A separate home folder: the developer's svc.jsonc and keys must not affect a test. Nor must an Ollama that runs.
  const ollamaHost = `127.0.0.1:${await freePort()}`;
  const own = {
    HOME: root,
    XDG_CONFIG_HOME: join(root, 'config'),
    SVC_DISABLE_CATALOG_REFRESH: '1',
    OLLAMA_HOST: ollamaHost,
  };
  const env = { ...own, ...options.environment };
  const simulated = options.config === undefined ? await startSimulatedGateway(workspace, env) : undefined;
  const config = join(root, 'svc.jsonc');
  if (options.config !== null) {
    writeFileSync(config, JSON.stringify(options.config ?? simulated?.config), { mode: 0o600 });
  }
  const environment = options.config === null ? env : { ...env, SVC_CONFIG: config };
  const vsix = options.vsix === undefined ? undefined : installVsix(options.vsix, root);
  const others = createExtensions(root, options.otherExtensions ?? []);
  const server = await sharedServer();
  const profile = createProfile(server, root, {
    ...(options.settings ? { settings: options.settings } : {}),
    extensions: [...(vsix ? [vsix] : []), ...others.installed],
    usual: vsix !== undefined,
  });
  const browser = await sharedBrowser();
  const opened = options.folders === undefined ? workspace : severalFolders(root, options.folders);
  const pages = new Set<Page>();
  const removeEvidence = addEvidence(() => server.extensionLogs());
  return {
    workspace,
    ollamaHost,
    extensionLogs: () => server.extensionLogs(),
    open: async (viewport) => {
      const page = await openWorkbench(browser, server, {
        folder: opened,
        profile,
        environment,
        ...(vsix === undefined ? { extension: others.underDevelopment ?? ROOT } : {}),
        ...(viewport ? { viewport } : {}),
      });
      pages.add(page);
      await workbenchReady(page);
      for (const name of Object.keys(options.folders ?? {})) await showsFolder(page, name);
      return page;
    },
    close: async () => {
      removeEvidence();
      for (const page of pages) await page.context().close();
      await server.endExtensionHosts();
      await simulated?.close();
      profile.remove();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A window that is slow to connect may stay without the folders of its workspace: VS Code then shows none until a reload. */
async function showsFolder(page: Page, name: string): Promise<void> {
  const row = page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).first();
  const none = page.locator('.pane-header', { hasText: 'No Folder Opened' });
  while (!(await came(row.waitFor({ timeout: OPENS_WITHIN_MS })))) {
    if (!(await none.isVisible())) continue;
    await page.reload();
    await workbenchReady(page);
  }
}

interface SimulatedGateway {
  readonly config: unknown;
  close(): Promise<void>;
}

/** A simulated provider, and the gateway in front of it. */
async function startSimulatedGateway(
  workspace: string,
  env: Readonly<Record<string, string>>,
): Promise<SimulatedGateway> {
  const provider = await startSimulatedProvider({ workspace, pace: 1 });
  const options = { baseURL: provider.url, fimURL: `${provider.url}/fim`, simulated: true };
  const gateway: LocalGateway = await startLocalGateway({
    config: { provider: { simulated: { name: 'Simulated', fim: 'mistral', options } } },
    env,
  });
  return {
    config: editorConfig(gateway, { simulated: true }),
    close: async () => {
      await gateway.close();
      await provider.close();
    },
  };
}

/** Installs the package with the command line, into a new folder. */
function installVsix(vsix: string, root: string): InstalledExtension {
  const folder = join(root, 'installed');
  mkdirSync(folder);
  installExtension(vsix, folder, root);
  const [name = ''] = readdirSync(folder).filter((each) => each.startsWith('svc.svc-'));
  const { version } = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8'));
  return { id: 'svc.svc', version: String(version), folder: join(folder, name) };
}

function severalFolders(root: string, folders: Readonly<Record<string, string>>): string {
  for (const [name, ignored] of Object.entries(folders)) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, '.gitignore'), ignored);
  }
  const file = join(root, 'several.code-workspace');
  writeFileSync(file, JSON.stringify({ folders: Object.keys(folders).map((path) => ({ path })) }));
  return file;
}
