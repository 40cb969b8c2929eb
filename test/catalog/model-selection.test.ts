import assert from 'node:assert/strict';
import { type SelectionRequest, selectCompletionModel, selectModel } from '../../src/catalog/model-selection.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { buildTestRegistry, loadTestSettings, type TestRegistryOptions } from './test-registry.ts';

const base: TestRegistryOptions = {
  mine: { provider: { openai: { blacklist: ['gpt-4o'] }, anthropic: {}, mistral: {} } },
};

async function ask(over: Partial<SelectionRequest> = {}, given: TestRegistryOptions = base): Promise<SelectionRequest> {
  return { settings: await loadTestSettings(given), registry: await buildTestRegistry(given), ...over };
}

const withModel = (model: string, key = 'model'): TestRegistryOptions => ({ mine: { ...base.mine, [key]: model } });

describe('selectModel', () => {
  it('selectModel: flag overrides configuration, then last used, then priority', async () => {
    const given = withModel('openai/gpt-5');
    const lastUsed = ['mistral/codestral-latest'];
    const flagged = selectModel(await ask({ flag: 'mistral/mistral-large-latest', lastUsed }, given));
    assert.deepEqual([flagged.model?.ref, flagged.from], ['mistral/mistral-large-latest', 'flag']);
    const configured = selectModel(await ask({ lastUsed }, given));
    assert.deepEqual([configured.model?.ref, configured.from], ['openai/gpt-5', 'config']);
    const used = selectModel(await ask({ lastUsed }));
    assert.deepEqual([used.model?.ref, used.from], ['mistral/codestral-latest', 'last-used']);
    const first = selectModel(await ask());
    assert.deepEqual([first.model?.ref, first.from], ['anthropic/claude-sonnet-4-5', 'priority']);
  });

  it('selectModel: rejects an unknown flag with suggestions', async () => {
    const question = await ask({ flag: 'openai/gtp-5' });
    assert.throws(
      () => selectModel(question),
      (error) => {
        assert.ok(error instanceof SvcError);
        assert.equal(error.errorType, 'model_not_found');
        assert.match(error.message, /Did you mean openai\/gpt-5/);
        return true;
      },
    );
  });

  it('selectModel: the error for an empty reference explains its form', async () => {
    const question = await ask({ flag: '' });
    assert.throws(() => selectModel(question), /No model is specified\. Use the form <provider_id>\/<model_id>/);
  });

  it('selectModel: suggests the model of another provider if only the provider is wrong', async () => {
    const question = await ask({ flag: 'nowhere/gpt-5' });
    assert.throws(() => selectModel(question), /openai\/gpt-5/);
  });

  it('selectModel: the error or warning for an unknown configured model contains file and line', async () => {
    const given = withModel('openai/gone');
    const strict = await ask({ unknownConfigured: 'error' }, given);
    assert.throws(() => selectModel(strict), /User Settings, line 1/);
    const soft = selectModel(await ask({ lastUsed: ['openai/gpt-5'] }, given));
    assert.equal(soft.model?.ref, 'openai/gpt-5');
    assert.match(soft.warnings[0]?.message ?? '', /openai\/gone.*User Settings, line 1/);
  });

  it('selectModel: skips last used models that are missing, hidden or not callable', async () => {
    const given: TestRegistryOptions = {
      mine: { provider: { openai: { blacklist: ['gpt-4o'] }, p: { models: { m: {} } }, mistral: {} } },
    };
    const lastUsed = ['gone/x', 'openai/gpt-4o', 'p/m', 'nonsense', 'openai/gpt-5'];
    assert.equal(selectModel(await ask({ lastUsed }, given)).model?.ref, 'openai/gpt-5');
  });

  it('selectCompletionModel: selects only models that can complete code', async () => {
    assert.equal(
      selectCompletionModel(await ask({ lastUsed: ['openai/gpt-5'] })).model?.ref,
      'mistral/codestral-latest',
    );
    const wrong = selectCompletionModel(await ask({}, withModel('openai/gpt-5', 'completionModel')));
    assert.equal(wrong.model?.ref, 'mistral/codestral-latest');
    assert.match(wrong.warnings[0]?.message ?? '', /cannot be used for this/);
    const flag = await ask({ flag: 'openai/gpt-5' });
    assert.throws(() => selectCompletionModel(flag), /cannot be used for this/);
  });

  it('selectCompletionModel: prefers code models in all providers to chat and embedding models', async () => {
    const local = (...ids: string[]) => ({
      fim: 'ollama-generate',
      options: { baseURL: 'http://127.0.0.1:1' },
      models: Object.fromEntries(ids.map((id) => [id, {}])),
    });
    const ids = ['all-minilm-embed', 'llama3.1-instruct', 'plain', 'granite-code'];
    const chosen = async (provider: Record<string, unknown>) =>
      selectCompletionModel(await ask({}, { mine: { provider } })).model?.ref;
    assert.equal(await chosen({ a: local(...ids) }), 'a/granite-code');
    assert.equal(await chosen({ a: local(...ids.slice(0, 3)) }), 'a/plain');
    assert.equal(await chosen({ a: local(...ids.slice(0, 2)) }), 'a/llama3.1-instruct');
    assert.equal(await chosen({ a: local('plain'), b: local('granite-code') }), 'b/granite-code');
  });

  it('selectModel: prefers a model that answers to a base model, which only continues code', async () => {
    const chosen = async (...ids: string[]) => {
      const models = Object.fromEntries(ids.map((id) => [id, {}]));
      const provider = { a: { options: { baseURL: 'http://127.0.0.1:1' }, models } };
      return selectModel(await ask({}, { mine: { provider } })).model?.key;
    };
    assert.equal(await chosen('qwen2.5-coder:1.5b-base', 'qwen3:8b'), 'qwen3:8b');
    assert.equal(await chosen('qwen2.5-coder:7b-base-q4_K_M', 'tiny'), 'tiny');
    assert.equal(await chosen('deepseek-coder-1.3b-base', 'starcoder2:3b', 'tiny'), 'tiny');
    assert.equal(await chosen('qwen2.5-coder:1.5b-base'), 'qwen2.5-coder:1.5b-base');
    assert.equal(await chosen('starcoder2-15b-instruct', 'tiny'), 'starcoder2-15b-instruct');
    // Open coding models answer too, and are preferred to models of an unknown kind.
    assert.equal(await chosen('large-chat', 'qwen2.5-coder-7b'), 'qwen2.5-coder-7b');
    assert.equal(await chosen('database-chat', 'zeta'), 'database-chat');
  });

  it('selectModel: returns neither a model nor warnings for an empty registry', async () => {
    assert.deepEqual(selectModel(await ask({}, { mine: {} })), { warnings: [] });
  });

  it("selectModel: prefers the user's providers to a project's, and real ones to simulated ones", async () => {
    const options = { baseURL: 'http://127.0.0.1:1' };
    const simulated = {
      provider: {
        a: { options: { ...options, simulated: true }, models: { 'claude-sonnet': {} } },
        b: { options, models: { plain: {} } },
      },
    };
    assert.equal(selectModel(await ask({}, { mine: simulated })).model?.ref, 'b/plain');
    const brought: TestRegistryOptions = {
      mine: { provider: { b: { options, models: { plain: {} } } } },
      project: { provider: { a: { options, models: { 'claude-sonnet': {} } } } },
    };
    assert.equal(selectModel(await ask({}, brought)).model?.ref, 'b/plain');
  });

  it('selectModel: the result does not depend on the order of the catalog', async () => {
    const given = (models: string[]): TestRegistryOptions => ({
      mine: {
        provider: {
          p: { options: { baseURL: 'http://127.0.0.1:1' }, models: Object.fromEntries(models.map((key) => [key, {}])) },
        },
      },
    });
    const one = selectModel(await ask({}, given(['b', 'a', 'c']))).model?.ref;
    assert.equal(selectModel(await ask({}, given(['c', 'b', 'a']))).model?.ref, one);
  });
});
