import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ProjectFolder } from '../config/project-folder.ts';
import { svc } from './run-svc.ts';

const FILES = path.join(import.meta.dirname, 'published');

interface Read {
  readonly code: number;
  /** The selected model. */
  readonly model: string;
  /** Each line about the file without its path: `severity line key: message`. */
  readonly lines: readonly string[];
}

/** Files with the shapes of those that users of opencode and Kilo published, and how a reader is told about them. */
const EXPECTED: Readonly<Record<string, Read>> = {
  'azure-deployments.jsonc': {
    code: 0,
    model: 'azure/claude-sonnet-5-5',
    lines: [],
  },
  'clouds-and-packages.jsonc': {
    code: 1,
    model: 'gemini/gemini-3.5-flash',
    lines: [
      'error 20 provider.gemini.options.apiKey: {file:~/.keys/gemini} /home/.keys/gemini does not exist, so this value is ignored.',
      'warning 4 provider.amazon-bedrock.options.region: This option of other tools has no effect in Svc.',
      'warning 4 provider.amazon-bedrock.options.profile: This option of other tools has no effect in Svc.',
      'warning 9 provider.google-vertex.options.location: This option of other tools has no effect in Svc.',
      'warning 3 provider.amazon-bedrock: Svc does not support the format of `@ai-sdk/amazon-bedrock`. If the provider has an OpenAI-compatible address, set `npm` to `@ai-sdk/openai-compatible` and `options.baseURL` to that address.',
      'warning 8 provider.google-vertex.npm: Svc does not support the format of `@ai-sdk/google-vertex`. If the provider has an OpenAI-compatible address, set `npm` to `@ai-sdk/openai-compatible` and `options.baseURL` to that address.',
      'warning 12 provider.github-copilot: The address of `github-copilot` is not known. Set `options.baseURL`.',
      'warning 14 provider.ollama.npm: Svc does not support the format of `ollama-ai-provider-v2`. If the provider has an OpenAI-compatible address, set `npm` to `@ai-sdk/openai-compatible` and `options.baseURL` to that address.',
    ],
  },
  'kilo.jsonc': {
    code: 0,
    model: 'kilo/anthropic/claude-sonnet-5.5',
    lines: [
      'warning 4 provider.kilo.options.kilocodeToken: This option of other tools has no effect in Svc.',
      'warning 4 provider.kilo.options.kilocodeOrganizationId: This option of other tools has no effect in Svc.',
      'note 13 Settings of other tools have no effect in Svc: `keybinds`, `tui`, `lsp`, `compaction`, `snapshot`, `command`, `mode`, `tools`, `experimental`, `default_agent`, `watcher`, `skills`, `server`, `username`, `layout`, `logLevel`, `enterprise`.',
    ],
  },
  'local-server.jsonc': {
    code: 0,
    model: 'lmstudio/qwen3-coder-30b',
    lines: [
      'note 3 Settings of other tools have no effect in Svc: `theme`, `autoupdate`, `share`, `small_model`, `agent`, `mcp`, `permission`, `formatter`, `instructions`, `plugin`, `plugins`.',
      'warning 18 provider.lmstudio.models.qwen3-coder-30b.toolsEnabled: This key is not known and has no effect.',
    ],
  },
  'misplaced-addresses.jsonc': {
    code: 1,
    model: 'stepfun/step-5-preview',
    lines: [
      'error 4 provider.xai.options.baseUrl: This key is not known. Did you mean `baseURL`? Until then, nothing is sent to this provider.',
      'error 5 provider.corp.baseURL: This key is not known. Write `baseURL` in `options`. Until then, nothing is sent to this provider.',
      'error 5 provider.corp.apiKey: This key is not known. Write `apiKey` in `options`.',
    ],
  },
  'models-dev-fields.jsonc': {
    code: 0,
    model: 'openai/gpt-6.1-sol',
    lines: [
      'warning 6 provider.deepseek.options.name: This option of other tools has no effect in Svc.',
      'note 11 Settings of other tools have no effect in Svc: `family`, `release_date`, `last_updated`, `knowledge`, `open_weights`, `status`, `experimental`, `interleaved`, `structured_output`.',
    ],
  },
  'options-and-variants.jsonc': {
    code: 0,
    model: 'openai/gpt-6.1-sol',
    lines: [],
  },
  'restricted-providers.jsonc': {
    code: 0,
    model: 'local/m',
    lines: [],
  },
  'routers.jsonc': {
    code: 0,
    model: 'litellm/claude',
    lines: [
      'warning 15 provider.litellm.options.headers.X-Team: The environment variable "TEAM" is not set, so this value is ignored.',
      'warning 17 provider.litellm.options.litellmProxy: This option of other tools has no effect in Svc.',
    ],
  },
  'values-that-do-not-fit.jsonc': {
    code: 1,
    model: 'zai/glm-5.3-flashx',
    lines: [
      'error 3 model: This must be a model as <provider_id>/<model_id>, and is "GLM-4.7".',
      'error 6 provider.zai.api: This must be an address that starts with http:// or https:// and contains no user name or password, and is text that does not fit.',
      'error 7 provider.zai.options.timeout: This must be a number of milliseconds above 0, or false, and is text that does not fit. Write 60000 without quotes.',
      'error 8 provider.zai.models.GLM-4.7.tool_call: This must be true or false, and is text that does not fit. Write true without quotes.',
      'error 8 provider.zai.models.GLM-4.7.limit.context: This must be a number of tokens, 0 or more, and is text that does not fit. Write 200000 without quotes.',
      'error 3 model: `GLM-4.7` has no provider. Did you mean `zai/glm-4.7`?',
    ],
  },
  'wrong-sections.jsonc': {
    code: 1,
    model: 'openai/gpt-6.1-sol',
    lines: [
      'warning 2 providers: This key is not known and has no effect. Did you mean `provider`?',
      'error 2 providers.local: This key is not known. Write it in `provider`. Until then, nothing is sent to this provider.',
      'warning 3 models: This key is not known and has no effect. Write it in `provider.<id>`.',
      'warning 4 providerOptions: This key is not known and has no effect. Did you mean `provider`?',
    ],
  },
};

/** Reads a file of `published` as the user's own. */
async function read(name: string): Promise<Read> {
  using folder = new ProjectFolder();
  Object.assign(folder.env, { OPENAI_API_KEY: 'sk-env', LITELLM_KEY: 'k', AZURE_API_KEY: 'a' });
  const file = folder.global(readFileSync(path.join(FILES, name), 'utf8'));
  const { code, out, err } = await svc(folder, ['config']);
  assert.ok(!`${out}${err}`.includes('CANARY'), 'A key is shown.');
  const lines = err.trim() === '' ? [] : err.trim().split('\n');
  const [, model = ''] = /^Model: (.*?)(?: {2}.*)?$/m.exec(out) ?? [];
  return {
    code,
    model,
    lines: lines.map((line) =>
      line.replaceAll(folder.root, '').replace(new RegExp(`: ${file.slice(folder.root.length)}:(\\d+):\\d+:`), ' $1'),
    ),
  };
}

describe('configuration files with the shapes of published ones', () => {
  for (const [name, expected] of Object.entries(EXPECTED)) {
    it(`published files: ${name}: svc config tells what is wrong, once, and nothing else`, async () => {
      assert.deepEqual(await read(name), expected);
    });
  }

  it('published files: each is tested', () =>
    assert.deepEqual(readdirSync(FILES).sort(), Object.keys(EXPECTED).sort()));
});
