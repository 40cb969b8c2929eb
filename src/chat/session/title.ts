import type { Model } from '../../catalog/model.ts';
import { textOfAnswer } from '../../wire/answer-content.ts';
import type { Conversation } from '../../wire/conversation.ts';
import type { Attachment } from '../attachment.ts';
import { type Message, messageText } from '../transcript.ts';

const TITLE_LENGTH = 60;
/** Characters of each message that the model receives. */
const MESSAGE_LENGTH = 2000;
const MAX_MESSAGES = 4;
const INSTRUCTIONS =
  'Name the conversation in at most six words, in its language. Answer with the name only: no quotation marks, no full stop.';

/** Derives the title of a conversation from its first message. */
export function titleFrom(text: string, attachments: readonly Attachment[] = []): string {
  const line = text.trim().split('\n', 1)[0]?.trim() || attachments[0]?.label || 'New conversation';
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1).trimEnd()}…`;
}

/** The request for a title of the model. */
export function titleRequest(messages: readonly Message[], model: Model): Conversation {
  const text = messages
    .filter(({ role, auto }) => role !== 'summary' && !auto)
    .slice(0, MAX_MESSAGES)
    .map((message) => `${message.role}: ${messageText(message).slice(0, MESSAGE_LENGTH)}`)
    .join('\n\n');
  return {
    model: model.id,
    system: [{ type: 'text', text: INSTRUCTIONS }],
    turns: [{ role: 'user', parts: [{ type: 'text', text: `<conversation>\n${text}\n</conversation>` }] }],
    tools: [],
    sampling: {},
    stream: true,
  };
}

/** The title in a model's answer: its first line without quotation marks. Empty if there is none. */
export function titleInAnswer(answer: string): string {
  const line = textOfAnswer(answer)
    .trim()
    .split('\n', 1)[0]
    ?.replace(/^[#*"'“„«\s]{0,8}/, '');
  const end = line?.replace(/[*"'”“»\s.]{1,8}$/, '') ?? '';
  return end === '' ? '' : titleFrom(end);
}
