import type { ModelSetup } from '../../catalog/model-setup.ts';

export type { ModelSetup } from '../../catalog/model-setup.ts';

import type { Attachment } from '../attachment.ts';
import type { ModelLabel, Patch, Transcript } from '../transcript.ts';

/** The selected model, as far as the page needs to know it. */
export interface ModelView extends ModelLabel {
  /** Number of tokens after which the history is compacted; absent: unknown, so no gauge is shown (spec 8). */
  readonly usable?: number;
  readonly images: boolean;
  readonly pdf: boolean;
  readonly tools: boolean;
  readonly reasoning: boolean;
}

/** A completion for `@` or `/`. */
export interface CompletionItem {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  /** Name of a codicon. */
  readonly icon: string;
  /** Replaces the typed word; empty for items that become a chip. */
  readonly insert: string;
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
  /** `setup`: why there is no model; absent: there is none. */
  | { readonly type: 'model'; readonly model: ModelView | null; readonly setup?: ModelSetup }
  | { readonly type: 'workspace'; readonly trusted: boolean }
  | { readonly type: 'completions'; readonly query: number; readonly items: readonly CompletionItem[] }
  | { readonly type: 'focus' };
