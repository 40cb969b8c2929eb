import type { Attachment } from '../attachment.ts';
import type { ModelLabel, Patch, Transcript } from '../transcript.ts';

/** What the page has to know about the model that the next message goes to. */
export interface ModelView extends ModelLabel {
  /** Tokens after which the history is compacted; absent: unknown, and no gauge is shown (spec 8). */
  readonly usable?: number;
  readonly images: boolean;
  readonly pdf: boolean;
  readonly tools: boolean;
  readonly reasoning: boolean;
}

/** Something that `@` or `/` offers. */
export interface CompletionItem {
  readonly id: string;
  readonly label: string;
  readonly detail?: string;
  /** A codicon. */
  readonly icon: string;
  /** What takes the place of the typed word; empty for what becomes a chip. */
  readonly insert: string;
}

/** From the host to the page. */
export type ToPage =
  /** The whole conversation; the page forgets what it had. */
  | { readonly type: 'snapshot'; readonly session: string; readonly seq: number; readonly transcript: Transcript }
  /** The steps after number `from`, up to number `seq`. */
  | {
      readonly type: 'patches';
      readonly session: string;
      readonly from: number;
      readonly seq: number;
      readonly patches: readonly Patch[];
    }
  /** What is being written. `text` is absent where only the attachments changed: the page's own text is newer. */
  | { readonly type: 'draft'; readonly text?: string; readonly attachments: readonly Attachment[] }
  | { readonly type: 'model'; readonly model: ModelView | null }
  | { readonly type: 'workspace'; readonly trusted: boolean }
  | { readonly type: 'completions'; readonly query: number; readonly items: readonly CompletionItem[] }
  | { readonly type: 'focus' };
