import { append, defined } from '../base/json.ts';
import type { AssistantPart, ToolCallPart } from './conversation.ts';
import type { SvcError } from './errors/svc-error.ts';
import type { Event, FinishReason, ReasoningSignature, Usage } from './event.ts';

/** A complete answer: the result of a stream of events. */
export interface FoldedAnswer {
  readonly id?: string;
  readonly model?: string;
  readonly created?: number;
  /** In the order of their indexes. */
  readonly parts: readonly AssistantPart[];
  readonly usage?: Usage;
  /** Absent if the stream has not ended, or ended with `error`. */
  readonly finish?: FinishReason;
  readonly stopSequence?: string;
  /** The provider's word for the finish `other`. */
  readonly native?: string;
  readonly error?: SvcError;
}

interface Draft {
  type: AssistantPart['type'];
  text: string[];
  seals: ReasoningSignature[];
  annotations: unknown[];
  logprobs: unknown[];
  call: Pick<ToolCallPart, 'id' | 'name' | 'namespace' | 'custom'>;
}

/** Combines the events of a stream into an answer. Text before an error is kept. */
export function foldEvents(events: Iterable<Event>): FoldedAnswer {
  const drafts: (Draft | undefined)[] = [];
  const draft = (part: number, type: AssistantPart['type']): Draft => {
    const present = drafts[part];
    if (present) return present;
    const made: Draft = { type, text: [], seals: [], annotations: [], logprobs: [], call: { id: '', name: '' } };
    drafts[part] = made;
    return made;
  };
  const answer: { -readonly [K in keyof FoldedAnswer]: FoldedAnswer[K] } = { parts: [] };
  for (const event of events) {
    switch (event.type) {
      case 'start':
        if (event.id !== undefined) answer.id ??= event.id;
        if (event.model !== undefined) answer.model ??= event.model;
        if (event.created !== undefined) answer.created ??= event.created;
        break;
      case 'text':
      case 'refusal':
      case 'reasoning': {
        const into = draft(event.part, event.type);
        into.text.push(event.text);
        if (event.type === 'text' && event.annotations) append(into.annotations, event.annotations);
        if (event.type === 'text' && event.logprobs) append(into.logprobs, event.logprobs);
        break;
      }
      case 'reasoning-seal':
        draft(event.part, 'reasoning').seals.push(event.seal);
        break;
      case 'tool-call': {
        const { id, name, namespace, custom } = event;
        draft(event.part, 'tool-call').call = defined({ id, name, namespace, custom });
        break;
      }
      case 'tool-arguments':
        draft(event.part, 'tool-call').text.push(event.json);
        break;
      case 'discard':
        drafts[event.call] = undefined;
        break;
      case 'usage':
        answer.usage = event.usage;
        break;
      case 'finish':
        answer.finish = event.reason;
        if (event.stopSequence !== undefined) answer.stopSequence = event.stopSequence;
        if (event.native !== undefined) answer.native = event.native;
        break;
      case 'error':
        answer.error = event.error;
        break;
      default:
        event satisfies never;
    }
  }
  answer.parts = drafts.flatMap((made) => (made ? [itemPart(made)] : []));
  return answer;
}

/** Reads a stream to its end. */
export async function foldStream(stream: AsyncIterable<Event>): Promise<FoldedAnswer> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return foldEvents(events);
}

/** The text of an answer, without reasoning and refusals. */
export function answerText({ parts }: Pick<FoldedAnswer, 'parts'>): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function itemPart(draft: Draft): AssistantPart {
  const text = draft.text.join('');
  switch (draft.type) {
    case 'text':
      return defined({
        type: 'text' as const,
        text,
        annotations: draft.annotations.length > 0 ? draft.annotations : undefined,
        logprobs: draft.logprobs.length > 0 ? draft.logprobs : undefined,
      });
    case 'refusal':
      return { type: 'refusal', text };
    case 'reasoning':
      return { type: 'reasoning', text, seals: draft.seals };
    case 'tool-call':
      return { type: 'tool-call', ...draft.call, arguments: text };
  }
}
