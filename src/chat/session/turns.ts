import { textOfAnswer } from '../../wire/answer-content.ts';
import type { AssistantPart, ToolResultPart, Turn, UserPart } from '../../wire/conversation.ts';
import { type Attachment, attachmentPart } from '../attachment.ts';
import { markHidden } from '../tools/visible-text.ts';
import { type Message, messageText, type Part } from '../transcript.ts';

const STOPPED = 'The answer was stopped before this call ended. It is unknown whether the call took effect.';
const CONTINUE = 'Continue exactly where you stopped. Do not repeat text that you have already written.';

/**
 * The visible branch in the form sent to the model, starting with the last complete summary. Reasoning is only sent
 * back to the provider that produced it, because no other provider accepts its signatures.
 *
 * @param takes whether the model accepts an attachment. Others are replaced by a note.
 */
export function conversationTurns(
  path: readonly Message[],
  provider: string,
  takes: (attachment: Attachment) => boolean,
): Turn[] {
  const turns: Turn[] = [];
  for (const message of sentMessages(path)) {
    if (message.role === 'assistant') turns.push(...answerTurns(message, message.model?.provider === provider));
    else addUser(turns, userParts(message, takes));
  }
  return turns;
}

/** The messages of the path, with the last summary in place of everything before it. */
export function sentMessages(path: readonly Message[]): readonly Message[] {
  const at = path.findLastIndex((message) => message.role === 'summary' && isComplete(message));
  const summary = path[at];
  if (summary === undefined) return path.filter(({ role }) => role !== 'summary');
  const from = summary.keeps === undefined ? at : path.findIndex(({ id }) => id === summary.keeps);
  const kept = path.slice(from === -1 ? at : from).filter(({ role }) => role !== 'summary');
  return [summary, ...kept];
}

function isComplete({ ending }: Message): boolean {
  return ending?.type === 'finished' && ending.outcome === 'complete';
}

function userParts(message: Message, takes: (attachment: Attachment) => boolean): UserPart[] {
  if (message.role === 'summary') {
    return [{ type: 'text', text: `Summary of the conversation so far:\n\n${textOfAnswer(messageText(message))}` }];
  }
  const parts: UserPart[] = (message.attachments ?? []).map((each) =>
    takes(each) ? attachmentPart(each) : leftOut(each),
  );
  const text = message.auto ? CONTINUE : markHidden(message.prompt ?? messageText(message));
  if (text !== '') parts.push({ type: 'text', text });
  return parts;
}

function leftOut({ label }: Attachment): UserPart {
  return { type: 'text', text: `[${markHidden(label)} is left out, because you cannot process it.]` };
}

/** Merges consecutive user turns, because some servers reject them (chat templates with alternating roles). */
function addUser(turns: Turn[], parts: readonly UserPart[]): void {
  const last = turns.at(-1);
  if (last?.role === 'user') turns[turns.length - 1] = { role: 'user', parts: [...last.parts, ...parts] };
  else if (parts.length > 0) turns.push({ role: 'user', parts });
}

function answerTurns(message: Message, sameProvider: boolean): Turn[] {
  const turns: Turn[] = [];
  for (const step of splitSteps(message.parts)) {
    const parts = step.flatMap((part) => assistantPart(part, sameProvider));
    if (parts.every(({ type }) => type === 'reasoning')) continue;
    turns.push({ role: 'assistant', parts });
    const results = step.flatMap(toolResult);
    if (results.length > 0) turns.push({ role: 'user', parts: results });
  }
  return turns;
}

function splitSteps(parts: readonly Part[]): Part[][] {
  const steps: Part[][] = [[]];
  for (const part of parts) {
    if (part.type === 'step') steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps;
}

function assistantPart(part: Part, sameProvider: boolean): AssistantPart[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: part.type, text: part.text }];
    case 'reasoning':
      return sameProvider && part.seals ? [{ type: 'reasoning', text: part.text, seals: part.seals }] : [];
    case 'tool':
      return [{ type: 'tool-call', id: part.id, name: part.name, arguments: part.text }];
    case 'step':
      return [];
  }
}

function toolResult(part: Part): ToolResultPart[] {
  if (part.type !== 'tool') return [];
  const { state } = part;
  const result = (text: string, failed: boolean): ToolResultPart[] => [
    {
      type: 'tool-result',
      id: part.id,
      content: [{ type: 'text', text: markHidden(text) }],
      ...(failed ? { isError: true } : {}),
    },
  ];
  switch (state.type) {
    case 'done':
      return result(state.output, state.failed === true);
    case 'denied':
      if (state.rule !== undefined) return result(`A rule of the user denies this call: ${state.rule}`, true);
      return result(`The user did not allow this call.${state.reason === '' ? '' : ` Reason: ${state.reason}`}`, true);
    case 'stopped':
      if (state.unstarted) return result('The answer was stopped before this call ran. It had no effect.', true);
      return result(STOPPED, true);
    case 'receiving':
    case 'waiting':
    case 'allowed':
    case 'running':
      return result(STOPPED, true);
  }
}
