import assert from 'node:assert/strict';
import { editDialect } from '../../src/catalog/edit-ability.ts';

describe('formats for next edits by model', () => {
  for (const [kind, id, expected] of [
    ['inception', 'mercury-edit-2', 'inception-edit'],
    ['inception', 'mercury-coder', 'inception-edit'],
    ['openai-compatible', 'mercury-edit-2', undefined],
    ['svc', 'inception/mercury-edit-2', 'inception-edit'],
    ['ollama', 'maternion/sweep-next-edit-1.5B', 'sweep-1'],
    ['llamacpp', 'sweep-next-edit-0.5b.q8_0.gguf', 'sweep-1'],
    ['vllm', 'sweepai/sweep-next-edit-v2-7B', 'sweep-2'],
    ['vllm', 'zed-industries/zeta', 'zeta-1'],
    ['vllm', 'zed-industries/zeta-2', 'zeta-2'],
    ['ollama', 'zeta2:latest', 'zeta-2'],
    ['ollama', 'zeta2.1', 'zeta-2.1'],
    ['lmstudio', 'zed-industries/zeta-2.1', 'zeta-2.1'],
    ['openai', 'gpt-5', undefined],
    ['mistral', 'codestral-latest', undefined],
    ['ollama', 'zetalike', undefined],
    ['ollama', 'my-zeta-chat', undefined],
  ] as const) {
    it(`next-edit format: ${id} at ${kind}: ${expected ?? 'none'}`, () => {
      assert.equal(editDialect({ kind }, undefined, id), expected);
    });
  }

  it('next-edit format: the configured one is used as it is, an unknown one is ignored', () => {
    assert.equal(editDialect({ kind: 'openai' }, 'chat-patch', 'gpt-5'), 'chat-patch');
    assert.equal(editDialect({ kind: 'openai' }, 'nothing', 'gpt-5'), undefined);
  });
});
