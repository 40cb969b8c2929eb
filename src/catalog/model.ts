import type { Modality, ModelCost } from '../config/settings/configured-model.ts';
import type { Credential, Origin } from '../config/settings/origin.ts';
import type { EditDialect } from '../wire/edit/edit-request.ts';
import type { MessageText } from '../wire/errors/svc-error.ts';
import type { FimDialect } from '../wire/fim/fim-request.ts';
import type { FormatName } from '../wire/format-name.ts';

export type { FimDialect } from '../wire/fim/fim-request.ts';

/** The context window as the server of a model reports it. In tokens. */
export interface ServedWindow {
  /** The window with which the model runs. */
  readonly context: number;
  /** The window that the model was trained for, if the server states it. */
  readonly trained?: number;
  /** How many requests the server runs at a time, if it states it. */
  readonly slots?: number;
  /** The values that `think` of Ollama’s API has for the model, if the server states them. */
  readonly think?: readonly (string | boolean)[];
}

/** Identifies vendor differences within one wire format. */
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

/** The address, credentials and limits of a model's requests. The credentials are already checked for these URLs. */
export interface Endpoint {
  readonly kind: ProviderKind;
  readonly format: FormatName;
  /** Without a trailing slash. Absent: the provider can't be called, and `problem` contains the reason. */
  readonly baseURL?: string | undefined;
  /** Base of `{fim_url}/completions`, without a trailing slash. */
  readonly fimURL?: string | undefined;
  readonly fim?: FimDialect | undefined;
  readonly apiKey?: Credential | undefined;
  /** Additional headers. The model's headers override the provider's. */
  readonly headers: ReadonlyMap<string, Credential>;
  /** Milliseconds until the first byte of the body; `false`: no limit. */
  readonly timeout: number | false;
  /** Milliseconds between parsed events. */
  readonly chunkTimeout?: number | undefined;
  /** Whether reasoning in tags is split from the text of answers. Absent: by the model’s profile. */
  readonly reasoningTags?: boolean | undefined;
  /** Whether calls in the text of answers become calls. Absent: by the model’s profile. */
  readonly toolCallsInText?: boolean | undefined;
  /** Free-form provider options, for example the Azure resource and API version. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly problem?: MessageText | undefined;
  /** Trusted credentials are omitted because untrusted configuration changed the origin. */
  readonly withheld?: { readonly from: string; readonly to: string } | undefined;
}

/** A model that the user can choose: configuration merged over the catalog (spec 2.5). */
export interface Model {
  /** `<provider_id>/<model_id>`, the unique key of a model. */
  readonly ref: string;
  readonly provider: string;
  readonly key: string;
  /** The model id in upstream requests. */
  readonly id: string;
  readonly name: string;
  readonly toolCall: boolean;
  readonly reasoning: boolean;
  /** Efforts and the maximum of thinking tokens in the catalog. Absent: the catalog does not have the model. */
  readonly effort?: { readonly levels: readonly string[]; readonly budget?: number } | undefined;
  readonly temperature: boolean;
  readonly attachment: boolean;
  readonly structuredOutput: boolean;
  readonly modalities: { readonly input: readonly Modality[]; readonly output: readonly Modality[] };
  /** In tokens; 0: unknown (spec 8). */
  readonly limit: { readonly context: number; readonly output: number; readonly input?: number };
  /** The window that the server has, and the limits without it. Absent: the server does not tell. */
  readonly served?: (ServedWindow & { readonly own: Model['limit'] }) | undefined;
  /** USD per million tokens; absent: unknown. */
  readonly cost?: ModelCost | undefined;
  /** Merged into the request. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Request fields by variant name, without disabled variants. Merged into the request if the variant is chosen. */
  readonly variants: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly endpoint: Endpoint;
  /** Whether the model can complete code. */
  readonly fim: boolean;
  /** The format for next edits; absent: the model can't predict them. */
  readonly edit?: EditDialect | undefined;
  readonly releaseDate?: string | undefined;
  /** The position of the entry in the configuration. Absent: the model is from the catalog or the provider's list. */
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
  /** A program generates the answers (`npm start` without keys). The UI labels the provider as simulated. */
  readonly simulated: boolean;
  /** A trusted credential is withheld because untrusted configuration changed the origin (docs/security.md). */
  readonly withheld?: { readonly from: string; readonly to: string } | undefined;
}
