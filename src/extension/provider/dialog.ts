import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable-store.ts';
import { defined } from '../../base/json.ts';
import { addressOrigin } from '../../catalog/address.ts';
import { providerPresets } from '../../catalog/presets.ts';
import { UnreadableFile } from '../../config/editing/config-text.ts';
import type { SettingsStore } from '../../config/load/store.ts';
import type { ImportedUses } from '../../config/provider-form/import-fields.ts';
import {
  EMPTY_FORM,
  formProblems,
  keyRequiredBy,
  normalizeForm,
  type ProviderForm,
} from '../../config/provider-form/provider-form.ts';
import type { Secret } from '../../config/settings/secret.ts';
import {
  type FromDialog,
  type ProviderPreset,
  parseFromDialog,
  type TestedModel,
  type ToDialog,
} from '../../protocol/provider-dialog.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import { globalFile, saveTargets } from '../configuration/files.ts';
import type { StoredKeys } from '../configuration/stored-keys.ts';
import { ask, showInformation } from '../foreign-text.ts';
import type { Models } from '../models/editor-models.ts';
import { webviewHtml, webviewOptions } from '../pages/page-html.ts';
import { confirmDelete, deleteProvider, type EditedProvider, resolveText, saveProvider } from './edit-provider.ts';
import {
  failureReason,
  findServers,
  listOffered,
  modelsToTest,
  type ProviderDraft,
  tryModel,
} from './provider-draft.ts';

export interface ProviderDialogDeps {
  readonly extension: vscode.Uri;
  readonly models: Models;
  readonly store: SettingsStore;
  readonly keys: StoredKeys;
  readonly transport: Transport;
  readonly log: vscode.LogOutputChannel;
  /** The extension's global storage folder, which is below VS Code's user folder. */
  readonly storage: vscode.Uri;
}

/** The subject of the dialog. */
export type DialogSubject =
  | {
      readonly kind: 'new';
      readonly form?: ProviderForm;
      readonly uses?: ImportedUses;
    }
  | { readonly kind: 'edit'; readonly provider: EditedProvider };

/**
 * A dialog in an editor tab. VS Code may destroy the page when its tab is hidden, so the form is kept here. A typed key
 * is kept only here and not sent back to the page.
 */
export class ProviderDialog implements vscode.Disposable {
  readonly #deps: ProviderDialogDeps;
  readonly #subject: DialogSubject;
  readonly #disposables = new DisposableStore();
  /** Created again if the user continues to edit after closing the tab. */
  #panel: vscode.WebviewPanel;
  readonly #closed: () => void;
  #form: ProviderForm;
  #typedKey: string | undefined;
  /** The content when the dialog was opened. */
  readonly #first: string;
  /** Ids of the models that the provider listed last. */
  #offered: readonly string[] = [];
  /** Running operations by type. A test and a list may run at the same time. */
  readonly #running = new Map<FromDialog['type'], AbortController>();

  constructor(deps: ProviderDialogDeps, subject: DialogSubject, closed: () => void) {
    this.#deps = deps;
    this.#subject = subject;
    this.#closed = closed;
    this.#form = firstForm(subject);
    this.#keep(this.#form);
    this.#first = this.#content();
    this.#panel = this.#openPanel();
  }

  dispose(): void {
    if (this.#disposables.disposed) return;
    this.#stop();
    this.#closed();
    this.#disposables.dispose();
    this.#panel.dispose();
  }

  #openPanel(): vscode.WebviewPanel {
    const { extension } = this.#deps;
    const title = this.#title();
    const panel = vscode.window.createWebviewPanel(
      'svc.provider',
      title,
      vscode.ViewColumn.Active,
      webviewOptions(extension),
    );
    panel.iconPath = themedIcon(extension, 'provider');
    panel.onDidDispose(() => void this.#tabClosed());
    panel.webview.onDidReceiveMessage((value: unknown) => this.#receive(value));
    panel.webview.html = webviewHtml(panel.webview, extension, {
      script: 'provider',
      title,
      styles: ['codicon.css', 'provider.css'],
    });
    return panel;
  }

  #title(): string {
    const subject = this.#subject;
    if (subject.kind === 'new') return vscode.l10n.t('Add Custom Provider');
    return vscode.l10n.t('Edit {0}', subject.provider.form.name || subject.provider.form.id);
  }

  /** VS Code does not let an extension keep a tab open. So the user is asked afterwards. */
  async #tabClosed(): Promise<void> {
    if (this.#disposables.disposed) return;
    if (await this.#mayClose()) this.dispose();
    else this.#panel = this.#openPanel();
  }

  /** True if nothing was changed, or if the user discards the changes. */
  async #mayClose(): Promise<boolean> {
    if (this.#content() === this.#first) return true;
    const { t } = vscode.l10n;
    const discard = t('Discard Changes');
    const question = t('Discard the changes to {0}?', this.#form.name || this.#form.id || t('the new provider'));
    const detail = t('The provider is not saved.');
    return (await ask(question, { detail }, discard)) === discard;
  }

  /** Everything that the user can change, to detect changes. */
  #content(): string {
    return JSON.stringify([normalizeForm(this.#form), this.#typedKey ?? '']);
  }

  reveal(): void {
    this.#panel.reveal();
  }

  #receive(value: unknown): void {
    const message = parseFromDialog(value);
    if (!message) {
      this.#deps.log.warn('The provider dialog sent an unknown message, which was ignored.');
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
        return this.#test(message.request, message.form);
      case 'stop':
        this.#stop();
        return;
      case 'look-for-servers':
        return this.#lookForServers();
      case 'save':
        return this.#save(normalizeForm(message.form));
      case 'delete':
        return this.#delete();
      case 'open-file':
        await vscode.window.showTextDocument(vscode.Uri.file(this.#form.target));
        return;
      case 'close':
        if (await this.#mayClose()) this.dispose();
        return;
    }
  }

  get #edited(): EditedProvider | undefined {
    return this.#subject.kind === 'edit' ? this.#subject.provider : undefined;
  }

  #taken(): readonly string[] {
    const { settings } = this.#deps.models;
    const ids = [...(settings?.providers.keys() ?? []), ...(settings?.disabledProviders ?? [])];
    return ids.filter((id) => id !== this.#edited?.form.id);
  }

  #targets() {
    const edited = this.#edited;
    if (edited) return [{ path: edited.form.target, label: edited.form.target, project: edited.project }];
    return saveTargets();
  }

  #open(): void {
    const key = this.#typedKey === undefined ? this.#form.key : ({ kind: 'kept' } as const);
    const origin = this.#typedKey === undefined ? this.#edited?.keyOrigin : undefined;
    this.#post({
      type: 'open',
      mode: this.#subject.kind === 'new' ? 'add' : 'edit',
      form: { ...this.#form, key },
      taken: this.#taken(),
      targets: this.#targets(),
      presets: this.#presets(),
      ...defined({ keyOrigin: origin }),
      restricted: !vscode.workspace.isTrusted && vscode.workspace.workspaceFolders !== undefined,
    });
  }

  #presets(): readonly ProviderPreset[] {
    return providerPresets(this.#deps.models.catalog, process.env);
  }

  /** Stores the page's form. A typed key is stored separately. */
  #keep(form: ProviderForm): void {
    if (form.key.kind === 'typed') this.#typedKey = form.key.value.trim() || undefined;
    else if (form.key.kind !== 'kept') this.#typedKey = undefined;
    this.#form = form;
  }

  /** The form with its secrets for a request. */
  async #draft(raw: ProviderForm): Promise<ProviderDraft> {
    this.#keep(raw);
    const form = normalizeForm(raw);
    const kept = this.#edited?.headers ?? new Map<string, Secret>();
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
        const { keyOrigin, key } = this.#edited ?? {};
        // A stored key is sent only to the origin it was entered for.
        return keyOrigin === undefined || addressOrigin(form.baseURL) === keyOrigin ? key : undefined;
      }
    }
  }

  async #list(request: number, form: ProviderForm): Promise<void> {
    const signal = this.#begin('list');
    const draft = await this.#draft(form);
    try {
      const listed = await listOffered(draft, this.#deps.transport, signal);
      this.#offered = listed.models.map(({ id }) => id);
      this.#post({ type: 'listed', request, ...listed });
    } catch (error) {
      if (!signal.aborted) this.#post({ type: 'list-failed', request, reason: failureReason(error) });
    }
  }

  /** Tests chat and code completion at the same time. Each result is reported when it arrives. */
  async #test(request: number, form: ProviderForm): Promise<void> {
    const signal = this.#begin('test');
    const draft = await this.#draft(form);
    const tests = modelsToTest(draft, this.#offered);
    this.#post({ type: 'testing', request, tests });
    const run = async (test: TestedModel) => {
      const result = await tryModel(draft, test, this.#deps.transport, signal);
      this.#post({ type: 'tested', request, use: test.use, ...result });
    };
    try {
      await Promise.all(tests.map(run));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #lookForServers(): Promise<void> {
    const signal = this.#begin('look-for-servers');
    this.#post({ type: 'servers', servers: await findServers(this.#presets(), this.#deps.transport, signal) });
  }

  /** Starts an operation and stops the previous one of the same type. */
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
    const edited = this.#edited;
    const projectTargets = this.#targets().flatMap(({ path, project }) => (project ? [path] : []));
    const keyOrigin = this.#typedKey === undefined ? edited?.keyOrigin : undefined;
    const required = this.#typedKey === undefined ? keyRequiredBy(form, this.#presets()) : undefined;
    const context = { taken: this.#taken(), projectTargets, keyOrigin, keyRequiredBy: required };
    const [problem] = formProblems(form, context);
    const target = this.#targets().find(({ path }) => path === form.target);
    if (problem || !target) {
      const message = problem ? vscode.l10n.t(problem.text, problem.value ?? '') : vscode.l10n.t('Choose a file.');
      this.#post({ type: 'not-saved', reason: { message } });
      return;
    }
    const stores = form.key.kind === 'kept' && this.#typedKey !== undefined;
    const written: ProviderForm = stores ? { ...form, key: { kind: 'typed', value: '' } } : form;
    try {
      await saveProvider(this.#deps, written, edited?.form.id, () => this.#storeKey(form));
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error;
      const reason = { message: `${form.target}: ${vscode.l10n.t(error.message)}` };
      this.#post({ type: 'not-saved', reason });
      return;
    }
    await this.#useImported(form.id);
    this.dispose();
    announce(form, this.#deps.models);
    // The new model is for the chat first: the next key belongs to its input.
    if (edited === undefined) await vscode.commands.executeCommand('svc.chat.open');
  }

  /** Uses the models for the tasks for which the other tool used them. */
  async #useImported(id: string): Promise<void> {
    const { models } = this.#deps;
    const { uses = {} } = this.#subject.kind === 'new' ? this.#subject : {};
    const find = (key: string | undefined) => (key === undefined ? undefined : models.registry?.find(`${id}/${key}`));
    const chat = find(uses.chat);
    const completion = find(uses.completion);
    if (chat) await models.useForChat(chat.ref);
    if (completion?.fim) await models.use('completion', completion.ref);
  }

  async #storeKey(form: ProviderForm): Promise<void> {
    const { keys } = this.#deps;
    const was = this.#edited?.form.id;
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
    const edited = this.#edited;
    if (!edited || !(await confirmDelete(edited.form))) return;
    await deleteProvider(this.#deps, edited.form.id, edited.form.target);
    this.dispose();
  }

  #post(message: ToDialog): void {
    // The tab may be closed already.
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

/** Reports the saved provider in a notification. */
export function announce({ id, name }: ProviderForm, models: Models): void {
  const count = models.registry?.providers.get(id)?.models.size ?? 0;
  const choose = vscode.l10n.t('Choose Chat Model');
  const text =
    count === 0
      ? vscode.l10n.t('{0} is saved. The provider does not list its models at the moment.', name || id)
      : vscode.l10n.t('{0} is saved, with {1} models to choose from.', name || id, count);
  void showInformation(text, choose).then((chosen) =>
    chosen === choose ? vscode.commands.executeCommand('svc.model.pick') : undefined,
  );
}
