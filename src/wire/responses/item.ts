import { defined } from '../../base/json.ts';
import type { PartEvent } from '../part-sequence.ts';

export type Item = Record<string, unknown>;

/** The open item with its content so far. */
export interface OpenItem {
  readonly kind: 'message' | 'refusal' | 'reasoning' | 'call' | 'custom';
  readonly id: string;
  readonly head: Item;
  readonly text: string[];
  readonly annotations: unknown[];
  readonly logprobs: unknown[];
  encrypted: string | undefined;
  /**
   * The part of its deltas between the sequence number and the text. Cached, because an item has thousands of deltas.
   */
  deltaMiddle: string | undefined;
}

/** The item that an event starts. `suffix` makes its id unique within the answer. */
export function openItem(event: PartEvent, suffix: string): OpenItem {
  const grow = { text: [], annotations: [], logprobs: [], encrypted: undefined, deltaMiddle: undefined };
  switch (event.type) {
    case 'text':
    case 'refusal': {
      const id = `msg_${suffix}`;
      const kind = event.type === 'text' ? 'message' : 'refusal';
      return { kind, id, head: { id, type: 'message', role: 'assistant' }, ...grow };
    }
    case 'reasoning':
    case 'reasoning-seal': {
      const id = event.type === 'reasoning-seal' && event.seal.vendor === 'responses' ? event.seal.id : `rs_${suffix}`;
      return { kind: 'reasoning', id, head: { id, type: 'reasoning' }, ...grow };
    }
    case 'tool-call': {
      const kind = event.custom ? 'custom' : 'call';
      const id = `${event.custom ? 'ctc' : 'fc'}_${suffix}`;
      const type = event.custom ? 'custom_tool_call' : 'function_call';
      const head = defined({ id, type, call_id: event.id, name: event.name, namespace: event.namespace });
      return { kind, id, head, ...grow };
    }
    case 'tool-arguments': {
      const id = `fc_${suffix}`;
      return { kind: 'call', id, head: { id, type: 'function_call', call_id: id, name: '' }, ...grow };
    }
  }
}

/** The fields of an item when it is added. */
export function emptyItem(open: OpenItem): Item {
  if (open.kind === 'reasoning') return { summary: [] };
  if (open.kind === 'custom') return { input: '', status: 'in_progress' };
  return open.kind === 'call' ? { arguments: '', status: 'in_progress' } : { content: [], status: 'in_progress' };
}

/** The only content part of a message. */
export function itemPart(open: OpenItem, text: string): Item {
  if (open.kind === 'refusal') return { type: 'refusal', refusal: text };
  return { type: 'output_text', text, annotations: [...open.annotations], logprobs: [...open.logprobs] };
}

/** The item in the finished response. */
export function doneItem(open: OpenItem, text: string): Item {
  if (open.kind === 'reasoning') {
    const summary = text === '' ? [] : [{ type: 'summary_text', text }];
    return defined({ ...open.head, summary, encrypted_content: open.encrypted });
  }
  if (open.kind === 'call') return { ...open.head, arguments: text, status: 'completed' };
  if (open.kind === 'custom') return { ...open.head, input: text, status: 'completed' };
  return { ...open.head, content: [itemPart(open, text)], status: 'completed' };
}

/** The event name of each delta, and its JSON before the sequence number and after the text. */
export const DELTAS = {
  message: deltaEvent('response.output_text.delta', ',"logprobs":[]}'),
  refusal: deltaEvent('response.refusal.delta', '}'),
  reasoning: deltaEvent('response.reasoning_summary_text.delta', '}'),
  call: deltaEvent('response.function_call_arguments.delta', '}'),
  custom: deltaEvent('response.custom_tool_call_input.delta', '}'),
} as const;

/** The constant parts of all deltas of a kind. */
function deltaEvent(event: string, end: string) {
  return { event, start: `{"type":"${event}","sequence_number":`, end };
}

/** The index of a part inside its item. */
export const INDEXES = {
  message: 'content_index',
  refusal: 'content_index',
  reasoning: 'summary_index',
  call: undefined,
  custom: undefined,
} as const;
