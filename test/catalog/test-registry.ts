import { type CatalogData, EMPTY_CATALOG } from '../../src/catalog/public/catalog.ts';
import type { RegistryInput } from '../../src/catalog/registry/provider-builder.ts';
import { buildRegistry, type Registry } from '../../src/catalog/registry/registry.ts';
import { loadSettings } from '../../src/config/load/load.ts';
import type { EditorSettings } from '../../src/config/load/sources.ts';
import { Secret } from '../../src/config/settings/secret.ts';

/** Settings from memory: `mine` is trusted, `project` comes from a workspace. */
export interface TestRegistryOptions extends Partial<Omit<RegistryInput, 'settings' | 'env'>> {
  readonly mine?: Readonly<Record<string, unknown>>;
  readonly project?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly trustedWorkspace?: boolean;
}

export async function loadTestSettings({ mine = {}, project, env = {}, trustedWorkspace = true }: TestRegistryOptions) {
  const editor: EditorSettings = project === undefined ? { user: mine } : { user: mine, workspace: project };
  return loadSettings({
    env: { ...env, SVC_MANAGED_CONFIG_DIR: '/nowhere' },
    platform: 'linux',
    home: '/nowhere',
    trustedWorkspace,
    editor,
  });
}

export async function buildTestRegistry(given: TestRegistryOptions): Promise<Registry> {
  const { mine: _mine, project: _project, env = {}, trustedWorkspace: _trusted, ...rest } = given;
  return buildRegistry({ catalog: CATALOG, ...rest, settings: await loadTestSettings(given), env });
}

export const NO_CATALOG: CatalogData = EMPTY_CATALOG;

/** A catalog of a few rows in its stored form. Bits: 1 tools, 2 reasoning, 4 temperature, 8 attachment, 32 hidden; text in and out. */
const TEXT = (1 << 8) | (1 << 13);
export const CATALOG: CatalogData = {
  source: 'test',
  licence: 'none',
  date: '2026-01-01',
  providers: {
    openai: {
      name: 'OpenAI',
      npm: '@ai-sdk/openai',
      env: ['OPENAI_API_KEY'],
      models: {
        'gpt-5': [
          'GPT-5',
          TEXT | 1 | 2 | 8 | (2 << 8),
          400_000,
          128_000,
          272_000,
          [1.25, 10, 0.125],
          '2025-08-07',
          'low,high',
        ],
        'gpt-4o': ['GPT-4o', TEXT | 1 | 4, 128_000, 16_384, 0, [2.5, 10], '2024-08-06'],
        'gpt-3': ['GPT-3', TEXT | 32, 4_096, 1_024],
      },
    },
    anthropic: {
      name: 'Anthropic',
      npm: '@ai-sdk/anthropic',
      env: ['ANTHROPIC_API_KEY'],
      models: {
        'claude-sonnet-4-5': ['Claude Sonnet 4.5', TEXT | 1 | 2, 200_000, 64_000, 0, [3, 15], '2025-09-29', '#32000'],
      },
    },
    azure: {
      name: 'Azure',
      npm: '@ai-sdk/azure',
      env: ['AZURE_API_KEY'],
      models: {
        'gpt-5': ['GPT-5', TEXT | 1, 400_000, 128_000, 272_000],
        'gpt-5-codex': ['Codex', TEXT | 1, 400_000, 128_000],
      },
    },
    mistral: {
      name: 'Mistral',
      npm: '@ai-sdk/mistral',
      env: ['MISTRAL_API_KEY'],
      models: {
        'codestral-latest': ['Codestral', TEXT | 1 | 4, 256_000, 4_096, 0, [0.3, 0.9], '2025-07-01'],
        'mistral-large-latest': ['Mistral Large', TEXT | 1 | 4, 128_000, 16_384, 0, [2, 6], '2025-06-01'],
      },
    },
    bedrock: { name: 'Bedrock', npm: '@ai-sdk/amazon-bedrock', env: ['AWS_KEY'], models: { x: ['X', TEXT, 1, 1] } },
    account: {
      name: 'Account',
      npm: '@ai-sdk/openai-compatible',
      api: 'https://api.example.com/${ACCOUNT_ID}/v1',
      env: ['ACCOUNT_KEY'],
      models: { m: ['M', TEXT, 1, 1] },
    },
  },
};

export const secret = (text: string) => new Secret(text);
