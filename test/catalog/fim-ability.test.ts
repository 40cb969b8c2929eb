import assert from 'node:assert/strict';
import { findTemplate } from '../../src/catalog/fim-ability.ts';

/** Names as model cards, Ollama, LM Studio, vLLM and file names of llama.cpp have them. */
const FAMILIES: readonly (readonly [name: string, template: string | undefined])[] = [
  ['qwen2.5-coder:1.5b-base', 'qwen'],
  ['Qwen/Qwen3-Coder-30B-A3B-Instruct', 'qwen'],
  ['Qwen3-Coder-Next-UD-Q4_K_XL.gguf', 'qwen'],
  ['qwen3:8b', undefined],
  ['codeqwen:7b-code', 'starcoder'],
  ['CodeQwen1.5-7B', 'starcoder'],
  ['codestral:22b', 'codestral'],
  ['mistralai/codestral-2508', 'codestral'],
  ['codestral-embed-2505', undefined],
  ['mamba-codestral-7B-v0.1', undefined],
  ['open-codestral-mamba', undefined],
  ['deepseek-coder-v2:16b', 'deepseek'],
  ['bigcode/starcoder2-3b', 'starcoder2'],
  ['starcoder:1b', 'starcoder'],
  ['stable-code:3b', 'starcoder'],
  ['ibm-granite/granite-8b-code-base-128k', 'starcoder'],
  ['granite-code:3b', 'starcoder'],
  ['CodeLlama-7b-hf', 'codellama'],
  ['google/codegemma-1.1-2b', 'codegemma'],
  ['ByteDance-Seed/Seed-Coder-8B-Base', 'seed-coder'],
  ['seedcoder-8b', 'seed-coder'],
  ['JetBrains/Mellum-4b-base', 'mellum'],
  ['Mellum2-12B-A2.5B-Base.Q4_K_M', 'mellum'],
  ['granite4:micro-h', 'granite'],
  ['ibm-granite/granite-4.1-8b-base', 'granite'],
  ['granite3.3:8b', 'granite'],
  ['granite3.1-dense:8b', undefined],
  ['granite-embedding:30m', undefined],
  ['zai-org/GLM-4.5-Air', 'glm'],
  ['glm-4.6', 'glm'],
  ['glm-4.5v', undefined],
  ['glm-4v-9b', undefined],
  ['llama3:70b', undefined],
];

describe('fim-ability', () => {
  for (const [name, template] of FAMILIES) {
    it(`findTemplate: ${name} has ${template ?? 'none'}`, () => {
      assert.equal(findTemplate(name), template && `template-${template}`);
    });
  }
});
