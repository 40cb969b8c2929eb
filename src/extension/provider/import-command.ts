import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import type { Imported, ImportedProvider, ImportedUses } from '../../config/provider-form/import-fields.ts';
import { importFiles } from '../../config/provider-form/import-files.ts';
import { importProviders, importYaml } from '../../config/provider-form/import-providers.ts';
import { freeId, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import { globalFile } from '../configuration/files.ts';
import { showInformation, withoutIcons } from '../foreign-text.ts';
import type { Models } from '../models/editor-models.ts';

interface FoundItem extends vscode.QuickPickItem {
  readonly form: ImportedProvider;
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
  show: (form: ProviderForm, uses: ImportedUses) => void,
): Promise<void> {
  const found = await readTools(storage);
  const taken = [...(models.settings?.providers.keys() ?? [])];
  const items = found.flatMap(({ name, path, imported }) =>
    imported.providers.map((form): FoundItem => {
      const detail = [form.baseURL, modelCount(form), ...usesText(form.uses ?? {}), path].join(' · ');
      return { label: withoutIcons(form.name || form.id), description: name, detail: withoutIcons(detail), form };
    }),
  );
  const notes = found.flatMap(({ name, imported }) => imported.notes.map((note) => `${name}: ${note}`));
  if (items.length === 0) {
    const text = vscode.l10n.t(
      'No provider was found in the files of Continue, opencode, Kilo, Cline, Zed, llama.vscode or VS Code.',
    );
    void showInformation([text, ...notes].join(' '));
    return;
  }
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Import providers'),
    placeHolder: vscode.l10n.t('Each is shown before it is saved'),
    canPickMany: true,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  for (const { form } of chosen ?? []) {
    const { uses = {}, ...rest } = form;
    show({ ...rest, id: freeId(form.id, taken), target: globalFile() }, uses);
  }
  // Only the notes of the tools that the user chose.
  const sources = new Set(chosen?.map(({ description }) => description));
  const relevant = found.filter(({ name }) => sources.has(name)).flatMap(({ imported }) => imported.notes);
  if (relevant.length > 0) void showInformation(relevant.join(' '));
}

function modelCount({ models }: ProviderForm): string {
  const { t } = vscode.l10n;
  if (models.length === 0) return t('all models');
  return models.length === 1 ? t('1 model') : t('{0} models', models.length);
}

/** The tasks for which the other tool uses models of the provider. */
function usesText({ chat, completion }: ImportedUses): readonly string[] {
  const { t } = vscode.l10n;
  return [
    ...(chat === undefined ? [] : [t('chat: {0}', chat)]),
    ...(completion === undefined ? [] : [t('completions: {0}', completion)]),
  ];
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
  const read = files.map(async ({ tool, name, path, yaml }): Promise<Found | undefined> => {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    return { name, path, imported: yaml ? await importYaml(tool, text) : importProviders(tool, text) };
  });
  const found = (await Promise.all(read)).filter((each) => each !== undefined);
  // Of several files of a tool, the tool itself uses the first.
  return found.filter(({ name, imported }, index) => {
    const earlier = found.slice(0, index).some((each) => each.name === name && each.imported.providers.length > 0);
    return !(earlier && imported.providers.length > 0 && name === 'Continue');
  });
}
