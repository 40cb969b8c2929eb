import { DEFAULT_LISTEN, DEFAULT_NPM } from '../config/settings/defaults.ts';
import type { FimDialect } from '../wire/fim/fim-request.ts';
import type { FormatName } from '../wire/format-name.ts';
import type { ProviderKind } from './model.ts';

/** Where a gateway of this machine is by default. */
const GATEWAY = `http://${DEFAULT_LISTEN.host}:${DEFAULT_LISTEN.port}`;

/** Vendor data that the public catalog does not have, from the vendors' documentation. */
export interface Vendor {
  readonly name?: string;
  readonly kind?: ProviderKind;
  /** Base address for chat, if the catalog has none. */
  readonly base?: string;
  /** The address and dialect for code completion. */
  readonly fim?: { readonly url: string; readonly dialect: FimDialect };
  /** Only for vendors that are not in the catalog. */
  readonly npm?: string;
  readonly env?: readonly string[];
  /** The page on which users make keys. */
  readonly keys?: string;
  /** True for a local server that needs a key. */
  readonly needsKey?: true;
  /** A local server of the user. Needs no key, and lists its loaded models. */
  readonly local?: true;
  /** The provider in the catalog whose models it offers. */
  readonly catalog?: string;
}

/** By provider id. */
export const VENDORS: ReadonlyMap<string, Vendor> = new Map<string, Vendor>([
  ['openai', { base: 'https://api.openai.com/v1', keys: 'https://platform.openai.com/api-keys' }],
  ['anthropic', { base: 'https://api.anthropic.com/v1', keys: 'https://console.anthropic.com/settings/keys' }],
  [
    'mistral',
    {
      kind: 'mistral',
      base: 'https://api.mistral.ai/v1',
      keys: 'https://console.mistral.ai/api-keys',
      // docs.mistral.ai, "Fill-in-the-middle": a key for one of the two addresses is not valid for the other.
      fim: { url: 'https://api.mistral.ai/v1/fim', dialect: 'mistral' },
    },
  ],
  [
    'codestral',
    {
      name: 'Codestral',
      kind: 'mistral',
      base: 'https://codestral.mistral.ai/v1',
      keys: 'https://console.mistral.ai/codestral',
      fim: { url: 'https://codestral.mistral.ai/v1/fim', dialect: 'mistral' },
      npm: '@ai-sdk/mistral',
      env: ['CODESTRAL_API_KEY'],
      catalog: 'mistral',
    },
  ],
  [
    'inception',
    {
      kind: 'inception',
      base: 'https://api.inceptionlabs.ai/v1',
      keys: 'https://platform.inceptionlabs.ai/dashboard/api-keys',
      fim: { url: 'https://api.inceptionlabs.ai/v1/fim', dialect: 'inception' },
    },
  ],
  [
    'deepseek',
    {
      kind: 'deepseek',
      base: 'https://api.deepseek.com',
      keys: 'https://platform.deepseek.com/api_keys',
      // api-docs.deepseek.com, "FIM completion (beta)".
      fim: { url: 'https://api.deepseek.com/beta', dialect: 'deepseek' },
    },
  ],
  [
    'openrouter',
    { kind: 'openrouter', base: 'https://openrouter.ai/api/v1', keys: 'https://openrouter.ai/settings/keys' },
  ],
  ['kilo', { fim: { url: 'https://api.kilo.ai/api/fim', dialect: 'svc' } }],
  // ai.google.dev, "OpenAI compatibility".
  [
    'google',
    { base: 'https://generativelanguage.googleapis.com/v1beta/openai', keys: 'https://aistudio.google.com/apikey' },
  ],
  ['groq', { base: 'https://api.groq.com/openai/v1', keys: 'https://console.groq.com/keys' }],
  ['xai', { base: 'https://api.x.ai/v1', keys: 'https://console.x.ai' }],
  ['cerebras', { base: 'https://api.cerebras.ai/v1', keys: 'https://cloud.cerebras.ai' }],
  ['togetherai', { base: 'https://api.together.xyz/v1', keys: 'https://api.together.ai/settings/api-keys' }],
  ['deepinfra', { base: 'https://api.deepinfra.com/v1/openai', keys: 'https://deepinfra.com/dash/api_keys' }],
  ['cohere', { base: 'https://api.cohere.ai/compatibility/v1', keys: 'https://dashboard.cohere.com/api-keys' }],
  ['perplexity', { base: 'https://api.perplexity.ai', keys: 'https://www.perplexity.ai/account/api/keys' }],
  [
    'vercel',
    { base: 'https://ai-gateway.vercel.sh/v1', keys: 'https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai%2Fapi-keys' },
  ],
  ['v0', { base: 'https://api.v0.dev/v1', keys: 'https://v0.app/chat/settings/keys' }],
  ['venice', { base: 'https://api.venice.ai/api/v1', keys: 'https://venice.ai/settings/api' }],
  ['aihubmix', { base: 'https://aihubmix.com/v1', keys: 'https://aihubmix.com/token' }],
  [
    'ollama',
    {
      name: 'Ollama',
      kind: 'ollama',
      base: 'http://127.0.0.1:11434/v1',
      fim: { url: 'http://127.0.0.1:11434', dialect: 'ollama-generate' },
      local: true,
    },
  ],
  ['lmstudio', { name: 'LM Studio', kind: 'lmstudio', base: 'http://127.0.0.1:1234/v1', local: true }],
  [
    'llamacpp',
    {
      name: 'llama.cpp',
      kind: 'llamacpp',
      base: 'http://127.0.0.1:8080/v1',
      fim: { url: 'http://127.0.0.1:8080', dialect: 'llamacpp-infill' },
      local: true,
    },
  ],
  ['vllm', { name: 'vLLM', kind: 'vllm', base: 'http://127.0.0.1:8000/v1', local: true }],
  [
    'svc',
    {
      name: 'Svc gateway',
      kind: 'svc',
      base: `${GATEWAY}/v1`,
      fim: { url: `${GATEWAY}/fim`, dialect: 'svc' },
      env: ['SVC_API_KEY'],
      local: true,
      needsKey: true,
    },
  ],
]);

/** Origin of a vendor's default address -> vendor id. Without local servers: a port does not identify a program. */
export const VENDOR_ORIGINS: ReadonlyMap<string, string> = new Map(
  [...VENDORS].flatMap(([id, { base, local }]) =>
    base === undefined || local ? [] : [[/^https:\/\/[^/]+/.exec(base)?.[0] ?? base, id]],
  ),
);

/** Other spellings of a local server's id. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['llama.cpp', 'llamacpp'],
  ['llama-cpp', 'llamacpp'],
  ['lm-studio', 'lmstudio'],
]);

export function findVendor(id: string): Vendor | undefined {
  return VENDORS.get(ALIASES.get(id) ?? id);
}

/** The format of a client package. A package name only identifies a format; no package is installed. */
export interface PackageFormat {
  readonly kind: ProviderKind;
  readonly format: FormatName;
}

const CHAT: PackageFormat = { kind: 'openai-compatible', format: 'chat-completions' };

export const PACKAGES: ReadonlyMap<string, PackageFormat> = new Map<string, PackageFormat>([
  [DEFAULT_NPM, CHAT],
  ['@ai-sdk/openai', { kind: 'openai', format: 'responses' }],
  ['@ai-sdk/anthropic', { kind: 'anthropic', format: 'messages' }],
  ['@ai-sdk/azure', { kind: 'azure', format: 'chat-completions' }],
  ['@ai-sdk/mistral', { kind: 'mistral', format: 'chat-completions' }],
  ['@openrouter/ai-sdk-provider', { kind: 'openrouter', format: 'chat-completions' }],
  // These vendors have an OpenAI-compatible address in addition to their own format.
  ['@ai-sdk/google', CHAT],
  ['@ai-sdk/groq', CHAT],
  ['@ai-sdk/xai', CHAT],
  ['@ai-sdk/cerebras', CHAT],
  ['@ai-sdk/togetherai', CHAT],
  ['@ai-sdk/deepinfra', CHAT],
  ['@ai-sdk/cohere', CHAT],
  ['@ai-sdk/perplexity', CHAT],
  ['@ai-sdk/vercel', CHAT],
  ['@ai-sdk/gateway', CHAT],
  ['@aihubmix/ai-sdk-provider', CHAT],
  ['venice-ai-sdk-provider', CHAT],
]);

/** The provider in the catalog whose models belong to a package. */
export const PACKAGE_VENDORS: ReadonlyMap<string, string> = new Map([
  ['@ai-sdk/openai', 'openai'],
  ['@ai-sdk/anthropic', 'anthropic'],
  ['@ai-sdk/azure', 'azure'],
  ['@ai-sdk/mistral', 'mistral'],
  ['@ai-sdk/google', 'google'],
]);
