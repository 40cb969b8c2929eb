import type { Modality, ModelCost } from '../config/settings/configured-model.ts';
import type { Credential, Origin } from '../config/settings/origin.ts';
import type { MessageText } from '../wire/errors/svc-error.ts';
import type { FimDialect } from '../wire/fim/fim-request.ts';
import type { FormatName } from '../wire/format-name.ts';

export type { FimDialect } from '../wire/fim/fim-request.ts';

/** How to behave towards an upstream where vendors differ within one format. */
export type ProviderKind =
  | 'openai-compatible'
  | 'openai'
  | 'anthropic'
  | 'azure'
  | 'mistral'
  | 'inception'
  | 'deepseek'
  | 'openrouter'
  | 'ollama'
  | 'lmstudio'
  | 'llamacpp'
  | 'vllm'
  | 'svc';

/** Where a model's requests go and what they carry. Credentials here are already cleared for these URLs. */
export interface Endpoint {
  readonly kind: ProviderKind;
  readonly format: FormatName;
  /** Without a trailing slash; absent: the provider can't be called, `problem` says why. */
  readonly baseURL?: string | undefined;
  /** Base of `{fim_url}/completions`, without a trailing slash. */
  readonly fimURL?: string | undefined;
  readonly fim?: FimDialect | undefined;
  readonly apiKey?: Credential | undefined;
  /** Extra headers, a model's over its provider's. */
  readonly headers: ReadonlyMap<string, Credential>;
  /** Milliseconds until the first byte of the body, `false`: no limit. */
  readonly timeout: number | false;
  /** Milliseconds between parsed events. */
  readonly chunkTimeout?: number | undefined;
  /** Azure: which resource, API version. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly problem?: MessageText | undefined;
  /** Trusted credentials were left out, because untrusted configuration moved it from one origin to another. */
  readonly withheld?: { readonly from: string; readonly to: string } | undefined;
}

/** A model that a person can choose: config merged over the catalog (spec 2.5). */
export interface Model {
  /** `<provider_id>/<model_id>`, the key everywhere. */
  readonly ref: string;
  readonly provider: string;
  readonly key: string;
  /** What the upstream is told. */
  readonly id: string;
  readonly name: string;
  readonly toolCall: boolean;
  readonly reasoning: boolean;
  readonly temperature: boolean;
  readonly attachment: boolean;
  readonly structuredOutput: boolean;
  readonly modalities: { readonly input: readonly Modality[]; readonly output: readonly Modality[] };
  /** Tokens; 0: unknown (spec 8). */
  readonly limit: { readonly context: number; readonly output: number; readonly input?: number };
  /** USD per million tokens; absent: unknown. */
  readonly cost?: ModelCost | undefined;
  /** Merged into the request. */
  readonly options: Readonly<Record<string, unknown>>;
  /** By name, without the disabled ones; merged into the request when chosen. */
  readonly variants: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly endpoint: Endpoint;
  /** Whether it can fill holes. */
  readonly fim: boolean;
  readonly releaseDate?: string | undefined;
  /** Where its entry was written; absent: the catalog or the provider's own list. */
  readonly origin?: Origin | undefined;
  readonly source: 'config' | 'catalog' | 'listed';
}

/** A provider that has a credential or needs none. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly models: ReadonlyMap<string, Model>;
  readonly source: 'config' | 'catalog';
  /** Labelled wherever a person sees it: its answers are made up by a program (npm start without keys). */
  readonly simulated: boolean;
  /** Trusted credential held back because untrusted config points elsewhere (docs/security.md). */
  readonly withheld?: { readonly from: string; readonly to: string } | undefined;
}
