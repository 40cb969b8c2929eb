import { withoutTrailing } from '../../base/text.ts';
/**
 * The fields of the provider dialog (spec 2.5, "Custom provider dialog fields") and their rules. Runs in the dialog's
 * page while the user types, and again in the host, so it must not import Node modules.
 */

export const PROVIDER_APIS = ['chat-completions', 'responses', 'messages'] as const;
export type ProviderApi = (typeof PROVIDER_APIS)[number];

/** The client package for each format in svc.jsonc. */
export const API_PACKAGES: Readonly<Record<ProviderApi, string>> = {
  'chat-completions': '@ai-sdk/openai-compatible',
  responses: '@ai-sdk/openai',
  messages: '@ai-sdk/anthropic',
};

/** The location of the key. `kept`: the stored key does not change. */
export type KeyChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'kept' }
  | { readonly kind: 'typed'; readonly value: string }
  | { readonly kind: 'env'; readonly name: string };

export interface ModelRow {
  readonly id: string;
  readonly name: string;
  /** The key of the row when the dialog was opened. The other fields of that model move to the new id. */
  readonly was?: string;
}

export interface HeaderRow {
  readonly name: string;
  readonly value: string;
  /** The value in the file does not change. The page never receives it. */
  readonly kept?: boolean;
}

export interface ProviderForm {
  readonly id: string;
  readonly name: string;
  readonly api: ProviderApi;
  readonly baseURL: string;
  readonly key: KeyChoice;
  readonly models: readonly ModelRow[];
  readonly headers: readonly HeaderRow[];
  /** Base address for code completion. Empty: the provider's default. */
  readonly fimURL: string;
  /** FIM dialect. Empty: detected automatically. */
  readonly fim: string;
  /** Format for next edits. Empty: detected by the names of the models. */
  readonly edit: string;
  /** The window with which Ollama loads each model. Not in the dialog: absent, what is in the file stays. */
  readonly window?: number;
  /** Path of the svc.jsonc where the provider is saved. */
  readonly target: string;
}

export const EMPTY_FORM: ProviderForm = {
  id: '',
  name: '',
  api: 'chat-completions',
  baseURL: '',
  key: { kind: 'none' },
  models: [],
  headers: [],
  fimURL: '',
  fim: '',
  edit: '',
  target: '',
};

/** The name of a field in the form. A field of a row is `models.2.id`. */
export type FieldName = string;

/** A problem of a field. `text` is a translation key; `{0}` is replaced by `value`. */
export interface FieldProblem {
  readonly field: FieldName;
  readonly text: string;
  readonly value?: string;
}

export interface FormContext {
  /** Ids that are already used. */
  readonly taken: readonly string[];
  /** Targets in a project. They must not read environment variables (spec 5.8). */
  readonly projectTargets: readonly string[];
  /** `https://host[:port]` that the kept key was entered for. The key is not valid for another origin. */
  readonly keyOrigin?: string | undefined;
  /** Name of the vendor that requires a key; absent: the key is optional. */
  readonly keyRequiredBy?: string | undefined;
  /** True if the user limits the provider to chosen models. */
  readonly limited?: boolean;
}

/** The part of a known vendor that decides about the key. */
interface KeyedVendor {
  readonly name: string;
  readonly baseURL: string;
  readonly local: boolean;
  readonly needsKey?: boolean;
  readonly environment?: string;
}

/** The known vendor of an address. */
export function vendorOf<V extends KeyedVendor>(baseURL: string, vendors: readonly V[]): V | undefined {
  const address = baseURL.trim();
  if (!isAddress(address)) return undefined;
  const { origin } = new URL(address);
  return vendors.find((vendor) => isAddress(vendor.baseURL) && new URL(vendor.baseURL).origin === origin);
}

/** Name of the vendor that requires a key for this form; absent: the key is optional or it is somewhere else. */
export function keyRequiredBy(form: ProviderForm, vendors: readonly KeyedVendor[]): string | undefined {
  const vendor = vendorOf(form.baseURL, vendors);
  if (vendor === undefined || vendor.environment !== undefined || !(vendor.needsKey ?? !vendor.local)) return undefined;
  const inHeader = form.headers.some(({ name, value, kept }) => isSecretHeader(name) && (kept || value.trim() !== ''));
  return inHeader ? undefined : vendor.name;
}

export function hasKey({ key }: ProviderForm): boolean {
  if (key.kind === 'typed') return key.value.trim() !== '';
  return key.kind === 'env' ? key.name.trim() !== '' : key.kind === 'kept';
}

const ID = /^[a-z0-9_-]+$/;
/** The same rule as in the schema of svc.jsonc: no user name or password in an address. */
const ADDRESS = /^https?:\/\/[^\s/?#@\\]+([/?#].*)?$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const REFERENCE = /\{env:/;

/** All problems in the order of the fields. Empty: the form can be saved. */
export function formProblems(form: ProviderForm, context: FormContext): readonly FieldProblem[] {
  return [
    ...idProblems(form.id, context.taken),
    ...addressProblems('baseURL', form.baseURL.trim(), true),
    ...keyProblems(form, context),
    ...modelProblems(form.models, context),
    ...headerProblems(form, context),
    ...addressProblems('fimURL', form.fimURL.trim(), false),
  ];
}

function idProblems(id: string, taken: readonly string[]): FieldProblem[] {
  if (id === '') return [{ field: 'id', text: 'Enter an ID.' }];
  if (!ID.test(id)) {
    const near = proposedId(id);
    const rule = 'Use only lowercase letters, numbers, hyphens and underscores.';
    return near === ''
      ? [{ field: 'id', text: rule }]
      : [{ field: 'id', text: 'Use only lowercase letters, numbers, hyphens and underscores: {0}', value: near }];
  }
  if (taken.includes(id)) return [{ field: 'id', text: 'A provider with the ID {0} already exists.', value: id }];
  return [];
}

/** Converts a text to an id: `My Provider` -> `my-provider`. Empty if no character can be used. */
export function proposedId(text: string): string {
  const id = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replace(/^-+/, '');
  return withoutTrailing(id, '-');
}

/** `id`, or `id` with a number if it is already used. */
export function freeId(id: string, taken: readonly string[]): string {
  if (!taken.includes(id)) return id;
  for (let n = 2; ; n++) if (!taken.includes(`${id}-${n}`)) return `${id}-${n}`;
}

export function isAddress(text: string): boolean {
  return ADDRESS.test(text) && URL.canParse(text);
}

function addressProblems(field: FieldName, text: string, needed: boolean): FieldProblem[] {
  if (text === '') return needed ? [{ field, text: 'Enter the address of the API.' }] : [];
  if (isAddress(text)) return [];
  if (/^https?:\/\/[^/?#]*@/.test(text)) {
    return [{ field, text: 'The address must not contain a user name or password. Use the key or a header.' }];
  }
  return [{ field, text: 'Enter a complete address that starts with https:// or http://.' }];
}

function keyProblems(form: ProviderForm, { projectTargets, keyOrigin, keyRequiredBy }: FormContext): FieldProblem[] {
  const { key, target, baseURL } = form;
  if (keyRequiredBy !== undefined && key.kind !== 'env' && !hasKey(form)) {
    return [{ field: 'key', text: 'Enter the key of {0}.', value: keyRequiredBy }];
  }
  if (key.kind === 'kept' && keyOrigin !== undefined && isAddress(baseURL.trim())) {
    if (new URL(baseURL.trim()).origin === keyOrigin) return [];
    return [{ field: 'key', text: 'The key was entered for {0}. Enter it again for this address.', value: keyOrigin }];
  }
  if (key.kind === 'typed' && CONTROL.test(key.value)) {
    return [{ field: 'key', text: 'A key must not contain line breaks or control characters.' }];
  }
  if (key.kind !== 'env') return [];
  if (!VARIABLE.test(key.name)) {
    return [{ field: 'key', text: 'Enter the name of an environment variable, such as MISTRAL_API_KEY.' }];
  }
  if (projectTargets.includes(target)) {
    return [{ field: 'key', text: 'A file in a project may not read environment variables. Save for all projects.' }];
  }
  return [];
}

function modelProblems(models: readonly ModelRow[], { limited = false }: FormContext): FieldProblem[] {
  if (limited && models.every(({ id, name }) => id.trim() === '' && name.trim() === '')) {
    return [{ field: 'models', text: 'Choose at least one model, or use all models.' }];
  }
  const seen = new Set<string>();
  return models.flatMap(({ id, name }, index): FieldProblem[] => {
    const field = `models.${index}.id`;
    const key = id.trim();
    if (key === '') return name.trim() === '' ? [] : [{ field, text: 'Enter the ID that the provider knows.' }];
    if (seen.has(key)) return [{ field, text: 'This model occurs twice.' }];
    seen.add(key);
    return [];
  });
}

function headerProblems({ headers, target }: ProviderForm, { projectTargets }: FormContext): FieldProblem[] {
  const seen = new Set<string>();
  return headers.flatMap((row, index): FieldProblem[] => {
    const name = row.name.trim();
    const value = row.value.trim();
    const at = (part: string, text: string) => [{ field: `headers.${index}.${part}`, text }];
    if (name === '') return value === '' ? [] : at('name', 'Enter the name of the header.');
    if (!HEADER_NAME.test(name)) return at('name', 'The name of a header must not contain spaces or colons.');
    if (seen.has(name.toLowerCase())) return at('name', 'This header occurs twice.');
    seen.add(name.toLowerCase());
    if (row.kept) return [];
    if (value === '') return at('value', 'Enter a value, or remove the header.');
    if (CONTROL.test(value)) return at('value', 'The value of a header must not contain line breaks.');
    if (REFERENCE.test(value) && projectTargets.includes(target)) {
      return at('value', 'A file in a project may not read environment variables.');
    }
    return [];
  });
}

/** Whether the header's value is hidden. */
export function isSecretHeader(name: string): boolean {
  return /key|token|secret|passw|auth|credential|cookie/i.test(name);
}

/** Normalizes a form: trims spaces, removes empty rows, and reads `{env:NAME}` in the key field as a reference. */
export function normalizeForm(form: ProviderForm): ProviderForm {
  return {
    ...form,
    name: form.name.trim(),
    baseURL: withoutTrailing(form.baseURL.trim(), '/'),
    fimURL: withoutTrailing(form.fimURL.trim(), '/'),
    key: normalizeKey(form.key),
    models: form.models
      .map((row) => ({ ...row, id: row.id.trim(), name: row.name.trim() }))
      .filter(({ id }) => id !== ''),
    headers: form.headers
      .map((row) => ({ ...row, name: row.name.trim(), value: row.value.trim() }))
      .filter(({ name }) => name !== ''),
  };
}

/** Normalizes the key that the user typed. */
function normalizeKey(key: KeyChoice): KeyChoice {
  if (key.kind === 'env') return key.name.trim() === '' ? { kind: 'none' } : { kind: 'env', name: key.name.trim() };
  if (key.kind !== 'typed') return key;
  const value = key.value.trim();
  const variable = /^\{env:([^}]+)\}$/.exec(value)?.[1];
  if (variable !== undefined) return { kind: 'env', name: variable };
  return value === '' ? { kind: 'none' } : { kind: 'typed', value };
}

/** Whether the key would be sent over a network without encryption. */
export function isOpenToEavesdroppers(address: string): boolean {
  if (!isAddress(address) || !address.startsWith('http:')) return false;
  const { hostname } = new URL(address);
  return !/^(localhost|127(\.\d+){3}|\[::1\]|.*\.localhost)$/.test(hostname);
}
