import { defined } from '../base/json.ts';
import type { ErrorType } from '../wire/errors/svc-error.ts';
import type { FinishReason, ReasoningSignature, Usage } from '../wire/event.ts';
import type { Attachment } from './attachment.ts';
import type { AnswerOptions, Caution, ErrorCard, FileChange, ToolAction } from './message-parts.ts';

/**
 * The state of a tool call. `waiting`: the user must decide. `allowed`: it runs after the calls before it. `stopped`:
 * the answer was stopped before the tool ended, so it is unknown whether the call took effect, unless it is `unstarted`.
 */
export type ToolState =
  | { readonly type: 'receiving' }
  /**
   * `caution`: why it needs confirmation each time. `rules`: the permissions of “in this conversation” and “always”, as texts of
   * `permission-rules.ts`; absent: they are not offered. `redefined`: a rule allows an earlier definition of the tool.
   */
  | {
      readonly type: 'waiting';
      readonly caution?: Caution;
      readonly rules?: readonly string[];
      readonly redefined?: RedefinedTool;
    }
  | { readonly type: 'allowed' }
  | { readonly type: 'running' }
  /** `exitCode`: of a command. `ms`: how long it ran. */
  | {
      readonly type: 'done';
      readonly output: string;
      readonly failed?: true;
      readonly exitCode?: number;
      readonly ms?: number;
    }
  /** `rule`: the rule that denied it, not the user. */
  | { readonly type: 'denied'; readonly reason: string; readonly rule?: string }
  | { readonly type: 'stopped'; readonly unstarted?: true };

/** A tool of an extension or server whose description or schema is not the one that the user allowed. */
export interface RedefinedTool {
  /** Absent: the earlier definition was not kept. */
  readonly change?: FileChange;
}

/** A part of a message. A `step` starts another answer of the model after its tools ran. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'refusal'; readonly text: string }
  | {
      readonly type: 'reasoning';
      readonly text: string;
      /** Duration in milliseconds; absent while reasoning. */
      readonly ms?: number;
      /** Never sent to the page. */
      readonly seals?: readonly ReasoningSignature[];
    }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly name: string;
      /** The provider of the tool: an extension, an MCP server, Svc itself. */
      readonly origin: string;
      /** True if the tool changes anything. */
      readonly changes: boolean;
      /** The arguments as JSON text from the model. */
      readonly text: string;
      /** The effect of the call; absent: not checked yet, or known only to the tool. */
      readonly action?: ToolAction;
      readonly state: ToolState;
    }
  | { readonly type: 'step' };

/** Whether an answer that the model ended is usable (spec 7). */
export type AnswerOutcome = 'complete' | 'incomplete' | 'reasoning-only' | 'empty' | 'filtered' | 'interrupted';

/** How an answer ended; absent while it streams. */
export type Ending =
  | { readonly type: 'finished'; readonly reason: FinishReason; readonly outcome: AnswerOutcome }
  | { readonly type: 'stopped' }
  /** The model repeated the same tool call. */
  | { readonly type: 'repeating'; readonly tool: string }
  /** After many rounds: the user decides whether to continue. */
  | { readonly type: 'paused'; readonly steps: number }
  | { readonly type: 'failed'; readonly error: ErrorCard };

/** A request failed and is sent again. */
export interface PendingRetry {
  readonly errorType: ErrorType;
  /** Unix milliseconds of the next attempt. */
  readonly at: number;
}

/** A model as shown in the panel. */
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
  /** `summary`: replaces the messages before it. */
  readonly role: 'user' | 'assistant' | 'summary';
  readonly parts: readonly Part[];
  readonly attachments?: readonly Attachment[];
  /** The text for the model if it differs from the shown one: an expanded slash command or prompt file. */
  readonly prompt?: string;
  readonly options?: AnswerOptions;
  /** Sent by the Continue button, not typed. */
  readonly auto?: true;
  /** For a summary: the first earlier message that is still sent completely; absent: none. */
  readonly keeps?: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly model?: ModelLabel;
  /** Sum of all steps. */
  readonly usage?: Usage;
  /** Context tokens of the last step. */
  readonly context?: number;
  /** USD; absent if the price is not known. */
  readonly price?: number;
  /** Labels of attachments that were left out, because the model does not accept them. */
  readonly omitted?: readonly string[];
  /** Present while the answer waits for another attempt. */
  readonly retry?: PendingRetry;
  readonly ending?: Ending;
}

/** A conversation: a tree of messages. The branch to `leaf` is shown. */
export interface Transcript {
  /** In order of creation. */
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

/** A change of a conversation. The history stores patches, and the page applies them in order of `seq`. */
export type Patch =
  | { readonly type: 'add'; readonly message: Message }
  | ({ readonly type: 'append'; readonly kind: 'text' | 'refusal' | 'reasoning'; readonly text: string } & OfPart)
  /** A new part: a tool call or a step. */
  | ({ readonly type: 'part'; readonly value: Part } & OfPart)
  | ({ readonly type: 'arguments'; readonly text: string } & OfPart)
  | ({ readonly type: 'tool'; readonly state: ToolState } & OfPart)
  | ({ readonly type: 'action'; readonly action: ToolAction } & OfPart)
  | ({ readonly type: 'reasoned'; readonly ms: number } & OfPart)
  | ({ readonly type: 'seal'; readonly seal: ReasoningSignature } & OfPart)
  | ({ readonly type: 'usage'; readonly usage: Usage; readonly context: number; readonly price?: number } & Of)
  | ({ readonly type: 'omitted'; readonly labels: readonly string[] } & Of)
  | ({ readonly type: 'retry'; readonly retry: PendingRetry } & Of)
  | ({ readonly type: 'end'; readonly ending: Ending } & Of)
  | { readonly type: 'select'; readonly leaf: string }
  | { readonly type: 'title'; readonly title: string }
  | { readonly type: 'pin'; readonly pinned: boolean };

/** Applies a patch. Unchanged messages keep their identity. A patch for an unknown message changes nothing. */
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

function patchMessage(waiting: Message, patch: MessagePatch): Message {
  if (patch.type === 'retry') return { ...waiting, retry: patch.retry };
  // Any other change is a part of the next attempt.
  const { retry: _, ...message } = waiting;
  switch (patch.type) {
    case 'usage': {
      const { usage, context, price } = patch;
      return { ...message, usage, context, ...defined({ price }) };
    }
    case 'omitted':
      return { ...message, omitted: patch.labels };
    case 'end':
      return { ...message, ending: patch.ending };
    default: {
      const parts = [...message.parts];
      // A history file with a lost line causes a gap.
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
    case 'action':
      return part?.type === 'tool' ? { ...part, action: patch.action } : (part ?? { type: 'step' });
    case 'reasoned':
      return part?.type === 'reasoning' ? { ...part, ms: patch.ms } : (part ?? { type: 'step' });
    case 'seal': {
      const reasoning = part?.type === 'reasoning' ? part : { type: 'reasoning' as const, text: '' };
      return { ...reasoning, seals: [...(reasoning.seals ?? []), patch.seal] };
    }
  }
}

/** Joins two adjacent appends to one part into one patch; otherwise undefined. */
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
  // A modified file may contain a cycle.
  const visited = new Set<string>();
  for (let id = leaf; id !== undefined && !visited.has(id); ) {
    const message = byId.get(id);
    if (message === undefined) break;
    visited.add(id);
    path.push(message);
    id = message.parent;
  }
  return path.reverse();
}

/** Finds the versions of a message: its siblings and itself, oldest first. Failures without text do not count. */
export function versionsIn({ messages }: Transcript): (message: Message) => readonly Message[] {
  const place = ({ parent, role }: Message) => `${role} ${parent ?? ''}`;
  const siblings = Map.groupBy(messages, place);
  return (message) =>
    (siblings.get(place(message)) ?? []).filter(
      (each) => each.id === message.id || each.ending?.type !== 'failed' || each.parts.length > 0,
    );
}

/** The leaf of the newest branch below `id`. */
export function newestLeaf({ messages }: Transcript, id: string): string {
  let leaf = id;
  for (const message of messages) if (message.parent === leaf) leaf = newestChild(messages, leaf) ?? leaf;
  return leaf;
}

function newestChild(messages: readonly Message[], parent: string): string | undefined {
  return messages.findLast((message) => message.parent === parent)?.id;
}

/** True if an answer is streaming. */
export function isRunning({ messages }: Transcript): boolean {
  return messages.some(({ role, ending }) => role !== 'user' && ending === undefined);
}

/** True if a call may still run. */
export function isOpen({ type }: ToolState): boolean {
  return type === 'receiving' || type === 'waiting' || type === 'allowed' || type === 'running';
}

/** The text of a message without reasoning and tools. */
export function messageText({ parts }: Message): string {
  return parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : [])).join('\n\n');
}
