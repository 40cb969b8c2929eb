import path from 'node:path';
import { xdgFolder } from '../../base/user-folders.ts';
import type { Environment } from '../load/sources.ts';
import type { ImportTool } from './import-providers.ts';

export interface ImportFile {
  readonly tool: ImportTool;
  readonly name: string;
  readonly path: string;
  /** True for YAML, otherwise JSON with comments. */
  readonly yaml?: boolean;
}

export interface ImportPlaces {
  readonly home: string;
  readonly env: Environment;
  /** The folder of the editor's user settings. */
  readonly userFolder: string;
}

/** The files where other tools store their providers. The caller checks whether they exist. */
export function importFiles({ home, env, userFolder }: ImportPlaces): readonly ImportFile[] {
  const config = xdgFolder('config', { env, home, platform: process.platform });
  const file = (tool: ImportTool, name: string, ...parts: readonly [string, ...string[]]): ImportFile => ({
    tool,
    name,
    path: path.join(...parts),
  });
  const zed = process.platform === 'win32' && env.APPDATA ? [env.APPDATA, 'Zed'] : [config, 'zed'];
  return [
    // Continue itself prefers config.yaml.
    { ...file('continue', 'Continue', home, '.continue', 'config.yaml'), yaml: true },
    file('continue', 'Continue', home, '.continue', 'config.json'),
    file('opencode', 'opencode', config, 'opencode', 'opencode.jsonc'),
    file('opencode', 'opencode', config, 'opencode', 'opencode.json'),
    file('kilo', 'Kilo Code', config, 'kilo', 'kilo.jsonc'),
    file('kilo', 'Kilo Code', config, 'kilo', 'kilo.json'),
    file('cline', 'Cline', home, '.cline', 'data', 'globalState.json'),
    file('vscode', 'VS Code', userFolder, 'chatLanguageModels.json'),
    file('llama-vscode', 'llama.vscode', userFolder, 'settings.json'),
    file('zed', 'Zed', path.join(...zed), 'settings.json'),
  ];
}
