import type { FinishReason, ReasoningSignature, Usage } from '../wire/event.ts';
import type { Attachment } from './attachment.ts';
import type { ErrorCard } from './page/error-card.ts';
import type { Caution } from './tools/caution.ts';

/**
 * How far a tool call has come. `waiting`: the person decides. `stopped`: the answer was stopped before the tool
 * ended, so whether it took effect is unknown.
 */
export type ToolState =
  | { readonly type: 'receiving' }
  /** `caution`: why it is asked for each time. */
  | { readonly type: 'waiting'; readonly caution?: Caution }
  | { readonly type: 'running' }
  | { readonly type: 'done'; readonly output: string; readonly failed?: true }
  | { readonly type: 'denied'; readonly reason: string }
  | { readonly type: 'stopped' };

/** A part of a message as a person sees it. A `step` begins a further answer of the model after its tools ran. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  | {
      readonly type: 'reasoning';
      readonly text: string;
      /** Milliseconds it took; absent while it goes on. */
      readonly ms?: number;
      /** Never sent to the page. */
      readonly seals?: readonly ReasoningSignature[];
    }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly name: string;
      /** Who offers it: an extension, an MCP server, Svc itself. */
      readonly origin: string;
      /** Whether it changes anything. */
      readonly changes: boolean;
      /** Whether the change can be looked at before it is allowed. */
      readonly preview?: true;
      /** JSON text as the model wrote it. */
      readonly text: string;
      readonly state: ToolState;
    }
  | { readonly type: 'step' };

/** What a person must know about an answer that the model ended (spec 7). */
export type AnswerOutcome = 'complete' | 'incomplete' | 'reasoning-only' | 'empty' | 'filtered' | 'interrupted';

/** How an answer ended; absent while it streams. */
export type Ending =
  | { readonly type: 'finished'; readonly reason: FinishReason; readonly outcome: AnswerOutcome }
  | { readonly type: 'stopped' }
  /** The model asked for the same thing over and over. */
  | { readonly type: 'repeating'; readonly tool: string }
  | { readonly type: 'failed'; readonly error: ErrorCard };

/** A model as the panel names it. */
export interface ModelLabel {
  readonly ref: string;
  readonly name: string;
  readonly provider: string;
  readonly simulated: boolean;
  readonly variant?: string;
}

export interface Message {
  readonly id: string;
  /** The message it answers or follows; absent for the first. */
  readonly parent?: string;
  /** `summary`: what came before it, compacted. */
  readonly role: 'user' | 'assistant' | 'summary';
  readonly parts: readonly Part[];
  readonly attachments?: readonly Attachment[];
  /** Sent by the Continue button, not typed. */
  readonly auto?: true;
  /** A summary: the first message on the way here that is still sent whole; absent: none before it. */
  readonly keeps?: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly model?: ModelLabel;
  /** Of all its steps. */
  readonly usage?: Usage;
  /** Tokens of the context that its last step took. */
  readonly context?: number;
  /** USD; absent where the price is not known. */
  readonly price?: number;
  readonly ending?: Ending;
}

/** A conversation: a tree of messages, of which the way to `leaf` is shown. */
export interface Transcript {
  /** In the order they were made. */
  readonly messages: readonly Message[];
  readonly leaf?: string;
  readonly title: string;
  readonly pinned: boolean;
}

export const EMPTY_TRANSCRIPT: Transcript = { messages: [], title: '', pinned: false };

interface Of {
  readonly message: string;
}
interface OfPart extends Of {
  readonly part: number;
}

/** A step of a conversation: what history keeps and what the page applies, in order of `seq`. */
export type Patch =
  | { readonly type: 'add'; readonly message: Message }
  | ({ readonly type: 'append'; readonly kind: 'text' | 'refusal' | 'reasoning'; readonly text: string } & OfPart)
  /** A part that begins whole: a tool call, a step. */
  | ({ readonly type: 'part'; readonly value: Part } & OfPart)
  | ({ readonly type: 'arguments'; readonly text: string } & OfPart)
  | ({ readonly type: 'tool'; readonly state: ToolState } & OfPart)
  | ({ readonly type: 'reasoned'; readonly ms: number } & OfPart)
  | ({ readonly type: 'seal'; readonly seal: ReasoningSignature } & OfPart)
  | ({ readonly type: 'usage'; readonly usage: Usage; readonly context: number; readonly price?: number } & Of)
  | ({ readonly type: 'end'; readonly ending: Ending } & Of)
  | { readonly type: 'select'; readonly leaf: string }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'pin'; readonly pinned: boolean };

/** Applies one step; messages that did not change keep their identity. A step about an unknown message changes nothing. */
export function applyPatch(transcript: Transcript, patch: Patch): Transcript {
  switch (patch.type) {
    case 'add':
      if (transcript.messages.some(({ id }) => id === patch.message.id)) return transcript;
      return { ...transcript, messages: [...transcript.messages, patch.message], leaf: patch.message.id };
    case 'select':
      return transcript.messages.some(({ id }) => id === patch.leaf) ? { ...transcript, leaf: patch.leaf } : transcript;
    case 'title':
      return { ...transcript, title: patch.title };
    case 'pin':
      return { ...transcript, pinned: patch.pinned };
    default:
      return applyToMessage(transcript, patch);
  }
}

type MessagePatch = Extract<Patch, Of>;

function applyToMessage(transcript: Transcript, patch: MessagePatch): Transcript {
  const at = transcript.messages.findLastIndex((message) => message.id === patch.message);
  const message = transcript.messages[at];
  if (message === undefined) return transcript;
  const messages = [...transcript.messages];
  messages[at] = patchMessage(message, patch);
  return { ...transcript, messages };
}

function patchMessage(message: Message, patch: MessagePatch): Message {
  switch (patch.type) {
    case 'usage': {
      const { usage, context, price } = patch;
      return { ...message, usage, context, ...(price === undefined ? {} : { price }) };
    }
    case 'end':
      return { ...message, ending: patch.ending };
    default: {
      const parts = [...message.parts];
      // A file that lost a line of its middle leaves a gap.
      while (parts.length < patch.part) parts.push({ type: 'step' });
      parts[patch.part] = patchPart(parts[patch.part], patch);
      return { ...message, parts };
    }
  }
}

function patchPart(part: Part | undefined, patch: Extract<Patch, OfPart>): Part {
  switch (patch.type) {
    case 'part':
      return patch.value;
    case 'append':
      if (part === undefined || part.type !== patch.kind) return { type: patch.kind, text: patch.text };
      return { ...part, text: part.text + patch.text };
    case 'arguments':
      return part?.type === 'tool' ? { ...part, text: part.text + patch.text } : (part ?? { type: 'step' });
    case 'tool':
      return part?.type === 'tool' ? { ...part, state: patch.state } : (part ?? { type: 'step' });
    case 'reasoned':
      return part?.type === 'reasoning' ? { ...part, ms: patch.ms } : (part ?? { type: 'step' });
    case 'seal': {
      const reasoning = part?.type === 'reasoning' ? part : { type: 'reasoning' as const, text: '' };
      return { ...reasoning, seals: [...(reasoning.seals ?? []), patch.seal] };
    }
  }
}

/** Two steps as one where that says the same: neighbouring appends to one part. */
export function joinPatches(last: Patch, next: Patch): Patch | undefined {
  if (last.type === 'append' && next.type === 'append') {
    if (last.message !== next.message || last.part !== next.part || last.kind !== next.kind) return undefined;
    return { ...last, text: last.text + next.text };
  }
  if (last.type === 'arguments' && next.type === 'arguments') {
    if (last.message !== next.message || last.part !== next.part) return undefined;
    return { ...last, text: last.text + next.text };
  }
  return undefined;
}

/** The messages from the first to `leaf`. */
export function branchTo({ messages, leaf }: Transcript): readonly Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path: Message[] = [];
  // A file that someone changed may hold a circle.
  const seen = new Set<string>();
  for (let id = leaf; id !== undefined && !seen.has(id); ) {
    const message = byId.get(id);
    if (message === undefined) break;
    seen.add(id);
    path.push(message);
    id = message.parent;
  }
  return path.reverse();
}

/** Gives the versions of a message: its siblings and itself, oldest first. A failure that said nothing is no version. */
export function versionsIn({ messages }: Transcript): (message: Message) => readonly Message[] {
  const place = ({ parent, role }: Message) => `${role} ${parent ?? ''}`;
  const siblings = Map.groupBy(messages, place);
  return (message) =>
    (siblings.get(place(message)) ?? []).filter(
      (each) => each.id === message.id || each.ending?.type !== 'failed' || each.parts.length > 0,
    );
}

/** The newest message that follows from `id`. */
export function newestLeaf({ messages }: Transcript, id: string): string {
  let leaf = id;
  for (const message of messages) if (message.parent === leaf) leaf = newestChild(messages, leaf) ?? leaf;
  return leaf;
}

function newestChild(messages: readonly Message[], parent: string): string | undefined {
  return messages.findLast((message) => message.parent === parent)?.id;
}

/** Whether an answer streams. */
export function isRunning({ messages }: Transcript): boolean {
  return messages.some(({ role, ending }) => role !== 'user' && ending === undefined);
}

/** Whether a call may still come to something. */
export function isOpen({ type }: ToolState): boolean {
  return type === 'receiving' || type === 'waiting' || type === 'running';
}

/** The text of a message without reasoning and tools. */
export function messageText({ parts }: Message): string {
  return parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : [])).join('\n\n');
}
