import { invalidRequest } from '../errors/svc-error.ts';
import { readChatPatch, writeChatPatch } from './chat-patch.ts';
import type { EditDialect, EditPrompt, EditRequest } from './edit-request.ts';
import { readInceptionEdit, writeInceptionEdit } from './inception-edit.ts';
import { readSweep, writeSweep1, writeSweep2 } from './sweep.ts';
import { readZeta1, readZeta2, readZeta21, writeZeta1, writeZeta2, writeZeta21 } from './zeta.ts';

interface Dialect {
  readonly write: (request: EditRequest) => EditPrompt;
  /** The rewritten region; undefined: no edit. */
  readonly read: (request: EditRequest, answer: string) => string | undefined;
  /** Texts that the format uses itself, so that they can't occur in code. */
  readonly reserved: readonly string[];
}

const TAGS = ['<|code_to_edit|>', '<|/code_to_edit|>', '<|cursor|>', '<|/current_file_content|>'];
const SEED = ['<[fim-suffix]>', '<[fim-prefix]>', '<[fim-middle]>', '<|user_cursor|>', '>>>>>>> UPDATED'];

const DIALECTS: Readonly<Record<EditDialect, Dialect>> = {
  'inception-edit': { write: writeInceptionEdit, read: readInceptionEdit, reserved: TAGS },
  'sweep-1': { write: writeSweep1, read: readSweep, reserved: ['<|file_sep|>', '</s>'] },
  'sweep-2': { write: writeSweep2, read: readSweep, reserved: ['<|file_sep|>', '<|cursor|>'] },
  'zeta-1': { write: writeZeta1, read: readZeta1, reserved: ['<|editable_region_', '<|user_cursor_is_here|>'] },
  'zeta-2': { write: writeZeta2, read: readZeta2, reserved: SEED },
  'zeta-2.1': { write: writeZeta21, read: readZeta21, reserved: [...SEED, '<|marker_'] },
  'chat-patch': { write: writeChatPatch, read: readChatPatch, reserved: TAGS },
};

/**
 * The prompt for a model.
 *
 * @throws SvcError 400 if the code contains a text that the format uses itself: the model could not tell them apart.
 */
export function writeEditPrompt(dialect: EditDialect, request: EditRequest): EditPrompt {
  const { write, reserved } = DIALECTS[dialect];
  const texts = [request.before, request.region, request.after, request.original ?? ''];
  for (const { text } of request.snippets) texts.push(text);
  for (const { diff, original, updated } of request.edits) texts.push(diff, original, updated);
  const found = reserved.find((mark) => texts.some((text) => text.includes(mark)));
  if (found !== undefined)
    throw invalidRequest('messages', `The code contains \`${found}\`, which the model’s format uses itself.`);
  return write(request);
}

/** The region after the edit. Undefined: the model proposes none, or its answer can't be used. */
export function readEditAnswer(dialect: EditDialect, request: EditRequest, answer: string): string | undefined {
  const rewritten = DIALECTS[dialect].read(request, answer.replaceAll('\r\n', '\n'));
  return rewritten === undefined || rewritten === request.region ? undefined : rewritten;
}
