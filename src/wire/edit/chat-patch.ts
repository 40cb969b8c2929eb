import { onlyBlock } from '../answer-content.ts';
import { type EditPrompt, type EditRequest, markedRegion, withBreak } from './edit-request.ts';
import { writeInceptionEdit } from './inception-edit.ts';

const NO_EDIT = '<NO_EDIT>';
const INSTRUCTIONS = [
  'You predict the next edit of a programmer. You see recent edits as diffs, snippets of other files, and the current file with the cursor at <|cursor|>.',
  'Continue what the recent edits began: the same rename, the same new parameter, the missing import, the other call. Change as little as possible. Never undo a recent edit. Do not change formatting.',
  `Answer with the lines between <|code_to_edit|> and <|/code_to_edit|> as they are after the edit, without the tags, in one fenced block and nothing else. If no edit follows, answer ${NO_EDIT}.`,
].join('\n');

/** The question to any chat model: the parts of Mercury's prompt with instructions. */
export function writeChatPatch(request: EditRequest): EditPrompt {
  return { transport: 'chat', system: INSTRUCTIONS, text: writeInceptionEdit(request).text, stop: [], prefill: '' };
}

/** The code of the only fenced block. Undefined: no edit, or an answer that is not code alone. */
export function readChatPatch(request: EditRequest, answer: string): string | undefined {
  if (answer.includes(NO_EDIT)) return undefined;
  const text = onlyBlock(answer);
  if (text === undefined) return undefined;
  const plain = text.replaceAll('<|cursor|>', '').replace(/^<\|code_to_edit\|>\n|\n?<\|\/code_to_edit\|>$/g, '');
  const same = markedRegion(request, '') === withBreak(plain);
  if (same) return undefined;
  return request.region.endsWith('\n') ? withBreak(plain) : plain;
}
