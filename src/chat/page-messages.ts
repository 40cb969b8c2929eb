import type { Message, ModelLabel, Patch } from './transcript.ts';

/** From the host to the page. */
export type ToPage =
  /** The whole conversation; the page forgets what it had. */
  | {
      readonly type: 'snapshot';
      readonly session: string;
      readonly seq: number;
      readonly messages: readonly Message[];
      readonly running: boolean;
      readonly draft: string;
    }
  /** Steps in order; `seq` is the number of the last of them. */
  | { readonly type: 'patches'; readonly session: string; readonly seq: number; readonly patches: readonly Patch[] }
  | { readonly type: 'running'; readonly session: string; readonly running: boolean }
  | { readonly type: 'model'; readonly model: ModelLabel | null };

/** From the page to the host. Parsed with `parseFromPage`, never trusted. */
export type FromPage =
  | { readonly type: 'ready' }
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'stop' }
  | { readonly type: 'retry' }
  | { readonly type: 'new-conversation' }
  | { readonly type: 'pick-model' }
  | { readonly type: 'add-provider' }
  | { readonly type: 'show-log' }
  | { readonly type: 'draft'; readonly text: string }
  | { readonly type: 'open-link'; readonly href: string }
  | { readonly type: 'copy'; readonly text: string };

/** The most characters that one message from the page may carry. */
const MAX_TEXT = 4_000_000;

/** Parses a message from the page; undefined for anything that is not one. */
export function parseFromPage(value: unknown): FromPage | undefined {
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  switch (value.type) {
    case 'ready':
    case 'stop':
    case 'retry':
    case 'new-conversation':
    case 'pick-model':
    case 'add-provider':
    case 'show-log':
      return { type: value.type };
    case 'send':
    case 'draft':
    case 'copy': {
      const text = 'text' in value ? value.text : undefined;
      return typeof text === 'string' && text.length <= MAX_TEXT ? { type: value.type, text } : undefined;
    }
    case 'open-link': {
      const href = 'href' in value ? value.href : undefined;
      return typeof href === 'string' && href.length <= 8192 ? { type: 'open-link', href } : undefined;
    }
    default:
      return undefined;
  }
}
