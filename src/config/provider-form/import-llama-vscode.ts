import { nonEmptyString } from '../../base/json.ts';
import { withoutTrailing } from '../../base/text.ts';
import { add, asList, type Fields, type Imported, type ImportedProvider, readFields } from './import-fields.ts';
import { EMPTY_FORM, proposedId } from './provider-form.ts';

/**
 * llama.vscode (its settings in VS Code's settings.json): environments (`envs_list`) with a model for each task, lists of
 * models, and, in earlier versions, one endpoint for each task. An endpoint is a llama.cpp server without `/v1`.
 */
export function fromLlamaVscode(settings: Fields): Imported {
  const of = (name: string) => settings[`llama-vscode.${name}`];
  const providers = new Map<string, ImportedProvider>();
  const notes: string[] = [];
  for (const entry of asList(of('envs_list') ?? [])) {
    const environment = readFields(entry);
    addEntry(providers, readFields(environment.completion), 'completion');
    addEntry(providers, readFields(environment.chat), 'chat');
    addEntry(providers, readFields(environment.tools), 'chat');
    if (environment.embeddings !== undefined) {
      notes.push(`${nonEmptyString(environment.name) ?? 'An environment'}: its embeddings server is not imported.`);
    }
  }
  for (const entry of asList(of('completion_models_list') ?? [])) addEntry(providers, readFields(entry), 'completion');
  for (const list of ['chat_models_list', 'tools_models_list'])
    for (const entry of asList(of(list) ?? [])) addEntry(providers, readFields(entry), 'chat');
  addEntry(providers, { endpoint: of('endpoint') }, 'completion');
  addEntry(providers, { endpoint: of('endpoint_chat') }, 'chat');
  return { providers: [...providers.values()], notes };
}

function addEntry(providers: Map<string, ImportedProvider>, entry: Fields, use: 'completion' | 'chat'): void {
  const endpoint = nonEmptyString(entry.endpoint);
  if (endpoint === undefined) return;
  const server = withoutTrailing(endpoint, '/');
  const model = nonEmptyString(entry.aiModel);
  const host = URL.canParse(server) ? new URL(server).host : '';
  const own = /^https?:\/\/(localhost|127\.|\[::1\]|192\.168\.|10\.)/.test(server);
  // Only llama.cpp has this dialect. Other services of the list are used for chat.
  const completes = own && use === 'completion';
  add(providers, {
    ...EMPTY_FORM,
    id: proposedId(own ? `llama-${host}` : host) || 'imported',
    name: own ? `llama.cpp (${host})` : host,
    baseURL: /\/v1$/.test(server) ? server : `${server}/v1`,
    ...(completes ? { fimURL: server.replace(/\/v1$/, ''), fim: 'llamacpp-infill' } : {}),
    models: model === undefined ? [] : [{ id: model, name: '' }],
    ...(model === undefined ? {} : { uses: { [use]: model } }),
  });
}
