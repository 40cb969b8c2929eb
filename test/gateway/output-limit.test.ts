import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/base/json.ts';
import { outputLimit } from '../../src/gateway/dispatch/output-limit.ts';
import type { FormatName } from '../../src/wire/format-name.ts';

const CASES: readonly (readonly [format: FormatName | undefined, body: JsonObject, expected: number | undefined])[] = [
  ['chat-completions', {}, undefined],
  ['chat-completions', { max_tokens: 100 }, 100],
  ['chat-completions', { max_tokens: 6000, max_completion_tokens: 1 }, 6000],
  ['chat-completions', { max_tokens: null, max_completion_tokens: 7, n: 3 }, 21],
  ['chat-completions', { max_output_tokens: 1 }, undefined],
  ['chat-completions', { max_tokens: 1, reasoning: { max_tokens: 6000 } }, 6001],
  ['chat-completions', { max_tokens: 1, reasoning_effort: 'high' }, 1025],
  ['chat-completions', { max_tokens: 8000, reasoning_effort: 'high' }, 8000],
  ['responses', { max_output_tokens: 6000, max_tokens: 1 }, 6000],
  ['messages', { max_tokens: 6000, max_completion_tokens: 1 }, 6000],
  ['messages', { max_tokens: 6000, thinking: { type: 'enabled', budget_tokens: 5000 } }, 6000],
  [undefined, { max_tokens: 60 }, 60],
];

describe('limit of the output', () => {
  for (const [format, body, expected] of CASES) {
    it(`output limit: ${format ?? 'another format'} with ${JSON.stringify(body)} is ${expected}`, () => {
      assert.equal(outputLimit(body, format), expected);
    });
  }
});
