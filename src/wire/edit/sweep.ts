import { type EditPrompt, type EditRequest, endedLike, markedRegion, upTo, withBreak } from './edit-request.ts';

const SEPARATOR = '<|file_sep|>';
const CURSOR = '<|cursor|>';
/** The tokens with which the models end (model cards of `sweepai/sweep-next-edit-*`). At most four are sent. */
const STOP = [SEPARATOR, '<|endoftext|>', '</s>', '<|fim_middle|>'];
/** Number of recent changes in a prompt, and of lines of each side of one. */
const MAX_CHANGES = 3;
const MAX_LINES = 40;

/** Lines of the region above and below the cursor. The models were trained with a fixed window of 21 lines. */
export const SWEEP_LINES = 10;

/**
 * The prompt of Sweep Next-Edit 0.5B, 1.5B and 3B: files, recent changes, and the window in three states
 * (source: model card of `sweepai/sweep-next-edit-1.5B` and the client in Zed).
 */
export function writeSweep1(request: EditRequest): EditPrompt {
  const { path, region } = request;
  const text = [
    ...request.snippets.map((snippet) => file(snippet.path, snippet.text)),
    ...changes(request, (edit) => `${edit.path}.diff`),
    file(`original/${path}`, request.original ?? region),
    file(`current/${path}`, region),
    `${SEPARATOR}updated/${path}\n`,
  ].join('');
  return { transport: 'text', text, stop: STOP, prefill: '' };
}

/**
 * The prompt of Sweep Next-Edit v2 7B: the file around the window first, lines in the headers, a mark at the cursor, and
 * the lines above the cursor as the beginning of the answer
 * (source: `inference.py` of `sweepai/sweep-next-edit-v2-7B`).
 */
export function writeSweep2(request: EditRequest): EditPrompt {
  const { path, region, startLine } = request;
  const place = `${path}:${startLine}:${startLine + lineCount(region) - 1}`;
  const above = region.slice(0, request.cursor);
  const prefill = above.slice(0, above.lastIndexOf('\n') + 1);
  const text = [
    file(path, withBreak(request.before) + request.after),
    ...request.snippets.map((snippet) => file(snippet.path, snippet.text)),
    ...changes(request, (edit) => `${edit.path}:${edit.line}:${edit.line + lineCount(edit.original) - 1}`),
    file(`original/${place}`, request.original ?? region),
    file(`current/${place}`, markedRegion(request, CURSOR)),
    `${SEPARATOR}updated/${place}\n${prefill}`,
  ].join('');
  return { transport: 'text', text, stop: STOP, prefill };
}

/** The rewritten window. Undefined: the same. */
export function readSweep({ region }: EditRequest, answer: string): string | undefined {
  const text = upTo(answer, STOP).replaceAll(CURSOR, '');
  return text.trim() === '' && region.trim() !== '' ? undefined : endedLike(region, text);
}

function file(path: string, content: string): string {
  return `${SEPARATOR}${path}\n${withBreak(content)}`;
}

function changes({ edits }: EditRequest, header: (edit: EditRequest['edits'][number]) => string): string[] {
  return edits
    .slice(-MAX_CHANGES)
    .map((edit) => file(header(edit), `original:\n${shortened(edit.original)}updated:\n${shortened(edit.updated)}`));
}

/** The first and the last lines of a long change, with `...` between them. */
function shortened(text: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  if (lines.length <= MAX_LINES) return withBreak(lines.join('\n'));
  const head = MAX_LINES / 2;
  return withBreak([...lines.slice(0, head), '...', ...lines.slice(lines.length - (MAX_LINES - head - 1))].join('\n'));
}

function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}
