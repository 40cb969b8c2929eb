import type { FinishReason, Usage } from '../wire/event.ts';

/** A part of a message as a person sees it. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string };

/** An error as the panel shows it: no stack, no credential, one thing to do. */
export interface ErrorCard {
  readonly errorType: string;
  readonly status: number;
  readonly title: string;
  readonly message: string;
  readonly action?: string;
  readonly retryable: boolean;
}

/** How an answer ended; absent while it streams. */
export type Ending =
  | { readonly type: 'finished'; readonly reason: FinishReason }
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly error: ErrorCard };

/** A model as the panel names it. */
export interface ModelLabel {
  readonly ref: string;
  readonly name: string;
  readonly provider: string;
  readonly simulated: boolean;
}

export interface Message {
  readonly id: string;
  /** The message it answers or follows; absent for the first. */
  readonly parent?: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly model?: ModelLabel;
  readonly usage?: Usage;
  readonly ending?: Ending;
}

/** A step of a conversation: what the page applies, in order of `seq`. */
export type Patch =
  | { readonly type: 'add'; readonly message: Message }
  | {
      readonly type: 'append';
      readonly message: string;
      readonly part: number;
      readonly kind: Part['type'];
      readonly text: string;
    }
  | { readonly type: 'usage'; readonly message: string; readonly usage: Usage }
  | { readonly type: 'end'; readonly message: string; readonly ending: Ending };

/** Applies one step; messages that did not change keep their identity. */
export function applyPatch(messages: readonly Message[], patch: Patch): readonly Message[] {
  if (patch.type === 'add') return [...messages, patch.message];
  const at = messages.findLastIndex((message) => message.id === patch.message);
  const message = messages[at];
  if (message === undefined) return messages;
  const changed = [...messages];
  changed[at] = patchMessage(message, patch);
  return changed;
}

function patchMessage(message: Message, patch: Exclude<Patch, { type: 'add' }>): Message {
  switch (patch.type) {
    case 'append':
      return { ...message, parts: appendTo(message.parts, patch) };
    case 'usage':
      return { ...message, usage: patch.usage };
    case 'end':
      return { ...message, ending: patch.ending };
  }
}

function appendTo(parts: readonly Part[], patch: Extract<Patch, { type: 'append' }>): readonly Part[] {
  const changed = [...parts];
  const before = changed[patch.part];
  changed[patch.part] = { type: patch.kind, text: (before?.text ?? '') + patch.text };
  return changed;
}
