import * as vscode from 'vscode';
import { isObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';
import { addressOrigin } from '../../catalog/address.ts';
import { PACKAGES } from '../../catalog/vendors.ts';
import type { ModelKey } from '../../config/editing/assist.ts';
import { providersIn, withModel, withoutProvider, withProvider } from '../../config/editing/edit-providers.ts';
import { findReferences } from '../../config/load/references.ts';
import type { SettingsStore } from '../../config/load/store.ts';
import {
  EMPTY_FORM,
  type HeaderRow,
  isSecretHeader,
  type KeyChoice,
  type ModelRow,
  type ProviderForm,
} from '../../config/provider-form/provider-form.ts';
import { Secret } from '../../config/settings/secret.ts';
import { configurationFile, readConfig, writeConfig } from '../configuration/files.ts';
import type { StoredKeys } from '../configuration/stored-keys.ts';
import { ask } from '../foreign-text.ts';
import type { Models } from '../models/editor-models.ts';

/** A provider as defined in its file, with the secrets that the page must not receive. */
export interface EditedProvider {
  readonly form: ProviderForm;
  readonly project: boolean;
  /** The key that `kept` refers to. */
  readonly key: Secret | undefined;
  /** `https://host[:port]` for which the stored key was entered; absent: the key is in the file. */
  readonly keyOrigin: string | undefined;
  /** The values that `kept` rows refer to. */
  readonly headers: ReadonlyMap<string, Secret>;
}

export interface EditDeps {
  readonly models: Models;
  readonly store: SettingsStore;
  readonly keys: StoredKeys;
}

/** Reads a provider to edit; `undefined` if it is not defined in an editable file. */
export async function readProvider(deps: EditDeps, id: string): Promise<EditedProvider | undefined> {
  const source = configurationFile(id, deps.models.settings);
  if (!source) return undefined;
  const written = providersIn(await readConfig(source.path))[id];
  if (!isObject(written)) return undefined;
  const options = objectOrEmpty(written.options);
  const endpoint = deps.models.registry?.providers.get(id)?.endpoint;
  const baseURL = nonEmptyString(options.baseURL) ?? nonEmptyString(written.api) ?? endpoint?.baseURL ?? '';
  const stored = (await deps.keys.all()).get(id);
  const inFile = nonEmptyString(options.apiKey);
  const headers = Object.entries(objectOrEmpty(options.headers)).filter(([, value]) => typeof value === 'string');
  return {
    form: {
      ...EMPTY_FORM,
      id,
      name: nonEmptyString(written.name) ?? '',
      api: PACKAGES.get(nonEmptyString(written.npm) ?? '')?.format ?? endpoint?.format ?? 'chat-completions',
      baseURL,
      fimURL: nonEmptyString(options.fimURL) ?? (options.baseURL === undefined ? endpoint?.fimURL : undefined) ?? '',
      fim: nonEmptyString(written.fim) ?? '',
      edit: nonEmptyString(written.edit) ?? '',
      key: chooseKey(inFile, stored !== undefined),
      models: Object.entries(objectOrEmpty(written.models)).flatMap(modelRow),
      headers: headers.map(([name, value]) => headerRow(name, String(value))),
      target: source.path,
    },
    project: source.kind === 'project',
    key: inFile === undefined ? stored?.secret : resolveText(inFile),
    keyOrigin: inFile === undefined && stored ? (stored.origin ?? addressOrigin(baseURL)) : undefined,
    headers: new Map(
      headers.flatMap(([name, value]) => [[name, resolveText(String(value)) ?? new Secret('')] as const]),
    ),
  };
}

function chooseKey(inFile: string | undefined, stored: boolean): KeyChoice {
  const variable = /^\{env:([^}]+)\}$/.exec(inFile ?? '')?.[1];
  if (variable !== undefined) return { kind: 'env', name: variable };
  return inFile !== undefined || stored ? { kind: 'kept' } : { kind: 'none' };
}

function modelRow([id, value]: [string, unknown]): ModelRow[] {
  return isObject(value) ? [{ id, name: nonEmptyString(value.name) ?? '', was: id }] : [];
}

/** Does not send the value of a secret header to the page, unless it is a reference, which is not secret. */
function headerRow(name: string, value: string): HeaderRow {
  const reference = /^\{(env|file):[^}]+\}$/.test(value);
  return isSecretHeader(name) && !reference ? { name, value: '', kept: true } : { name, value };
}

/** Resolves `{env:NAME}` references in a typed value, to test it before it is saved. */
export function resolveText(text: string): Secret | undefined {
  let resolved = '';
  let at = 0;
  for (const { kind, name, start, end } of findReferences(text)) {
    if (kind === 'file') continue;
    resolved += text.slice(at, start) + (process.env[name] ?? '');
    at = end;
  }
  resolved = (resolved + text.slice(at)).trim();
  return resolved === '' ? undefined : new Secret(resolved);
}

/**
 * Writes a provider, and waits until its models are known. @param was its id before.
 *
 * @param withKeys stores its key, before the models are read.
 * @throws UnreadableFile for a file with a mistake.
 */
export async function saveProvider(
  deps: EditDeps,
  form: ProviderForm,
  was?: string,
  withKeys: () => Promise<void> = async () => undefined,
): Promise<void> {
  await writeConfig(form.target, withProvider(await readConfig(form.target), form, was));
  await withKeys();
  await deps.store.refresh();
  await deps.models.rebuild();
}

/** Writes which model a task uses. @throws UnreadableFile for a file with a mistake. */
export async function saveModel(deps: EditDeps, file: string, key: ModelKey, ref: string): Promise<void> {
  await writeConfig(file, withModel(await readConfig(file), key, ref));
  await deps.store.refresh();
  await deps.models.rebuild();
}

export async function confirmDelete({ id, name }: ProviderForm): Promise<boolean> {
  const remove = vscode.l10n.t('Delete');
  const chosen = await ask(
    vscode.l10n.t('Delete the provider {0}?', name || id),
    { detail: vscode.l10n.t('It is removed from svc.jsonc, and its key from the key store.') },
    remove,
  );
  return chosen === remove;
}

export async function deleteProvider(deps: EditDeps, id: string, file: string): Promise<void> {
  await writeConfig(file, withoutProvider(await readConfig(file), id));
  await deps.keys.forget(id);
  await deps.store.refresh();
  await deps.models.rebuild();
}
