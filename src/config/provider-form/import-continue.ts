import { nonEmptyString, ownEntry } from '../../base/json.ts';
import {
  add,
  asList,
  BASES,
  type Fields,
  type Imported,
  type ImportedProvider,
  type ImportedUses,
  local,
  readFields,
  readHeaders,
  readKeyChoice,
} from './import-fields.ts';
import { EMPTY_FORM, proposedId } from './provider-form.ts';

/**
 * Continue (docs.continue.dev, "config.yaml reference" and "config.json reference"): a list of models, each with its
 * provider. In config.yaml, `roles` has the uses of a model; config.json has a list for each role.
 */
export function fromContinue(config: Fields): Imported {
  const notes: string[] = [];
  const providers = new Map<string, ImportedProvider>();
  const completion = asList(config.tabAutocompleteModel ?? []).map((entry) => ({
    ...readFields(entry),
    roles: ['autocomplete'],
  }));
  for (const entry of [...asList(config.models), ...completion]) addModel(readFields(entry), providers, notes);
  return { providers: [...providers.values()], notes: [...notes, ...otherParts(config)] };
}

function addModel(entry: Fields, providers: Map<string, ImportedProvider>, notes: string[]): void {
  const { provider, model, apiKey, apiBase, requestOptions } = entry;
  const name = nonEmptyString(entry.name) ?? nonEmptyString(entry.title);
  const vendorName = nonEmptyString(provider);
  const shown = name ?? vendorName ?? nonEmptyString(entry.uses) ?? 'A model';
  const roles = readRoles(entry.roles);
  if (!roles.some((role) => USED_ROLES.includes(role))) {
    notes.push(`${shown}: models for ${roles.join(', ')} are not used in the editor.`);
    return;
  }
  const vendor = ownEntry(BASES, vendorName ?? '');
  const baseURL = nonEmptyString(apiBase) ?? vendor?.baseURL;
  const id = nonEmptyString(model);
  if (baseURL === undefined || id === undefined || id === 'AUTODETECT') {
    const where = entry.uses === undefined ? 'in the file' : 'in the file, but on Continue’s hub';
    notes.push(`${shown}: its address or its model is not ${where}.`);
    return;
  }
  add(providers, {
    ...EMPTY_FORM,
    id: vendor?.id ?? (proposedId(vendorName ?? '') || 'imported'),
    name: vendor === undefined || apiBase !== undefined ? (vendorName ?? '') : '',
    api: vendor?.api ?? 'chat-completions',
    baseURL: local(vendor?.id, baseURL),
    key: readKeyChoice(apiKey),
    models: [{ id, name: name ?? '' }],
    headers: readHeaders(readFields(requestOptions).headers),
    ...usesOf(roles, id),
  });
}

/** The default of config.yaml. Svc uses the chat model for these tasks, except for autocomplete. */
const DEFAULT_ROLES = ['chat', 'edit', 'apply', 'summarize'];
const USED_ROLES = [...DEFAULT_ROLES, 'autocomplete'];

function readRoles(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return DEFAULT_ROLES;
  return value.filter((role) => typeof role === 'string');
}

function usesOf(roles: readonly string[], model: string): { readonly uses?: ImportedUses } {
  const chat = roles.includes('chat') ? { chat: model } : {};
  const completion = roles.includes('autocomplete') ? { completion: model } : {};
  return roles.length === 0 ? {} : { uses: { ...chat, ...completion } };
}

/** Parts that Svc has in another place. */
function otherParts(config: Fields): readonly string[] {
  const rules = asList(config.rules ?? config.systemMessage ?? []);
  const servers = asList(config.mcpServers ?? []);
  const names = rules.flatMap((rule) => nonEmptyString(readFields(rule).name) ?? []);
  const named = names.length === 0 ? '' : ` (${names.join(', ')})`;
  return [
    ...(rules.length === 0 ? [] : [`Rules${named} are not imported. Copy them into AGENTS.md.`]),
    ...(servers.length === 0 ? [] : ['MCP servers are not imported. Add them to VS Code’s mcp.json.']),
  ];
}
