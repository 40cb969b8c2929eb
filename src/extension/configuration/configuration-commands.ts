import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { globalFolder } from '../../config/load/sources.ts';
import { ask, showInformation, withoutIcons } from '../foreign-text.ts';
import type { Models } from '../models/editor-models.ts';
import { configurationInput } from './input.ts';
import type { StoredKeys } from './stored-keys.ts';

const FIRST_CONTENT = `{
  // Every key: docs/configuration.md. Keys of providers are better given with “Svc: Set Provider Key”.
  "provider": {
  }
}
`;

export function registerConfigurationCommands(models: Models, keys: StoredKeys): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand('svc.config.open', openConfiguration),
    vscode.commands.registerCommand('svc.key.set', (id: unknown) => setKey(models, keys, id)),
    vscode.commands.registerCommand('svc.signOut', () => signOut(keys)),
  );
}

/** Opens the user's svc.jsonc. Creates it if it does not exist. */
async function openConfiguration(): Promise<void> {
  const folder = globalFolder(configurationInput());
  const file = join(folder, 'svc.jsonc');
  await mkdir(folder, { recursive: true });
  // wx: an existing file is never written.
  await writeFile(file, FIRST_CONTENT, { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await vscode.window.showTextDocument(vscode.Uri.file(file));
}

/** @param id of the provider, from a link or a card; absent: the user chooses. */
async function setKey(models: Models, keys: StoredKeys, id: unknown): Promise<void> {
  const known = [...(models.registry?.providers.values() ?? [])].map(({ id, name }) => ({
    label: withoutIcons(name),
    id,
  }));
  const common = COMMON.filter(({ id }) => !known.some((each) => each.id === id));
  const choices = [...known, ...common];
  const provider =
    choices.find((each) => each.id === id) ??
    (await vscode.window.showQuickPick(choices, {
      title: vscode.l10n.t('Provider to set a key for'),
      ignoreFocusOut: true,
    }));
  if (!provider) return;
  const key = await vscode.window.showInputBox({
    title: vscode.l10n.t('Key for {0}', provider.label),
    prompt: vscode.l10n.t('Stored in the system’s key store. Leave it empty to remove the key.'),
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return;
  if (key.trim() === '') await keys.forget(provider.id);
  else await keys.store(provider.id, key.trim());
}

/** Deletes all stored keys. Keys in files and in the environment are not changed. */
async function signOut(keys: StoredKeys): Promise<void> {
  const stored = [...(await keys.all()).keys()];
  if (stored.length === 0) {
    void showInformation(vscode.l10n.t('No key is stored.'));
    return;
  }
  const remove = vscode.l10n.t('Remove All Keys');
  const chosen = await ask(
    vscode.l10n.t('Remove every stored key?'),
    {
      detail: vscode.l10n.t(
        'Keys are stored for: {0}. Keys in svc.jsonc and in the environment are not removed.',
        stored.join(', '),
      ),
    },
    remove,
  );
  if (chosen === remove) await keys.forgetAll();
}

/** Common vendors. Their addresses are in the catalog. */
const COMMON = [
  { label: 'Mistral', id: 'mistral' },
  { label: 'Inception', id: 'inception' },
  { label: 'OpenAI', id: 'openai' },
  { label: 'Anthropic', id: 'anthropic' },
  { label: 'DeepSeek', id: 'deepseek' },
  { label: 'OpenRouter', id: 'openrouter' },
  { label: 'Svc gateway', id: 'svc' },
];
