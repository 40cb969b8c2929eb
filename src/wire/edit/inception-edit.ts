import { invalidRequest } from '../errors/svc-error.ts';
import {
  type EditPrompt,
  type EditRequest,
  endedLike,
  markedRegion,
  type RecentEdit,
  withBreak,
} from './edit-request.ts';

/**
 * The prompt of Inception's Mercury Edit: one user message for `POST /v1/edit/completions`
 * (source: Inception's API documentation, "Next Edit", and the clients in Zed and Kilo Code).
 */
export function writeInceptionEdit(request: EditRequest): EditPrompt {
  const snippets = request.snippets.map(({ path, text }) =>
    block('recently_viewed_code_snippet', `code_snippet_file_path: ${path}\n${withBreak(text)}`),
  );
  const region = block('code_to_edit', withBreak(markedRegion(request, CURSOR)));
  const file = `current_file_path: ${request.path}\n${withBreak(request.before)}${region}${withBreak(request.after)}`;
  const edits = request.edits.map(({ path, diff }) => `--- a/${path}\n+++ b/${path}\n${withBreak(diff)}`);
  const text =
    block('recently_viewed_code_snippets', snippets.join('')) +
    block('current_file_content', file) +
    block('edit_diff_history', edits.join('\n'));
  return { transport: 'edit', text, stop: [], prefill: '' };
}

const CURSOR = '<|cursor|>';
const OPEN_TO_EDIT = '<|code_to_edit|>\n';
const CLOSE_TO_EDIT = '<|/code_to_edit|>';

function block(name: string, content: string): string {
  return `<|${name}|>\n${content}<|/${name}|>\n`;
}

/** The rewritten region, which may be in a fence and in its tags. Undefined: the model answers that nothing changes. */
export function readInceptionEdit({ region }: EditRequest, answer: string): string | undefined {
  let text = answer.replace(/^```[\w-]{0,20}\n/, '');
  text = text.endsWith('\n```') ? text.slice(0, -3) : text.endsWith('\n```\n') ? text.slice(0, -4) : text;
  if (text.trim() === 'None' || text.trim() === '') return undefined;
  const open = text.indexOf(OPEN_TO_EDIT);
  if (open !== -1) text = text.slice(open + OPEN_TO_EDIT.length);
  const close = text.lastIndexOf(CLOSE_TO_EDIT);
  if (close !== -1) text = text.slice(0, close);
  return endedLike(region, text.replaceAll(CURSOR, ''));
}

/**
 * Reads the user message of a client that speaks this format.
 *
 * @throws SvcError 400 if the region or the cursor is missing.
 */
export function parseInceptionEdit(content: string): EditRequest {
  const file = inner(content, 'current_file_content');
  if (file === undefined) throw missing('<|current_file_content|>');
  const open = file.indexOf(OPEN_TO_EDIT);
  const close = file.indexOf(CLOSE_TO_EDIT, open);
  if (open === -1 || close === -1) throw missing('<|code_to_edit|>');
  const [path, body] = splitPath(file.slice(0, open), 'current_file_path: ');
  const marked = file.slice(open + OPEN_TO_EDIT.length, close);
  const cursor = marked.indexOf(CURSOR);
  if (cursor === -1) throw missing(CURSOR);
  const snippets = inner(content, 'recently_viewed_code_snippets') ?? '';
  return {
    path,
    before: body,
    region: marked.replaceAll(CURSOR, ''),
    after: file.slice(close + CLOSE_TO_EDIT.length).replace(/^\n/, ''),
    cursor,
    startLine: body.split('\n').length,
    edits: parseDiff(inner(content, 'edit_diff_history') ?? ''),
    snippets: parseSnippets(snippets),
  };
}

function missing(tag: string) {
  return invalidRequest('messages', `The message has no \`${tag}\`, which the format of next edits requires.`);
}

function inner(content: string, name: string): string | undefined {
  const open = `<|${name}|>\n`;
  const from = content.indexOf(open);
  const to = from === -1 ? -1 : content.indexOf(`<|/${name}|>`, from + open.length);
  return to === -1 ? undefined : content.slice(from + open.length, to);
}

/** The path in the first line, and the rest. */
function splitPath(text: string, label: string): readonly [path: string, rest: string] {
  if (!text.startsWith(label)) return ['', text];
  const end = text.indexOf('\n');
  return end === -1 ? [text.slice(label.length), ''] : [text.slice(label.length, end), text.slice(end + 1)];
}

function parseSnippets(text: string) {
  return text
    .split('<|recently_viewed_code_snippet|>\n')
    .slice(1)
    .map((part) => {
      const [path, rest] = splitPath(part, 'code_snippet_file_path: ');
      const end = rest.indexOf('<|/recently_viewed_code_snippet|>');
      return { path, text: end === -1 ? rest : rest.slice(0, end) };
    });
}

/** The changes of unified diffs, one for each file. */
export function parseDiff(history: string): RecentEdit[] {
  const edits: RecentEdit[] = [];
  let path = '';
  let lines: string[] = [];
  const flush = () => {
    if (lines.length > 0) edits.push(editFromDiff(path, lines));
    lines = [];
  };
  for (const line of history.split('\n')) {
    if (line.startsWith('--- ')) flush();
    else if (line.startsWith('+++ ')) path = line.slice(4).replace(/^b\//, '').split('\t', 1)[0] ?? '';
    else if (/^[ +@-]/.test(line)) lines.push(line);
  }
  flush();
  return edits;
}

function editFromDiff(path: string, lines: readonly string[]): RecentEdit {
  const side = (sign: '-' | '+') =>
    withBreak(
      lines
        .filter((line) => line.startsWith(sign) || line.startsWith(' '))
        .map((line) => line.slice(1))
        .join('\n'),
    );
  const line = /^@@ -(\d{1,9})/.exec(lines[0] ?? '')?.[1];
  return {
    path,
    diff: `${lines.join('\n')}\n`,
    original: side('-'),
    updated: side('+'),
    line: line === undefined ? 1 : Number(line),
  };
}
