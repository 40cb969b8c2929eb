import { withoutTrailing } from '../../base/text.ts';
/**
 * What the provider dialog asks for (spec 2.5, "Custom provider dialog fields") and its rules. Runs in the
 * dialog's page, as a person types, and again in the host: so it imports nothing that a browser lacks.
 */

export const PROVIDER_APIS = ['chat-completions', 'responses', 'messages'] as const;
export type ProviderApi = (typeof PROVIDER_APIS)[number];

/** The client package that says each format in svc.jsonc. */
export const API_PACKAGES: Readonly<Record<ProviderApi, string>> = {
  'chat-completions': '@ai-sdk/openai-compatible',
  responses: '@ai-sdk/openai',
  messages: '@ai-sdk/anthropic',
};

/** Where the key is. `kept`: the one that is stored or written already stays as it is. */
export type KeyChoice =
  | { readonly kind: 'none' }
  | { readonly kind: 'kept' }
  | { readonly kind: 'typed'; readonly value: string }
  | { readonly kind: 'env'; readonly name: string };

export interface ModelRow {
  readonly id: string;
  readonly name: string;
  /** The key that the row had when the dialog opened; its other fields follow a change of the id. */
  readonly was?: string;
}

export interface HeaderRow {
  readonly name: string;
  readonly value: string;
  /** The value that is in the file stays; the page never had it. */
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
  /** Base address for code completion; empty: as the provider is known for. */
  readonly fimURL: string;
  /** How holes are filled; empty: found out by itself. */
  readonly fim: string;
  /** Path of the svc.jsonc that it is saved into. */
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
  target: '',
};

/** A field of the form, a row's part as `models.2.id`. */
export type FieldName = string;

/** What is wrong with a field. `text` is a key of the translations; `{0}` takes `value`. */
export interface FieldProblem {
  readonly field: FieldName;
  readonly text: string;
  readonly value?: string;
}

export interface FormContext {
  /** Ids that are given away. */
  readonly taken: readonly string[];
  /** Targets that lie in a project: they may not read environment variables (spec 5.8). */
  readonly projectTargets: readonly string[];
  /** `https://host[:port]` that the kept key was entered for; it does not follow to another one. */
  readonly keyOrigin?: string | undefined;
}

const ID = /^[a-z0-9_-]+$/;
/** As the schema of svc.jsonc has it: no user name, no password in an address. */
const ADDRESS = /^https?:\/\/[^\s/?#@\\]+([/?#].*)?$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const REFERENCE = /\{env:/;

/** Everything that is wrong, in the order of the fields; empty: it can be saved. */
export function formProblems(form: ProviderForm, context: FormContext): readonly FieldProblem[] {
  return [
    ...idProblems(form.id, context.taken),
    ...addressProblems('baseURL', form.baseURL.trim(), true),
    ...keyProblems(form, context),
    ...modelProblems(form.models),
    ...headerProblems(form, context),
    ...addressProblems('fimURL', form.fimURL.trim(), false),
  ];
}

export function problemOf(problems: readonly FieldProblem[], field: FieldName): FieldProblem | undefined {
  return problems.find((problem) => problem.field === field);
}

function idProblems(id: string, taken: readonly string[]): FieldProblem[] {
  if (id === '') return [{ field: 'id', text: 'Enter an ID.' }];
  if (!ID.test(id)) {
    const near = proposedId(id);
    const rule = 'Only lowercase letters, numbers, hyphens and underscores.';
    return near === ''
      ? [{ field: 'id', text: rule }]
      : [{ field: 'id', text: 'Only lowercase letters, numbers, hyphens and underscores: {0}', value: near }];
  }
  if (taken.includes(id)) return [{ field: 'id', text: 'There is a provider with the ID {0} already.', value: id }];
  return [];
}

/** A text as an id: `My Provider` -> `my-provider`; empty when nothing of it can stay. */
export function proposedId(text: string): string {
  const id = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replace(/^-+/, '');
  return withoutTrailing(id, '-');
}

/** `id`, or with a number behind it where it is taken. */
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
    return [{ field, text: 'An address with a user name or password in it is not accepted. Use the key or a header.' }];
  }
  return [{ field, text: 'Enter a whole address that starts with https:// or http://.' }];
}

function keyProblems(form: ProviderForm, { projectTargets, keyOrigin }: FormContext): FieldProblem[] {
  const { key, target, baseURL } = form;
  if (key.kind === 'kept' && keyOrigin !== undefined && isAddress(baseURL.trim())) {
    if (new URL(baseURL.trim()).origin === keyOrigin) return [];
    return [{ field: 'key', text: 'The key was entered for {0}. Enter it again for this address.', value: keyOrigin }];
  }
  if (key.kind === 'typed' && CONTROL.test(key.value)) {
    return [{ field: 'key', text: 'A key has no line breaks or control characters.' }];
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

function modelProblems(models: readonly ModelRow[]): FieldProblem[] {
  const seen = new Set<string>();
  return models.flatMap(({ id, name }, index): FieldProblem[] => {
    const field = `models.${index}.id`;
    const key = id.trim();
    if (key === '') return name.trim() === '' ? [] : [{ field, text: 'Enter the ID that the provider knows.' }];
    if (seen.has(key)) return [{ field, text: 'This model is there twice.' }];
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
    if (!HEADER_NAME.test(name)) return at('name', 'A header’s name has no spaces or colons.');
    if (seen.has(name.toLowerCase())) return at('name', 'This header is there twice.');
    seen.add(name.toLowerCase());
    if (row.kept) return [];
    if (value === '') return at('value', 'Enter a value, or remove the header.');
    if (CONTROL.test(value)) return at('value', 'A header’s value has no line breaks.');
    if (REFERENCE.test(value) && projectTargets.includes(target)) {
      return at('value', 'A file in a project may not read environment variables.');
    }
    return [];
  });
}

/** Headers whose value is not shown. */
export function isSecretHeader(name: string): boolean {
  return /key|token|secret|passw|auth|credential|cookie/i.test(name);
}

/** Without spaces at the ends and rows that say nothing; `{env:NAME}` as a key is a reference. */
export function tidied(form: ProviderForm): ProviderForm {
  return {
    ...form,
    name: form.name.trim(),
    baseURL: withoutTrailing(form.baseURL.trim(), '/'),
    fimURL: withoutTrailing(form.fimURL.trim(), '/'),
    key: tidiedKey(form.key),
    models: form.models
      .map((row) => ({ ...row, id: row.id.trim(), name: row.name.trim() }))
      .filter(({ id }) => id !== ''),
    headers: form.headers
      .map((row) => ({ ...row, name: row.name.trim(), value: row.value.trim() }))
      .filter(({ name }) => name !== ''),
  };
}

/** What a person typed into the field of the key. */
function tidiedKey(key: KeyChoice): KeyChoice {
  if (key.kind === 'env') return key.name.trim() === '' ? { kind: 'none' } : { kind: 'env', name: key.name.trim() };
  if (key.kind !== 'typed') return key;
  const value = key.value.trim();
  const variable = /^\{env:([^}]+)\}$/.exec(value)?.[1];
  if (variable !== undefined) return { kind: 'env', name: variable };
  return value === '' ? { kind: 'none' } : { kind: 'typed', value };
}

/** Whether a key would cross a network without encryption. */
export function isOpenToEavesdroppers(address: string): boolean {
  if (!isAddress(address) || !address.startsWith('http:')) return false;
  const { hostname } = new URL(address);
  return !/^(localhost|127(\.\d+){3}|\[::1\]|.*\.localhost)$/.test(hostname);
}
