import type { ReasoningSignature } from './event.ts';
import type { FormatName } from './format-name.ts';

/** A prompt-cache breakpoint of the Messages format. The other formats have no equivalent. */
export interface CacheControl {
  readonly type: 'ephemeral';
  readonly ttl?: string;
}

/** The bytes or the address of an image, a document or a recording. */
export type Media =
  | { readonly kind: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  /** A file that the vendor stores. Only the upstream that issued the id can use it. */
  | { readonly kind: 'id'; readonly id: string };

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cacheControl?: CacheControl;
  /** Citations and annotations, unchanged in the form of their format. */
  readonly annotations?: readonly unknown[];
  /** Log probabilities of the tokens, in OpenAI's form. */
  readonly logprobs?: readonly unknown[];
}
export interface ImagePart {
  readonly type: 'image';
  readonly media: Media;
  readonly detail?: string;
  readonly cacheControl?: CacheControl;
}
export interface FilePart {
  readonly type: 'file';
  readonly media: Media;
  readonly filename?: string;
  readonly cacheControl?: CacheControl;
}
export interface AudioPart {
  readonly type: 'audio';
  readonly media: Media;
  /** `wav`, `mp3`, … (the names of Chat Completions). */
  readonly format: string;
}
export interface ToolCallPart {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** The unchanged arguments: JSON text that may be empty or invalid. The input of a custom tool is plain text. */
  readonly arguments: string;
  /** The tool is in a namespace (Responses). */
  readonly namespace?: string;
  /** The tool is a custom tool. */
  readonly custom?: true;
  readonly cacheControl?: CacheControl;
}
export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly id: string;
  readonly content: readonly (TextPart | ImagePart | FilePart)[];
  readonly isError?: boolean;
  readonly cacheControl?: CacheControl;
}
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly seals: readonly ReasoningSignature[];
}
export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

export type UserPart = TextPart | ImagePart | FilePart | AudioPart | ToolResultPart;
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | RefusalPart;

/** One turn. Tool results are parts of the user turn after the calls, in the order of arrival. */
export type Turn =
  | { readonly role: 'user'; readonly parts: readonly UserPart[]; readonly name?: string }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[]; readonly name?: string }
  /** A system message within the conversation, if the format allows one. */
  | { readonly role: 'system'; readonly parts: readonly TextPart[] };

export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema, unchanged. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
  readonly cacheControl?: CacheControl;
  /** The group of the tool (Responses). Its name is part of the tool's identity. */
  readonly namespace?: { readonly name: string; readonly description?: string };
  /** The tool takes plain text, possibly of a grammar (OpenAI, "Custom tools"). `parameters` is empty. */
  readonly custom?: { readonly grammar?: { readonly syntax: string; readonly definition: string } };
}

/** A tool that its vendor runs or defines. It is not sent to a model of another vendor. */
export interface VendorTool {
  /** `web_search`, `tool_search`, … */
  readonly type: string;
  /** Some tools of Messages also have a name. */
  readonly name?: string;
  /** The path of the tool in the request. */
  readonly at: string;
}

export interface ToolName {
  readonly name: string;
  readonly namespace?: string;
}

export type ToolChoice =
  | { readonly type: 'auto' }
  | { readonly type: 'none' }
  | { readonly type: 'required' }
  | ({ readonly type: 'tool' } & ToolName)
  /** Only these of the tools. */
  | { readonly type: 'allowed'; readonly mode: 'auto' | 'required'; readonly tools: readonly ToolName[] };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json' }
  | {
      readonly type: 'json-schema';
      readonly name: string;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly description?: string;
      readonly strict?: boolean;
    };

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
}

export interface ReasoningRequest {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, …: the client's value. */
  readonly effort?: string;
  /** Tokens. */
  readonly budgetTokens?: number;
  /** `between-tools`: only between calls of tools (Messages). */
  readonly mode?: 'enabled' | 'adaptive' | 'disabled' | 'between-tools';
  /** The requested form of the summary (Responses). */
  readonly summary?: string;
  /** The client requested encrypted reasoning (Responses `include`). */
  readonly includeEncrypted?: boolean;
}

/** The content of a request in any of the three formats. */
export interface Conversation {
  /** The sender's name of the model. */
  readonly model: string;
  /** The whole request is cached (Anthropic, "Prompt caching", "Automatic caching"). */
  readonly cacheControl?: CacheControl;
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  /** Tools in the request that are not in `tools`, because only their vendor can run them. */
  readonly vendorTools?: readonly VendorTool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  readonly sampling: Sampling;
  readonly maxTokens?: number;
  readonly responseFormat?: ResponseFormat;
  readonly reasoning?: ReasoningRequest;
  readonly stream: boolean;
  /** An opaque identifier of the end user (`user`, `metadata.user_id`). */
  readonly user?: string;
  /** A stable identifier of the end user for abuse detection. */
  readonly safetyIdentifier?: string;
  /** Groups requests with the same start for the vendor's prompt cache. */
  readonly promptCacheKey?: string;
  /** `in_memory`, `24h`. */
  readonly promptCacheRetention?: string;
  /** OpenAI's names: `auto`, `default`, `flex`, `priority`, … */
  readonly serviceTier?: string;
  /** The length of the text: `low`, `medium`, `high`. */
  readonly verbosity?: string;
  /** The answer is requested with log probabilities. `top`: number of alternatives for each token. */
  readonly logprobs?: { readonly top?: number };
  readonly metadata?: Readonly<Record<string, string>>;
  /** Fields that only one format supports, by format. They are kept if both sides use that format. */
  readonly extra?: Readonly<Partial<Record<FormatName, Readonly<Record<string, unknown>>>>>;
}
