/** Test values for the rows of the table of losses. */
import assert from 'node:assert/strict';
import type { FormatName } from '../../src/wire/format-name.ts';

export type Body = Readonly<Record<string, unknown>>;

/** A request, or an answer, of one format that shows what a row of the table is about. */
export interface Shown {
  readonly from: FormatName;
  /** Absent: every format of the row. */
  readonly to?: readonly FormatName[];
  readonly said: Body;
  /** For `dropped`: the same without the lost part; both must be written alike. */
  readonly unsaid?: Body;
  /** For `refused`: the field that the error names. */
  readonly param?: string;
  /** For `changed`: checks the written value. */
  readonly becomes?: (written: Body, to: FormatName) => void;
  /** It is an answer. */
  readonly answer?: true;
  /** It is kept when it is written in its own format. */
  readonly own?: true;
}

export const user = { role: 'user', content: 'q' };
export const chat = (more: Body): Body => ({ messages: [user], ...more });
export const responses = (more: Body): Body => ({ input: [user], ...more });
export const messages = (more: Body): Body => ({ max_tokens: 4096, messages: [user], ...more });
const BASE = { 'chat-completions': chat, responses, messages } as const;

/** A field on top of a plain request, which is dropped. */
export function dropped(from: FormatName, ...fields: readonly Body[]): Shown[] {
  return fields.map((field) => ({ from, said: BASE[from](field), unsaid: BASE[from]({}) }));
}

/** A field on top of a plain request, which is refused by its name. */
export function refused(from: FormatName, ...fields: readonly Body[]): Shown[] {
  return fields.map((field) => ({ from, said: BASE[from](field), param: Object.keys(field)[0] ?? '' }));
}

export function changed(from: FormatName, field: Body, expected: Body): Shown {
  return {
    from,
    said: BASE[from](field),
    becomes: (written) => {
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(written[name], value);
    },
  };
}

/** The parts of a user message in each format. */
export const plainRequest = {
  'chat-completions': (...content: Body[]) => chat({ messages: [{ role: 'user', content }] }),
  responses: (...content: Body[]) => responses({ input: [{ role: 'user', content }] }),
  messages: (...content: Body[]) => messages({ messages: [{ role: 'user', content }] }),
} as const;
export const text = (words: string) => ({ type: 'text', text: words });
export const inputText = (words: string) => ({ type: 'input_text', text: words });
export const picture = (more: Body) => ({ type: 'input_image', image_url: 'https://x.test/a.png', ...more });

export const chatTool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
export const flatTool = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };
export const toolUse = { type: 'tool_use', id: 'c', name: 'f', input: {} };
export const functionCall = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
export const afterCall = (content: Body) =>
  messages({ messages: [user, { role: 'assistant', content: [toolUse] }, content] });
export const toolResult = (more: Body) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'c', ...more }],
});
export const outputOf = (output: unknown) =>
  responses({ input: [user, functionCall, { type: 'function_call_output', call_id: 'c', output }] });
