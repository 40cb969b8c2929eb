import type { Endpoint, Model } from '../../src/catalog/model.ts';
import type { Credential } from '../../src/config/settings/origin.ts';
import { Secret } from '../../src/config/settings/secret.ts';
import type { Conversation } from '../../src/wire/conversation.ts';

/** A credential as trusted configuration gives it. */
export function credential(text: string): Credential {
  const source = { kind: 'global', path: '/config/svc.jsonc', trusted: true, status: 'loaded' } as const;
  return { secret: new Secret(text), trusted: true, origin: { source, line: 1, column: 1 } };
}

/** A capable model at an address. */
export function modelAt(baseURL: string, endpoint: Partial<Endpoint> = {}, model: Partial<Model> = {}): Model {
  return {
    ref: 'up/small',
    provider: 'up',
    key: 'small',
    id: 'up-small',
    name: 'Up Small',
    toolCall: true,
    reasoning: true,
    temperature: true,
    attachment: true,
    structuredOutput: true,
    modalities: { input: ['text', 'image', 'pdf', 'audio'], output: ['text'] },
    limit: { context: 128_000, output: 4096 },
    options: {},
    variants: new Map(),
    fim: true,
    source: 'config',
    ...model,
    endpoint: {
      kind: 'openai-compatible',
      format: 'chat-completions',
      baseURL,
      apiKey: credential('sk-test'),
      headers: new Map(),
      timeout: 300_000,
      options: {},
      ...endpoint,
    },
  };
}

/** One user message. */
export function ask(text: string, over: Partial<Conversation> = {}): Conversation {
  const turns = [{ role: 'user' as const, parts: [{ type: 'text' as const, text }] }];
  return { model: 'up/small', system: [], turns, tools: [], sampling: {}, stream: true, ...over };
}
