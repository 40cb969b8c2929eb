import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type LoadInput, loadSettings } from '../../src/config/load/load.ts';
import type { Settings } from '../../src/config/settings/settings.ts';

/** A home, a git worktree and an empty managed folder in a temporary folder. */
export class ProjectFolder {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly managed: string;
  readonly env: Record<string, string | undefined>;

  constructor() {
    this.root = realpathSync(mkdtempSync(path.join(tmpdir(), 'svc-config-')));
    this.home = path.join(this.root, 'home');
    this.project = path.join(this.root, 'project');
    this.managed = path.join(this.root, 'managed');
    for (const folder of [this.home, path.join(this.project, '.git'), this.managed])
      mkdirSync(folder, { recursive: true });
    // No request to the public network unless a test enables it.
    this.env = { SVC_MANAGED_CONFIG_DIR: this.managed, SVC_DISABLE_CATALOG_REFRESH: '1' };
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  write(file: string, content: unknown): string {
    const full = path.resolve(this.root, file);
    mkdirSync(path.dirname(full), { recursive: true });
    const text =
      typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content, null, 2);
    writeFileSync(full, text);
    return full;
  }

  global(content: unknown, name = 'svc.jsonc'): string {
    return this.write(`home/.config/svc/${name}`, content);
  }

  input(over: Partial<LoadInput> = {}): LoadInput {
    return { env: this.env, platform: 'linux', home: this.home, cwd: this.project, trustedWorkspace: true, ...over };
  }

  load(over: Partial<LoadInput> = {}): Promise<Settings> {
    return loadSettings(this.input(over));
  }
}

export function codes(settings: Settings): string[] {
  return settings.diagnostics.map((diagnostic) => diagnostic.code);
}
