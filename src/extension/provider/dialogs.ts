import * as vscode from 'vscode';
import { providerPresets } from '../../catalog/presets.ts';
import { EMPTY_FORM, freeId, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import { asSvcError } from '../../wire/errors/svc-error.ts';
import { configurationFile, globalFile } from '../configuration/files.ts';
import { errorText } from '../error-text.ts';
import { showError, withoutIcons } from '../foreign-text.ts';
import { announce, type DialogSubject, ProviderDialog, type ProviderDialogDeps } from './dialog.ts';
import { confirmDelete, deleteProvider, type EditedProvider, readProvider, saveProvider } from './edit-provider.ts';
import { importFromTools } from './import-command.ts';
import { pickLocalModel } from './local-model.ts';
import { setUpLocalModels, withForeignWindow } from './set-up-local.ts';

/** The provider id of a Svc gateway. */
const GATEWAY = 'svc';

/** The open dialogs: one for each edited provider and one for a new one. Loaded when the first one is opened. */
export class ProviderDialogs implements vscode.Disposable {
  readonly #deps: ProviderDialogDeps;
  readonly #open = new Map<string, ProviderDialog>();

  constructor(deps: ProviderDialogDeps) {
    this.#deps = deps;
  }

  dispose(): void {
    for (const dialog of [...this.#open.values()]) dialog.dispose();
  }

  /** @param preset id of a vendor to fill the form with. */
  add(preset?: string): void {
    this.#show('', { kind: 'new', form: this.#formFor(preset) });
  }

  /** A model server on this machine that answers is used with one press. Without one, models are set up. */
  async addLocal(): Promise<void> {
    const choice = await pickLocalModel(this.#deps);
    if (choice?.kind === 'form') this.add();
    if (choice?.kind === 'plan') await setUpLocalModels(this.#deps, choice.programs, () => this.add());
    if (choice?.kind !== 'use') return;
    try {
      const form = choice.isOllama ? await withForeignWindow(choice.form, this.#deps.transport) : choice.form;
      await saveProvider(this.#deps, form);
      announce(choice.form, this.#deps.models);
      await vscode.commands.executeCommand('svc.chat.open');
    } catch (error) {
      void showError(errorText(asSvcError(error)));
    }
  }

  /** Sets up the gateway `svc`, or edits it if it exists. */
  addGateway(): Promise<void> {
    return this.edit(GATEWAY);
  }

  /** Imports providers from other tools. Each chosen provider opens in a separate dialog. */
  import(): Promise<void> {
    const { models, storage } = this.#deps;
    return importFromTools(models, storage, (form, uses) => this.#show(`new ${form.id}`, { kind: 'new', form, uses }));
  }

  /** @param id absent: the user chooses. */
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
    await deleteProvider(this.#deps, provider.form.id, provider.form.target);
  }

  async #read(id: string): Promise<EditedProvider | undefined> {
    try {
      return await readProvider(this.#deps, id);
    } catch (error) {
      const path = configurationFile(id, this.#deps.models.settings)?.path ?? '';
      const reason = error instanceof Error ? vscode.l10n.t(error.message) : String(error);
      void showError(`${path}: ${reason}`);
      return undefined;
    }
  }

  #formFor(id: string | undefined): ProviderForm {
    const { models } = this.#deps;
    const form = { ...EMPTY_FORM, target: globalFile() };
    const preset = providerPresets(models.catalog, process.env).find((each) => each.id === id);
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

  /** Lets the user choose a provider that is defined in a file. Others cannot be edited. */
  async #choose(title: string): Promise<string | undefined> {
    const { settings } = this.#deps.models;
    const items = [...(settings?.providers.values() ?? [])]
      .filter(({ id }) => configurationFile(id, settings) !== undefined)
      .map(({ id, name, origin }) => ({
        label: withoutIcons(name ?? id),
        description: id,
        detail: origin.source.path,
        id,
      }));
    if (items.length === 0) {
      this.add();
      return undefined;
    }
    return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.id;
  }

  #show(key: string, subject: DialogSubject): void {
    const open = this.#open.get(key);
    if (open) open.reveal();
    else this.#open.set(key, new ProviderDialog(this.#deps, subject, () => this.#open.delete(key)));
  }
}
