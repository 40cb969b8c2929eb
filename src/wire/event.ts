import type { SvcError } from './errors/svc-error.ts';
import type { Usage } from './token-usage.ts';

export type { Usage } from './token-usage.ts';

/**
 * The reason why an answer ended (spec 2.2). Two are our additions. `closed`: the connection ended without a terminal
 * event. `other`: the provider sent a reason that is not known, so the answer may be incomplete.
 */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other' | 'closed';

/**
 * The data that a vendor needs to accept its reasoning again. `vendor` is the format that issued it. `issuer` names the
 * provider and the account (packed-reasoning.ts); others do not accept it. Absent: unknown.
 */
export type ReasoningSignature = { readonly issuer?: string } & (
  | { readonly vendor: 'messages'; readonly signature: string }
  | { readonly vendor: 'messages'; readonly redacted: string }
  | { readonly vendor: 'responses'; readonly id: string; readonly encrypted?: string }
  | { readonly vendor: 'chat-completions'; readonly details: readonly unknown[] }
);

/**
 * One event of a streamed answer. `part` is the index of the answer's part, counted from 0 without gaps in order of
 * first appearance. Events of two tool calls may interleave. A part of text or reasoning ends when another part starts,
 * but its signature may follow later. A stream ends with exactly one `finish` or one `error`. `usage` may occur several
 * times; the last one contains the totals.
 */
export type Event =
  | { readonly type: 'start'; readonly id?: string; readonly model?: string; readonly created?: number }
  /**
   * `annotations`: citations that arrived with or after this text, in the form of their format. `logprobs`: log
   * probabilities of its tokens, in OpenAI's form.
   */
  | {
      readonly type: 'text';
      readonly part: number;
      readonly text: string;
      readonly annotations?: readonly unknown[];
      readonly logprobs?: readonly unknown[];
    }
  | { readonly type: 'refusal'; readonly part: number; readonly text: string }
  | { readonly type: 'reasoning'; readonly part: number; readonly text: string }
  | { readonly type: 'reasoning-seal'; readonly part: number; readonly seal: ReasoningSignature }
  /** `custom`: the arguments are plain text, not JSON. */
  | {
      readonly type: 'tool-call';
      readonly part: number;
      readonly id: string;
      readonly name: string;
      readonly namespace?: string;
      readonly custom?: true;
    }
  /** `last`: the upstream marked the call as complete. Not every format supports this. */
  | { readonly type: 'tool-arguments'; readonly part: number; readonly json: string; readonly last?: true }
  /** The provider started its answer again: the part `call`, a call that had not ended, is not part of the answer. */
  | { readonly type: 'discard'; readonly call: number }
  | { readonly type: 'usage'; readonly usage: Usage }
  /** `native`: the provider's word, for the reason `other`. */
  | {
      readonly type: 'finish';
      readonly reason: FinishReason;
      readonly stopSequence?: string;
      readonly native?: string;
    }
  | { readonly type: 'error'; readonly error: SvcError };
