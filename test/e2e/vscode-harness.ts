import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { editorConfig, type LocalGateway, startLocalGateway } from '../../scripts/local-gateway.ts';
import { startSimulatedProvider } from '../../scripts/simulated-provider/server.ts';
import { launchChromium } from '../host/chromium.ts';
import { type CodeServer, installExtension, startCodeServer } from '../host/code-server.ts';
import { openWorkbench, workbenchReady } from '../host/workbench.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** A simulated provider, the gateway, VS Code and a folder. */
export interface VSCodeHarness {
  readonly browser: Browser;
  readonly host: CodeServer;
  readonly gateway: LocalGateway;
  readonly workspace: string;
  open(viewport?: { width: number; height: number }): Promise<Page>;
  close(): Promise<void>;
}

export interface VSCodeHarnessOptions {
  /** Several folders that are open, each with its .gitignore; `workspace` is the main one. */
  readonly folders?: Readonly<Record<string, string>>;
  /** The user's settings.json. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** A VSIX to install into the host; the extension then runs from there, not from this folder. */
  readonly vsix?: string;
  /** Other extensions to install. They do nothing, unless `main` names a file with their code. */
  readonly otherExtensions?: readonly {
    readonly publisher: string;
    readonly name: string;
    readonly displayName: string;
    readonly contributes?: object;
    readonly main?: string;
    /**
     * Loads it as the extension under development, because VS Code removes its id otherwise. There is one such
     * extension: Svc is then listed with those of the user.
     */
    readonly developed?: boolean;
  }[];
  /** Replaces the content of the editor's svc.jsonc. */
  readonly config?: (gateway: LocalGateway) => unknown;
}

export async function startVSCodeHarness(options: VSCodeHarnessOptions = {}): Promise<VSCodeHarness> {
  const root = mkdtempSync(join(tmpdir(), 'svc-vscode-'));
  const workspace = join(root, 'workspace');
  cpSync(join(ROOT, 'scripts', 'sample-workspace'), workspace, { recursive: true });
  const provider = await startSimulatedProvider({ workspace, pace: 1 });
  // A separate home folder: the developer's svc.jsonc and keys must not affect a test.
  const env = { HOME: root, XDG_CONFIG_HOME: join(root, 'config'), SVC_DISABLE_CATALOG_REFRESH: '1' };
  const simulated = { baseURL: provider.url, fimURL: `${provider.url}/fim`, simulated: true };
  const gateway = await startLocalGateway({
    config: { provider: { simulated: { name: 'Simulated', fim: 'mistral', options: simulated } } },
    env,
  });
  const config = join(root, 'svc.jsonc');
  const content = options.config?.(gateway) ?? editorConfig(gateway, { simulated: true });
  writeFileSync(config, JSON.stringify(content), { mode: 0o600 });
  const extensionsDir = join(root, 'extensions');
  if (options.vsix !== undefined) installExtension(options.vsix, extensionsDir, root);
  const developed = installOthers(extensionsDir, options.otherExtensions ?? []);
  const host = await startCodeServer({
    env: { ...env, SVC_CONFIG: config },
    extensionsDir,
    ...(options.settings ? { settings: options.settings } : {}),
  });
  const browser = await launchChromium();
  const opened = options.folders === undefined ? workspace : severalFolders(root, options.folders);
  return {
    browser,
    host,
    gateway,
    workspace,
    open: async (viewport) => {
      const extension = options.vsix === undefined ? { extension: developed ?? ROOT } : {};
      const page = await openWorkbench(browser, host, {
        folder: opened,
        ...extension,
        ...(viewport ? { viewport } : {}),
      });
      await workbenchReady(page);
      return page;
    },
    close: async () => {
      await browser.close();
      await host.close();
      await gateway.close();
      await provider.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Installs extensions, with the file in which VS Code lists those of the user. Returns the folder of the one under
 * development.
 */
function installOthers(
  extensionsDir: string,
  manifests: NonNullable<VSCodeHarnessOptions['otherExtensions']>,
): string | undefined {
  const version = '1.0.0';
  const listed: { readonly id: string; readonly version: string; readonly path: string }[] = [];
  let underDevelopment: string | undefined;
  for (const { main, developed, ...manifest } of manifests) {
    const id = `${manifest.publisher}.${manifest.name}`;
    const path = join(extensionsDir, ...(developed ? ['..', 'developed'] : []), `${id.toLowerCase()}-${version}`);
    mkdirSync(path, { recursive: true });
    const activationEvents = ['onStartupFinished'];
    const rest = { version, main: './main.js', engines: { vscode: '^1.100.0' }, activationEvents };
    writeFileSync(join(path, 'package.json'), JSON.stringify({ ...manifest, ...rest }));
    if (main === undefined) writeFileSync(join(path, 'main.js'), 'exports.activate = () => undefined;\n');
    else cpSync(main, join(path, 'main.js'));
    if (developed) underDevelopment = path;
    else listed.push({ id, version, path });
  }
  if (underDevelopment !== undefined) {
    const own: { publisher: string; name: string; version: string } = createRequire(import.meta.url)(
      '../../package.json',
    );
    listed.push({ id: `${own.publisher}.${own.name}`, version: own.version, path: ROOT });
  }
  const entries = listed.map(({ id, version, path }) => ({
    identifier: { id },
    version,
    location: { $mid: 1, path, scheme: 'file' },
    ...(path === ROOT ? {} : { relativeLocation: basename(path) }),
  }));
  if (entries.length > 0) {
    mkdirSync(extensionsDir, { recursive: true });
    writeFileSync(join(extensionsDir, 'extensions.json'), JSON.stringify(entries));
  }
  return underDevelopment;
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
