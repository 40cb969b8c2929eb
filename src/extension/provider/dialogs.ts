import * as vscode from 'vscode';
import { presets } from '../../catalog/presets.ts';
import { EMPTY_FORM, freeId, type ProviderForm } from '../../config/provider-form.ts';
import { fileOf, globalFile } from '../configuration/files.ts';
import { type DialogSubject, ProviderDialog, type ProviderDialogParts } from './dialog.ts';
import { confirmDelete, deleteProvider, type EditedProvider, readProvider } from './edit.ts';
import { importFromTools } from './import-providers.ts';

/** The dialogs that are open: one for each provider, one for a new one. Loaded when the first is opened. */
export class ProviderDialogs implements vscode.Disposable {
  readonly #parts: ProviderDialogParts;
  readonly #open = new Map<string, ProviderDialog>();

  constructor(parts: ProviderDialogParts) {
    this.#parts = parts;
  }

  dispose(): void {
    for (const dialog of [...this.#open.values()]) dialog.dispose();
  }

  /** @param preset id of a vendor whose address fills the form. */
  add(preset?: string): void {
    this.#show('', { kind: 'new', form: this.#formFor(preset) });
  }

  /** Takes over what other tools have; each chosen provider opens in a dialog of its own. */
  import(): Promise<void> {
    const { models, storage } = this.#parts;
    return importFromTools(models, storage, (form) => this.#show(`new ${form.id}`, { kind: 'new', form }));
  }

  /** @param id asks for one where it is absent. */
  async edit(id?: string): Promise<void> {
    const chosen = id ?? (await this.#choose(vscode.l10n.t('Provider to edit')));
    if (chosen === undefined) return;
    const provider = await this.#read(chosen);
    if (provider) this.#show(chosen, { kind: 'edit', provider });
    else this.add(chosen);
  }

  async delete(id?: string): Promise<void> {
    const chosen = id ?? (await this.#choose(vscode.l10n.t('Provider to delete')));
    const provider = chosen === undefined ? undefined : await this.#read(chosen);
    if (!provider || !(await confirmDelete(provider.form))) return;
    this.#open.get(provider.form.id)?.dispose();
    await deleteProvider(this.#parts, provider.form.id, provider.form.target);
  }

  async #read(id: string): Promise<EditedProvider | undefined> {
    try {
      return await readProvider(this.#parts, id);
    } catch (error) {
      const path = fileOf(id, this.#parts.models.settings)?.path ?? '';
      const reason = error instanceof Error ? vscode.l10n.t(error.message) : String(error);
      void vscode.window.showErrorMessage(`${path}: ${reason}`);
      return undefined;
    }
  }

  #formFor(id: string | undefined): ProviderForm {
    const { models } = this.#parts;
    const form = { ...EMPTY_FORM, target: globalFile() };
    const preset = presets(models.catalog).find((each) => each.id === id);
    if (!preset) return form;
    const { name, api, baseURL, fimURL, fim } = preset;
    return {
      ...form,
      id: freeId(preset.id, [...(models.settings?.providers.keys() ?? [])]),
      name,
      api,
      baseURL,
      fimURL,
      fim,
    };
  }

  /** Providers that a file names; those that only have a key are not there to edit. */
  async #choose(title: string): Promise<string | undefined> {
    const { settings } = this.#parts.models;
    const items = [...(settings?.providers.values() ?? [])]
      .filter(({ id }) => fileOf(id, settings) !== undefined)
      .map(({ id, name, origin }) => ({ label: name ?? id, description: id, detail: origin.source.path, id }));
    if (items.length === 0) {
      this.add();
      return undefined;
    }
    return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.id;
  }

  #show(key: string, subject: DialogSubject): void {
    const open = this.#open.get(key);
    if (open) open.reveal();
    else this.#open.set(key, new ProviderDialog(this.#parts, subject, () => this.#open.delete(key)));
  }
}
