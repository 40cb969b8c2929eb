import type { JsonObject } from '../../src/base/json.ts';

/** One step of a history, the same for each client format. */
export type Step =
  | { readonly user: string }
  | { readonly said: string }
  | { readonly call: string; readonly input?: string }
  | { readonly result: string; readonly text: string };

interface Client {
  readonly path: string;
  /** A request without a model, with one tool `f`. */
  readonly request: (steps: readonly Step[]) => JsonObject;
}

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } };

/** The requests of clients of the three formats. */
export const CLIENTS = {
  chat: {
    path: '/v1/chat/completions',
    request: (steps) => ({
      tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }],
      messages: steps.map((step) => {
        if ('user' in step) return { role: 'user', content: step.user };
        if ('said' in step) return { role: 'assistant', content: step.said };
        if ('result' in step) return { role: 'tool', tool_call_id: step.result, content: step.text };
        const call = { id: step.call, type: 'function', function: { name: 'f', arguments: step.input ?? '{}' } };
        return { role: 'assistant', content: null, tool_calls: [call] };
      }),
    }),
  },
  messages: {
    path: '/v1/messages',
    request: (steps) => ({
      max_tokens: 1000,
      tools: [{ name: 'f', input_schema: SCHEMA }],
      messages: steps.map((step) => {
        if ('user' in step) return { role: 'user', content: step.user };
        if ('said' in step) return { role: 'assistant', content: step.said };
        if ('result' in step) {
          return { role: 'user', content: [{ type: 'tool_result', tool_use_id: step.result, content: step.text }] };
        }
        const input = JSON.parse(step.input ?? '{}');
        return { role: 'assistant', content: [{ type: 'tool_use', id: step.call, name: 'f', input }] };
      }),
    }),
  },
  responses: {
    path: '/v1/responses',
    request: (steps) => ({
      tools: [{ type: 'function', name: 'f', parameters: SCHEMA }],
      input: steps.map((step) => {
        if ('user' in step) return { role: 'user', content: step.user };
        if ('said' in step) return { role: 'assistant', content: step.said };
        if ('result' in step) return { type: 'function_call_output', call_id: step.result, output: step.text };
        return { type: 'function_call', call_id: step.call, name: 'f', arguments: step.input ?? '{}' };
      }),
    }),
  },
} satisfies Readonly<Record<string, Client>>;
