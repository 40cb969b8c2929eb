import type { SvcError } from './errors/svc-error.ts';

/**
 * Why an answer ended, truthfully (spec 2.2). `closed` is ours: the connection ended without a
 * terminal event, so nobody said why.
 */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'closed';

/** Tokens. `input` includes cached reads and writes, `output` includes reasoning (OpenAI's way of counting). */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
  /** USD, where the provider says what it charged (OpenRouter). */
  readonly cost?: number;
}

/**
 * What lets reasoning be carried back to the vendor that made it. `vendor` names the format that
 * issued it, since only that vendor accepts it again.
 */
export type ReasoningSignature =
  | { readonly vendor: 'messages'; readonly signature: string }
  | { readonly vendor: 'messages'; readonly redacted: string }
  | { readonly vendor: 'responses'; readonly id: string; readonly encrypted?: string }
  | { readonly vendor: 'chat-completions'; readonly details: readonly unknown[] };

/**
 * The answer as a stream. `part` is the ordinal of the part of the answer that an event belongs to,
 * dense from 0 in order of first appearance; events of two tool calls may interleave, while a part
 * of text or reasoning is over when another part begins (a seal may still come later).
 * A stream ends with exactly one `finish` or one `error`. `usage` may come more than once: the last
 * one holds the totals.
 */
export type Event =
  | { readonly type: 'start'; readonly id?: string; readonly model?: string; readonly created?: number }
  /** `annotations`: citations that came with or after this text, as their format wrote them. */
  | { readonly type: 'text'; readonly part: number; readonly text: string; readonly annotations?: readonly unknown[] }
  | { readonly type: 'refusal'; readonly part: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly part: number; readonly text: string }
  | { readonly type: 'reasoning-seal'; readonly part: number; readonly seal: ReasoningSignature }
  | { readonly type: 'tool-call'; readonly part: number; readonly id: string; readonly name: string }
  /** `last`: the upstream said that the call is complete; not every format can. */
  | { readonly type: 'tool-arguments'; readonly part: number; readonly json: string; readonly last?: true }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly stopSequence?: string }
  | { readonly type: 'error'; readonly error: SvcError };
