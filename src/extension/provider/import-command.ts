import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { importFiles } from '../../config/provider-form/import-files.ts';
import { type Imported, importProviders } from '../../config/provider-form/import-providers.ts';
import { freeId, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import { globalFile } from '../configuration/files.ts';
import type { Models } from '../models/editor-models.ts';

interface FoundItem extends vscode.QuickPickItem {
  readonly form: ProviderForm;
}

/**
 * Reads the files of other tools at the user's request and opens each chosen provider in a dialog, where the user can
 * review, change and save it. Nothing is written before that.
 *
 * @param storage the extension's global storage folder, which is below VS Code's user folder.
 */
export async function importFromTools(
  models: Models,
  storage: vscode.Uri,
  show: (form: ProviderForm) => void,
): Promise<void> {
  const found = await readTools(storage);
  const taken = [...(models.settings?.providers.keys() ?? [])];
  const items = found.flatMap(({ name, path, imported }) =>
    imported.providers.map((form): FoundItem => {
      const count = vscode.l10n.t('{0} models', form.models.length);
      return { label: form.name || form.id, description: name, detail: `${form.baseURL} · ${count} · ${path}`, form };
    }),
  );
  const notes = found.flatMap(({ name, imported }) => imported.notes.map((note) => `${name}: ${note}`));
  if (items.length === 0) {
    const text = vscode.l10n.t('No provider was found in the files of Continue, opencode, Kilo, Cline or VS Code.');
    void vscode.window.showInformationMessage([text, ...notes].join(' '));
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Import providers'),
    placeHolder: notes[0] ?? vscode.l10n.t('Each is shown before it is saved'),
    canPickMany: true,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  for (const { form } of chosen ?? []) show({ ...form, id: freeId(form.id, taken), target: globalFile() });
}

interface Found {
  readonly name: string;
  readonly path: string;
  readonly imported: Imported;
}

async function readTools(storage: vscode.Uri): Promise<readonly Found[]> {
  // …/User/globalStorage/publisher.name
  const userFolder = dirname(dirname(storage.fsPath));
  const files = importFiles({ home: homedir(), env: process.env, userFolder });
  const read = files.map(async ({ tool, name, path, unreadable }): Promise<Found | undefined> => {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const imported = unreadable ? { providers: [], notes: [vscode.l10n.t(unreadable)] } : importProviders(tool, text);
    return { name, path, imported };
  });
  return (await Promise.all(read)).filter((each) => each !== undefined);
}
