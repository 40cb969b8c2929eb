import { API_PACKAGES, type ProviderForm } from '../provider-form/provider-form.ts';
import type { ModelKey } from './assist.ts';
import { ConfigText } from './config-text.ts';

/**
 * Updates the configuration with the provider of the form. Settings that are not in the dialog (limits, prices,
 * timeouts, filters) are preserved. A typed key is never written to the file: it is stored in the key store.
 *
 * @param was the previous id of the provider.
 * @throws UnreadableFile
 */
export function withProvider(text: string, form: ProviderForm, was?: string): string {
  const config = new ConfigText(text);
  if (was !== undefined) config.rename(['provider'], new Map([[was, form.id]]));
  const at = (...path: string[]): string[] => ['provider', form.id, ...path];
  if (!isRecord(config.get(at()))) config.set(at(), {});
  config.set(at('name'), form.name === '' ? undefined : form.name);
  config.set(at('npm'), choosePackage(config.get(at('npm')), form));
  config.set(at('fim'), form.fim === '' ? undefined : form.fim);
  config.set(at('edit'), form.edit === '' ? undefined : form.edit);
  config.set(at('options', 'baseURL'), form.baseURL);
  config.set(at('options', 'fimURL'), form.fimURL === '' ? undefined : form.fimURL);
  if (form.window !== undefined) config.set(at('options', 'num_ctx'), form.window);
  writeKey(config, at('options', 'apiKey'), form);
  writeHeaders(config, at('options', 'headers'), form);
  writeModels(config, at('models'), form);
  return config.toString();
}

/** A different package with the same format (for example `@ai-sdk/mistral`) is the user's choice and is preserved. */
function choosePackage(before: unknown, form: ProviderForm): string {
  const known: readonly unknown[] = Object.values(API_PACKAGES);
  const foreign = typeof before === 'string' && !known.includes(before);
  return foreign && form.api === 'chat-completions' ? before : API_PACKAGES[form.api];
}

function writeKey(config: ConfigText, path: readonly string[], { key }: ProviderForm): void {
  if (key.kind === 'kept') return;
  config.set(path, key.kind === 'env' ? `{env:${key.name}}` : undefined);
}

function writeHeaders(config: ConfigText, path: readonly string[], { headers }: ProviderForm): void {
  const before = config.get(path);
  const wanted = new Map(headers.map((row) => [row.name, row]));
  for (const name of Object.keys(isRecord(before) ? before : {})) {
    if (!wanted.has(name)) config.set([...path, name], undefined);
  }
  for (const { name, value, kept } of headers) if (!kept) config.set([...path, name], value);
  if (headers.length === 0) config.set(path, undefined);
}

function writeModels(config: ConfigText, path: readonly string[], { models }: ProviderForm): void {
  const before = config.get(path);
  const known = isRecord(before) ? before : {};
  const renamed = new Map<string, string>();
  for (const { id, was } of models) if (was !== undefined && isRecord(known[was])) renamed.set(was, id);
  const kept = new Set([...models.map(({ id }) => id), ...renamed.keys()]);
  for (const key of Object.keys(known)) {
    // `null` hides a model of the catalog. The dialog has no row for it.
    if (!kept.has(key) && known[key] !== null) config.set([...path, key], undefined);
  }
  config.rename(path, renamed);
  for (const { id, name, was } of models) {
    const at = [...path, id];
    if (!isRecord(config.get(at))) config.set(at, isRecord(known[was ?? id]) ? known[was ?? id] : {});
    config.set([...at, 'name'], name === '' || name === id ? undefined : name);
  }
}

/** Chooses a model for a task. @throws UnreadableFile */
export function withModel(text: string, key: ModelKey, ref: string): string {
  return new ConfigText(text).set([key], ref).toString();
}

/** Removes a provider from the configuration. @throws UnreadableFile */
export function withoutProvider(text: string, id: string): string {
  return new ConfigText(text).set(['provider', id], undefined).toString();
}

/** The providers in the file, without resolving references. @throws UnreadableFile */
export function providersIn(text: string): Readonly<Record<string, unknown>> {
  const providers = new ConfigText(text).get(['provider']);
  return isRecord(providers) ? providers : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
