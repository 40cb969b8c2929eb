import type { ModelSetup } from '../../catalog/model-setup.ts';
import type { TurnSummary } from '../../chat/message-parts.ts';

export type { ModelSetup } from '../../catalog/model-setup.ts';

import type { Attachment } from '../../chat/attachment.ts';
import type { ModelLabel, Patch, Transcript } from '../../chat/transcript.ts';

/** The selected model, as far as the page needs to know it. */
export interface ModelView extends ModelLabel {
  /** Number of tokens after which the history is compacted; absent: unknown, so no gauge is shown (spec 8). */
  readonly usable?: number;
  readonly images: boolean;
  readonly pdf: boolean;
  readonly tools: boolean;
  readonly reasoning: boolean;
}

/** A message that waits, as the page shows it. */
export interface QueuedView {
  readonly id: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** The content of each message besides its attachments: instructions, and the open file. */
export interface ContextChip {
  readonly id: string;
  readonly kind: 'instructions' | 'editor';
  readonly label: string;
  readonly detail?: string;
  readonly tokens: number;
  /** Number of characters that no one sees. They are marked in the text. */
  readonly hidden?: number;
  readonly on: boolean;
}

/** A completion for `@` or `/`. */
export interface CompletionItem {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  /** Name of a codicon. */
  readonly icon: string;
  /** Replaces the typed word. */
  readonly insert: string;
  /** It is attached when it is chosen. Its name stays in the sentence. */
  readonly attaches?: true;
}

/** Messages from the host to the page. */
export type ToPage =
  /** The whole conversation. Replaces the page's copy. */
  | { readonly type: 'snapshot'; readonly session: string; readonly seq: number; readonly transcript: Transcript }
  /** The patches after number `from`, up to number `seq`. */
  | {
      readonly type: 'patches';
      readonly session: string;
      readonly from: number;
      readonly seq: number;
      readonly patches: readonly Patch[];
    }
  /** The draft. `text` is absent if only the attachments changed, because the text in the page is newer. */
  | { readonly type: 'draft'; readonly text?: string; readonly attachments: readonly Attachment[] }
  /** The messages that wait for the end of the answer. */
  | { readonly type: 'queue'; readonly messages: readonly QueuedView[] }
  /** The changes of the answers of the conversation. */
  | { readonly type: 'turns'; readonly turns: readonly TurnSummary[] }
  | { readonly type: 'context'; readonly chips: readonly ContextChip[] }
  /** `setup`: why there is no model; absent: there is none. */
  | { readonly type: 'model'; readonly model: ModelView | null; readonly setup?: ModelSetup }
  /** `history`: there are conversations to show. */
  | { readonly type: 'workspace'; readonly trusted: boolean; readonly history: boolean }
  | { readonly type: 'completions'; readonly query: number; readonly items: readonly CompletionItem[] }
  /** Answers `check-paths`: `found` are files of the workspace. */
  | { readonly type: 'paths'; readonly paths: readonly string[]; readonly found: readonly string[] }
  /** Answers `load-diagram-script`: the script of the frame in which diagrams are drawn. */
  | { readonly type: 'diagram-script'; readonly text: string }
  | { readonly type: 'focus' }
  /** The page is out of sight from now on. */
  | { readonly type: 'hidden' };
