import { nonEmptyString } from '../../base/json.ts';
import { withoutTrailing } from '../../base/text.ts';
import type { KeyChoice, ProviderApi, ProviderForm } from './provider-form.ts';

/** Shared by the imports from other tools. */

/** Models of an import that the other tool used for a task, by their ids. */
export interface ImportedUses {
  readonly chat?: string;
  readonly completion?: string;
}

export interface ImportedProvider extends ProviderForm {
  readonly uses?: ImportedUses;
}

export interface Imported {
  readonly providers: readonly ImportedProvider[];
  /** Messages about entries that could not be imported. */
  readonly notes: readonly string[];
}

export type Fields = Readonly<Record<string, unknown>>;

/** Vendor names of other tools and their addresses, for providers without their own address. */
export const BASES: Readonly<
  Record<string, { readonly id: string; readonly baseURL: string; readonly api?: ProviderApi }>
> = {
  openai: { id: 'openai', baseURL: 'https://api.openai.com/v1' },
  anthropic: { id: 'anthropic', baseURL: 'https://api.anthropic.com/v1', api: 'messages' },
  mistral: { id: 'mistral', baseURL: 'https://api.mistral.ai/v1' },
  codestral: { id: 'codestral', baseURL: 'https://codestral.mistral.ai/v1' },
  deepseek: { id: 'deepseek', baseURL: 'https://api.deepseek.com' },
  openrouter: { id: 'openrouter', baseURL: 'https://openrouter.ai/api/v1' },
  groq: { id: 'groq', baseURL: 'https://api.groq.com/openai/v1' },
  xai: { id: 'xai', baseURL: 'https://api.x.ai/v1' },
  together: { id: 'togetherai', baseURL: 'https://api.together.xyz/v1' },
  gemini: { id: 'google', baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai' },
  ollama: { id: 'ollama', baseURL: 'http://127.0.0.1:11434/v1' },
  lmstudio: { id: 'lmstudio', baseURL: 'http://127.0.0.1:1234/v1' },
  'llama.cpp': { id: 'llamacpp', baseURL: 'http://127.0.0.1:8080/v1' },
  vllm: { id: 'vllm', baseURL: 'http://127.0.0.1:8000/v1' },
};

/** Other tools write the Ollama address without `/v1`. */
export function local(id: string | undefined, baseURL: string): string {
  const trimmed = withoutTrailing(baseURL, '/');
  return id === 'ollama' && !/\/v1$/.test(trimmed) ? `${trimmed}/v1` : trimmed;
}

/** Adds a provider. Providers with the same address, format and key are combined. */
export function add(providers: Map<string, ImportedProvider>, form: ImportedProvider): void {
  const same = JSON.stringify([form.id, form.api, form.baseURL, form.key, form.headers]);
  const { uses, ...rest } = form;
  const before = providers.get(same);
  if (before === undefined) {
    const ids = [...providers.values()].map(({ id }) => id);
    const id = ids.includes(form.id)
      ? `${form.id}-${ids.filter((each) => each.startsWith(form.id)).length + 1}`
      : form.id;
    providers.set(same, { ...form, id });
    return;
  }
  const known = before.models.some(({ id }) => id === form.models[0]?.id);
  // The first model for a task is the one that the other tool uses.
  const together = { ...uses, ...before.uses };
  providers.set(same, {
    ...before,
    fim: before.fim || form.fim,
    fimURL: before.fimURL || form.fimURL,
    models: known ? before.models : [...before.models, ...rest.models],
    ...(Object.keys(together).length === 0 ? {} : { uses: together }),
  });
}

/** A key in the file. The key stores of VS Code and other tools are not read. */
export function readKeyChoice(value: unknown): KeyChoice {
  const text = nonEmptyString(value)?.trim();
  if (text === undefined || text === '') return { kind: 'none' };
  const variable = /^\{env:([^}]+)\}$/.exec(text)?.[1] ?? /^\$\{?env:(\w+)\}$/.exec(text)?.[1];
  if (variable !== undefined) return { kind: 'env', name: variable };
  // `${input:…}` and `${{ secrets.X }}` refer to a store of the other tool, `{file:…}` to a file.
  return /^(\$\{|\{file:)/.test(text) ? { kind: 'none' } : { kind: 'typed', value: text };
}

export function readHeaders(value: unknown): ProviderForm['headers'] {
  return Object.entries(readFields(value)).flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' ? [{ name, value: text }] : [],
  );
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}
