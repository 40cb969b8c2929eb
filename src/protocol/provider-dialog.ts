/** The messages between the provider dialog's page and its host. The page is not trusted: its messages are parsed. */
import {
  type HeaderRow,
  type KeyChoice,
  type ModelRow,
  PROVIDER_APIS,
  type ProviderApi,
  type ProviderForm,
} from '../config/provider-form/provider-form.ts';

export interface ProviderPreset {
  readonly id: string;
  readonly name: string;
  readonly api: ProviderApi;
  readonly baseURL: string;
  readonly fimURL: string;
  readonly fim: string;
  /** A local server. */
  readonly local: boolean;
  /** Default: not for local servers. */
  readonly needsKey?: boolean;
  /** The page on which users make keys. */
  readonly keysURL?: string;
  /** The environment variable that contains the key already. */
  readonly environment?: string;
}

/** A file in which a provider can be saved. */
export interface SaveTarget {
  readonly path: string;
  readonly label: string;
  readonly project: boolean;
}

export interface OfferedModel {
  readonly id: string;
  readonly name: string;
  /** Tokens. */
  readonly contextLength?: number;
}

export interface FoundServer extends ProviderPreset {
  readonly models: number;
}

/** A model that a test asks. */
export interface TestedModel {
  readonly use: 'chat' | 'completion';
  readonly model: string;
  /** The format to try, which the form gets if it works. Absent: that of the form, or the known one of the server. */
  readonly fim?: string;
}

/** The reason of a failure, and an action that may help. */
export interface DialogFailure {
  readonly message: string;
  readonly action?: string;
}

export type ToDialog =
  | {
      readonly type: 'open';
      readonly mode: 'add' | 'edit';
      readonly form: ProviderForm;
      readonly taken: readonly string[];
      readonly targets: readonly SaveTarget[];
      readonly presets: readonly ProviderPreset[];
      /** The origin of the kept key. Absent: there is no key, or it is in the file. */
      readonly keyOrigin?: string;
      /** True if the workspace is not trusted, so that nothing can be saved for a project. */
      readonly restricted?: boolean;
    }
  | {
      readonly type: 'listed';
      readonly request: number;
      readonly models: readonly OfferedModel[];
      /** The base address that returned the list, if it differs from the requested one. */
      readonly baseURL?: string;
    }
  | { readonly type: 'list-failed'; readonly request: number; readonly reason: DialogFailure }
  /** The models that the test asks. */
  | { readonly type: 'testing'; readonly request: number; readonly tests: readonly TestedModel[] }
  | {
      readonly type: 'tested';
      readonly request: number;
      /** Default: chat. */
      readonly use?: TestedModel['use'];
      readonly ok: boolean;
      /** HTTP status of the provider. Absent: there was no response. */
      readonly status?: number;
      readonly milliseconds: number;
      /** The first words of the answer. */
      readonly answer?: string;
      readonly reason?: DialogFailure;
    }
  | { readonly type: 'servers'; readonly servers: readonly FoundServer[] }
  | { readonly type: 'not-saved'; readonly reason: DialogFailure };

export type FromDialog =
  | { readonly type: 'ready' }
  /** The host keeps the draft while the page is closed. */
  | { readonly type: 'draft'; readonly form: ProviderForm }
  | { readonly type: 'list'; readonly request: number; readonly form: ProviderForm }
  | { readonly type: 'test'; readonly request: number; readonly form: ProviderForm }
  | { readonly type: 'stop' }
  | { readonly type: 'look-for-servers' }
  | { readonly type: 'save'; readonly form: ProviderForm }
  | { readonly type: 'delete' }
  | { readonly type: 'open-file' }
  | { readonly type: 'close' };

/** Parses a message of the page. Returns `undefined` if it is invalid. */
export function parseFromDialog(value: unknown): FromDialog | undefined {
  if (!isRecord(value)) return undefined;
  const { type } = value;
  switch (type) {
    case 'ready':
    case 'stop':
    case 'look-for-servers':
    case 'delete':
    case 'open-file':
    case 'close':
      return { type };
    case 'draft':
    case 'save': {
      const form = parseForm(value.form);
      return form && { type, form };
    }
    case 'list': {
      const form = parseForm(value.form);
      return form && isCount(value.request) ? { type, request: value.request, form } : undefined;
    }
    case 'test': {
      const form = parseForm(value.form);
      const { request } = value;
      return form && isCount(request) ? { type, request, form } : undefined;
    }
    default:
      return undefined;
  }
}

/** More rows than a user creates, but few enough not to block the editor. */
const MAX_ROWS = 5000;
const LONGEST = 8192;

function parseForm(value: unknown): ProviderForm | undefined {
  if (!isRecord(value)) return undefined;
  const { id, name, baseURL, fimURL, fim, edit, target } = value;
  const api = PROVIDER_APIS.find((each) => each === value.api);
  const key = parseKey(value.key);
  const models = parseRows(value.models, parseModel);
  const headers = parseRows(value.headers, parseHeader);
  if (!(isText(id) && isText(name) && isText(baseURL) && isText(target))) return undefined;
  if (!(isText(fimURL) && isText(fim) && isText(edit))) return undefined;
  if (!(api && key && models && headers)) return undefined;
  return { id, name, api, baseURL, key, models, headers, fimURL, fim, edit, target };
}

function parseKey(value: unknown): KeyChoice | undefined {
  if (!isRecord(value)) return undefined;
  if (value.kind === 'none' || value.kind === 'kept') return { kind: value.kind };
  if (value.kind === 'typed' && isText(value.value)) return { kind: 'typed', value: value.value };
  if (value.kind === 'env' && isText(value.name)) return { kind: 'env', name: value.name };
  return undefined;
}

function parseModel(value: unknown): ModelRow | undefined {
  if (!isRecord(value) || !isText(value.id) || !isText(value.name)) return undefined;
  return { id: value.id, name: value.name, ...(isText(value.was) ? { was: value.was } : {}) };
}

function parseHeader(value: unknown): HeaderRow | undefined {
  if (!isRecord(value) || !isText(value.name) || !isText(value.value)) return undefined;
  return { name: value.name, value: value.value, ...(value.kept === true ? { kept: true } : {}) };
}

function parseRows<T>(value: unknown, parse: (row: unknown) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_ROWS) return undefined;
  const rows = value.map(parse).filter((row) => row !== undefined);
  return rows.length === value.length ? rows : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
