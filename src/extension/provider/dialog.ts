import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { addressOrigin } from '../../catalog/address.ts';
import { providerPresets } from '../../catalog/presets.ts';
import { UnreadableFile } from '../../config/editing/config-text.ts';
import { withProvider } from '../../config/editing/edit-providers.ts';
import type { SettingsStore } from '../../config/load/store.ts';
import { type FromDialog, parseFromDialog, type ToDialog } from '../../config/provider-form/provider-dialog.ts';
import { EMPTY_FORM, formProblems, type ProviderForm, tidied } from '../../config/provider-form/provider-form.ts';
import type { Secret } from '../../config/settings/secret.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import { globalFile, readConfig, saveTargets, writeConfig } from '../configuration/files.ts';
import type { StoredKeys } from '../configuration/stored-keys.ts';
import type { Models } from '../models/editor-models.ts';
import { webviewHtml, webviewOptions } from '../pages/page-html.ts';
import { confirmDelete, deleteProvider, type EditedProvider, resolveText } from './edit-provider.ts';
import { failureReason, findServers, listOffered, type ProviderDraft, tryModel } from './provider-draft.ts';

export interface ProviderDialogDeps {
  readonly extension: vscode.Uri;
  readonly models: Models;
  readonly store: SettingsStore;
  readonly keys: StoredKeys;
  readonly transport: Transport;
  readonly log: vscode.LogOutputChannel;
  /** The extension's own folder below the editor's user folder. */
  readonly storage: vscode.Uri;
}

/** What the dialog opens with. */
export type DialogSubject =
  | { readonly kind: 'new'; readonly form?: ProviderForm }
  | { readonly kind: 'edit'; readonly provider: EditedProvider };

/**
 * One dialog in an editor tab. The page may be thrown away when its tab is hidden: what is typed so far stays
 * here, and a key that was typed stays here alone.
 */
export class ProviderDialog implements vscode.Disposable {
  readonly #deps: ProviderDialogDeps;
  readonly #subject: DialogSubject;
  readonly #panel: vscode.WebviewPanel;
  readonly #disposables = new DisposableStore();
  readonly #closed: () => void;
  #form: ProviderForm;
  #typedKey: string | undefined;
  /** What is under way, by what it is: a test and the list run side by side. */
  readonly #running = new Map<FromDialog['type'], AbortController>();

  constructor(deps: ProviderDialogDeps, subject: DialogSubject, closed: () => void) {
    this.#deps = deps;
    this.#subject = subject;
    this.#closed = closed;
    this.#form = firstForm(subject);
    this.#keep(this.#form);
    const title =
      subject.kind === 'new'
        ? vscode.l10n.t('Add Custom Provider')
        : vscode.l10n.t('Edit {0}', subject.provider.form.name || subject.provider.form.id);
    this.#panel = vscode.window.createWebviewPanel(
      'svc.provider',
      title,
      vscode.ViewColumn.Active,
      webviewOptions(deps.extension),
    );
    this.#panel.iconPath = themedIcon(deps.extension, 'provider');
    this.#disposables.add(
      this.#panel,
      this.#panel.onDidDispose(() => this.dispose()),
      this.#panel.webview.onDidReceiveMessage((value: unknown) => this.#hear(value)),
    );
    this.#panel.webview.html = webviewHtml(this.#panel.webview, deps.extension, {
      script: 'provider',
      title,
      styles: ['codicon.css', 'provider.css'],
    });
  }

  dispose(): void {
    this.#stop();
    this.#closed();
    this.#disposables.dispose();
  }

  reveal(): void {
    this.#panel.reveal();
  }

  #hear(value: unknown): void {
    const message = parseFromDialog(value);
    if (!message) {
      this.#deps.log.warn('The provider dialog sent a message that is not one of its own; it was ignored.');
      return;
    }
    this.#handle(message).catch((error: unknown) => this.#post({ type: 'not-saved', reason: failureReason(error) }));
  }

  async #handle(message: FromDialog): Promise<void> {
    switch (message.type) {
      case 'ready':
        return this.#open();
      case 'draft':
        this.#keep(message.form);
        return;
      case 'list':
        return this.#list(message.request, message.form);
      case 'test':
        return this.#test(message.request, message.form, message.model);
      case 'stop':
        this.#stop();
        return;
      case 'look-for-servers':
        return this.#lookForServers();
      case 'save':
        return this.#save(tidied(message.form));
      case 'delete':
        return this.#delete();
      case 'open-file':
        await vscode.window.showTextDocument(vscode.Uri.file(this.#form.target));
        return;
      case 'close':
        this.dispose();
        return;
    }
  }

  get #before(): EditedProvider | undefined {
    return this.#subject.kind === 'edit' ? this.#subject.provider : undefined;
  }

  #taken(): readonly string[] {
    const { settings } = this.#deps.models;
    const ids = [...(settings?.providers.keys() ?? []), ...(settings?.disabledProviders ?? [])];
    return ids.filter((id) => id !== this.#before?.form.id);
  }

  #targets() {
    const before = this.#before;
    if (before) return [{ path: before.form.target, label: before.form.target, project: before.project }];
    return saveTargets();
  }

  #open(): void {
    const key = this.#typedKey === undefined ? this.#form.key : ({ kind: 'kept' } as const);
    const origin = this.#typedKey === undefined ? this.#before?.keyOrigin : undefined;
    this.#post({
      type: 'open',
      mode: this.#subject.kind === 'new' ? 'add' : 'edit',
      form: { ...this.#form, key },
      taken: this.#taken(),
      targets: this.#targets(),
      presets: providerPresets(this.#deps.models.catalog),
      ...(origin === undefined ? {} : { keyOrigin: origin }),
    });
  }

  /** Takes the form as the page has it; a key that was typed is set aside. */
  #keep(form: ProviderForm): void {
    if (form.key.kind === 'typed') this.#typedKey = form.key.value.trim() || undefined;
    else if (form.key.kind !== 'kept') this.#typedKey = undefined;
    this.#form = form;
  }

  /** The form with its secrets, for a request. */
  async #draft(raw: ProviderForm): Promise<ProviderDraft> {
    this.#keep(raw);
    const form = tidied(raw);
    const kept = this.#before?.headers ?? new Map<string, Secret>();
    const headers = new Map<string, Secret>();
    for (const { name, value, kept: same } of form.headers) {
      const secret = same ? kept.get(name) : resolveText(value);
      if (secret) headers.set(name, secret);
    }
    return { form, headers, key: this.#keyFor(form) };
  }

  #keyFor(form: ProviderForm): Secret | undefined {
    switch (form.key.kind) {
      case 'none':
        return undefined;
      case 'env':
        return resolveText(`{env:${form.key.name}}`);
      case 'typed':
        return resolveText(form.key.value);
      case 'kept': {
        if (this.#typedKey !== undefined) return resolveText(this.#typedKey);
        const { keyOrigin, key } = this.#before ?? {};
        // What is stored goes only where it was entered for.
        return keyOrigin === undefined || addressOrigin(form.baseURL) === keyOrigin ? key : undefined;
      }
    }
  }

  async #list(request: number, form: ProviderForm): Promise<void> {
    const signal = this.#begin('list');
    const draft = await this.#draft(form);
    try {
      const listed = await listOffered(draft, this.#deps.transport, signal);
      this.#post({ type: 'listed', request, ...listed });
    } catch (error) {
      if (!signal.aborted) this.#post({ type: 'list-failed', request, reason: failureReason(error) });
    }
  }

  async #test(request: number, form: ProviderForm, model: string): Promise<void> {
    const signal = this.#begin('test');
    const draft = await this.#draft(form);
    try {
      this.#post({ type: 'tested', request, ...(await tryModel(draft, model, this.#deps.transport, signal)) });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #lookForServers(): Promise<void> {
    const signal = this.#begin('look-for-servers');
    const known = providerPresets(this.#deps.models.catalog);
    this.#post({ type: 'servers', servers: await findServers(known, this.#deps.transport, signal) });
  }

  /** A request is under way; the one of its kind before it is stopped. */
  #begin(kind: FromDialog['type']): AbortSignal {
    this.#running.get(kind)?.abort();
    const controller = new AbortController();
    this.#running.set(kind, controller);
    return controller.signal;
  }

  #stop(): void {
    for (const controller of this.#running.values()) controller.abort();
  }

  async #save(form: ProviderForm): Promise<void> {
    this.#keep(form);
    const before = this.#before;
    const projectTargets = this.#targets().flatMap(({ path, project }) => (project ? [path] : []));
    const keyOrigin = this.#typedKey === undefined ? before?.keyOrigin : undefined;
    const [problem] = formProblems(form, { taken: this.#taken(), projectTargets, keyOrigin });
    const target = this.#targets().find(({ path }) => path === form.target);
    if (problem || !target) {
      const message = problem ? vscode.l10n.t(problem.text, problem.value ?? '') : vscode.l10n.t('Choose a file.');
      this.#post({ type: 'not-saved', reason: { message } });
      return;
    }
    const stores = form.key.kind === 'kept' && this.#typedKey !== undefined;
    const written: ProviderForm = stores ? { ...form, key: { kind: 'typed', value: '' } } : form;
    try {
      await writeConfig(form.target, withProvider(await readConfig(form.target), written, before?.form.id));
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error;
      const reason = { message: `${form.target}: ${vscode.l10n.t(error.message)}` };
      this.#post({ type: 'not-saved', reason });
      return;
    }
    await this.#storeKey(form);
    await this.#deps.store.refresh();
    await this.#deps.models.rebuild();
    this.dispose();
    announce(form, this.#deps.models);
  }

  async #storeKey(form: ProviderForm): Promise<void> {
    const { keys } = this.#deps;
    const was = this.#before?.form.id;
    const moved = was !== undefined && was !== form.id;
    const origin = addressOrigin(form.baseURL);
    if (this.#typedKey !== undefined && (form.key.kind === 'typed' || form.key.kind === 'kept')) {
      await keys.store(form.id, this.#typedKey, origin);
    } else if (form.key.kind === 'kept') {
      const stored = moved ? (await keys.all()).get(was) : undefined;
      if (stored) await keys.store(form.id, stored.secret.reveal(), stored.origin);
    } else await keys.forget(form.id);
    if (moved) await keys.forget(was);
  }

  async #delete(): Promise<void> {
    const before = this.#before;
    if (!before || !(await confirmDelete(before.form))) return;
    await deleteProvider(this.#deps, before.form.id, before.form.target);
    this.dispose();
  }

  #post(message: ToDialog): void {
    // After the tab was closed there is nobody to tell.
    if (!this.#disposables.disposed) void this.#panel.webview.postMessage(message);
  }
}

function themedIcon(extension: vscode.Uri, name: string) {
  const file = (theme: string) => vscode.Uri.joinPath(extension, 'media', `${name}-${theme}.svg`);
  return { light: file('light'), dark: file('dark') };
}

function firstForm(subject: DialogSubject): ProviderForm {
  return subject.kind === 'edit' ? subject.provider.form : (subject.form ?? { ...EMPTY_FORM, target: globalFile() });
}

/** Says what there is now, where nobody is interrupted by it. */
function announce({ id, name }: ProviderForm, models: Models): void {
  const count = models.registry?.providers.get(id)?.models.size ?? 0;
  const choose = vscode.l10n.t('Choose Chat Model');
  const text =
    count === 0
      ? vscode.l10n.t('{0} is saved. It does not list its models at the moment.', name || id)
      : vscode.l10n.t('{0} is saved, with {1} models to choose from.', name || id, count);
  void vscode.window
    .showInformationMessage(text, choose)
    .then((chosen) => (chosen === choose ? vscode.commands.executeCommand('svc.model.pick') : undefined));
}
