import type { ReasoningSignature } from './event.ts';
import type { FormatName } from './format-name.ts';

/** A prompt-cache breakpoint as Messages says it; other formats have no word for it. */
export interface CacheControl {
  readonly type: 'ephemeral';
  readonly ttl?: string;
}

/** Bytes of an image, a document or a recording, or where they are. */
export type Media =
  | { readonly kind: 'data'; readonly mediaType: string; readonly base64: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  /** A file kept by the vendor: meaningful only to the upstream that issued the id. */
  | { readonly kind: 'id'; readonly id: string };

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cacheControl?: CacheControl;
  /** Citations and annotations, kept as their format wrote them. */
  readonly annotations?: readonly unknown[];
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
  /** `wav`, `mp3`, … as Chat Completions names it. */
  readonly format: string;
}
export interface ToolCallPart {
  readonly type: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** The arguments exactly as they came: JSON text, maybe empty, maybe broken. */
  readonly arguments: string;
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

/** One turn. Tool results are parts of the user's turn that follows the calls, in the order they came. */
export type Turn =
  | { readonly role: 'user'; readonly parts: readonly UserPart[]; readonly name?: string }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[]; readonly name?: string }
  /** A system message in the middle of the conversation, where the format allows one. */
  | { readonly role: 'system'; readonly parts: readonly TextPart[] };

export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema, carried whole. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict?: boolean;
  readonly cacheControl?: CacheControl;
}

export type ToolChoice =
  | { readonly type: 'auto' }
  | { readonly type: 'none' }
  | { readonly type: 'required' }
  | { readonly type: 'tool'; readonly name: string };

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
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, … as the client said it. */
  readonly effort?: string;
  /** Tokens. */
  readonly budgetTokens?: number;
  readonly mode?: 'enabled' | 'adaptive' | 'disabled';
  /** How the summary is wanted (Responses). */
  readonly summary?: string;
  /** The client asked for sealed reasoning to be sent back to it (Responses `include`). */
  readonly includeEncrypted?: boolean;
}

/** Everything that a request in any of the three formats says. */
export interface Conversation {
  /** The model as the sender names it. */
  readonly model: string;
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice?: ToolChoice;
  readonly parallelToolCalls?: boolean;
  readonly sampling: Sampling;
  readonly maxTokens?: number;
  readonly responseFormat?: ResponseFormat;
  readonly reasoning?: ReasoningRequest;
  readonly stream: boolean;
  /** An opaque name of the end user (`user`, `metadata.user_id`). */
  readonly user?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** By format: fields that only it understands, carried when both ends speak it. */
  readonly extra?: Readonly<Partial<Record<FormatName, Readonly<Record<string, unknown>>>>>;
}
