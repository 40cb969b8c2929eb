import {
  type EditPrompt,
  type EditRequest,
  endedLike,
  markedRegion,
  type RecentEdit,
  upTo,
  withBreak,
} from './edit-request.ts';

const CURSOR = '<|user_cursor|>';
/** Number of recent changes in a prompt of Zeta 2. */
const MAX_EDITS = 6;
const END = '>>>>>>> UPDATED';
const NO_EDITS = 'NO_EDITS';

const OLD_CURSOR = '<|user_cursor_is_here|>';
const OLD_START = '<|editable_region_start|>';
const OLD_END = '<|editable_region_end|>';
const OLD_INSTRUCTION =
  'You are a code completion assistant and your task is to analyze user edits and then rewrite an excerpt that the user provides, suggesting the appropriate edits within the excerpt, taking into account the cursor location.';

/** The prompt of Zeta 1 (source: the dataset `zed-industries/zeta` and the crate `zeta_prompt` of Zed). */
export function writeZeta1(request: EditRequest): EditPrompt {
  const edits = request.edits.map(({ path, diff }) => `User edited ${path}:\n\`\`\`diff\n${diff}\n\`\`\``);
  const start = request.fromStart ? '<|start_of_file|>\n' : '';
  const excerpt = [
    `\`\`\`${request.path}\n${start}${request.before}`,
    `${OLD_START}\n${markedRegion(request, OLD_CURSOR)}\n${OLD_END}`,
    `${request.after}\n\`\`\``,
  ].join('');
  const text = `### Instruction:\n${OLD_INSTRUCTION}\n\n### User Edits:\n\n${edits.join('\n\n')}\n\n### User Excerpt:\n\n${excerpt}\n\n### Response:\n`;
  return { transport: 'text', text, stop: ['<|endoftext|>', '### Instruction:'], prefill: '' };
}

/** The text between the marks. Undefined: there is none. */
export function readZeta1({ region }: EditRequest, answer: string): string | undefined {
  const open = answer.indexOf(OLD_START);
  if (open === -1) return undefined;
  const body = upTo(answer.slice(open + OLD_START.length).replace(/^\n/, ''), [OLD_END]);
  const text = body.endsWith('\n') ? body.slice(0, -1) : body;
  return endedLike(region, text.replaceAll(OLD_CURSOR, ''));
}

/** The prompt of Zeta 2: Seed-Coder's tokens and the marks of a merge conflict (source: Zed's `zeta_prompt`). */
export function writeZeta2(request: EditRequest): EditPrompt {
  const region = `<<<<<<< CURRENT\n${withBreak(markedRegion(request, CURSOR))}=======\n`;
  return { transport: 'text', text: seedPrompt(request, region), stop: [END, '<[end▁of▁sentence]>'], prefill: '' };
}

/** The rewritten region. Undefined: the model answers that there are no edits. */
export function readZeta2({ region }: EditRequest, answer: string): string | undefined {
  const text = upTo(answer, [END, '<[end▁of▁sentence]>']);
  return text.trim() === NO_EDITS ? undefined : endedLike(region, text.replaceAll(CURSOR, ''));
}

/** The prompt of Zeta 2.1: as Zeta 2, with numbered marks between the blocks of the region. */
export function writeZeta21(request: EditRequest): EditPrompt {
  const { region, cursor } = request;
  const offsets = blockOffsets(region);
  let placed = false;
  const blocks = offsets.map((offset, index) => {
    const end = offsets[index + 1];
    if (end === undefined) return mark(index);
    const block = region.slice(offset, end);
    if (placed || cursor < offset || cursor > end) return mark(index) + block;
    placed = true;
    return mark(index) + block.slice(0, cursor - offset) + CURSOR + block.slice(cursor - offset);
  });
  const text = seedPrompt(request, withBreak(blocks.join('')));
  return { transport: 'text', text, stop: ['<[end▁of▁sentence]>'], prefill: '' };
}

/** The region with the blocks between the first and the last mark replaced. Undefined: the same mark twice, or none. */
export function readZeta21({ region }: EditRequest, answer: string): string | undefined {
  const text = upTo(answer, ['<[end▁of▁sentence]>']);
  const marks = [...text.matchAll(/<\|marker_(\d{1,4})\|>/g)];
  const [first, last] = [marks[0], marks.at(-1)];
  if (!first || !last || first === last || first[1] === last[1]) return undefined;
  const offsets = blockOffsets(region);
  const from = offsets[Number(first[1]) - 1];
  const to = offsets[Number(last[1]) - 1];
  if (from === undefined || to === undefined || from > to) return undefined;
  const content = text
    .slice(first.index + first[0].length, last.index)
    .replace(/<\|marker_\d{1,4}\|>/g, '')
    .replaceAll(CURSOR, '');
  return region.slice(0, from) + content + region.slice(to);
}

const mark = (index: number) => `<|marker_${index + 1}|>`;

/** The suffix, then all context and the code before the region, then the region. */
function seedPrompt(request: EditRequest, region: string): string {
  const files = request.snippets.map(({ path, text }) => `<filename>${path}\n${withBreak(text)}`).join('');
  const history = request.edits.slice(-MAX_EDITS).map(historyEntry).join('');
  return [
    `<[fim-suffix]>${request.after === '' ? '\n' : withBreak(request.after)}`,
    `<[fim-prefix]>${files === '' ? '' : `${files}\n`}`,
    history === '' ? '' : `<filename>edit_history\n${history}\n`,
    `<filename>${request.path}\n${request.before}${region}<[fim-middle]>`,
  ].join('');
}

function historyEntry({ path, diff, predicted }: RecentEdit): string {
  const head = predicted ? '// User accepted prediction:\n' : '';
  return `${head}--- a/${path}\n+++ b/${path}\n${withBreak(diff)}`;
}

/** Lines of a block of Zeta 2.1. */
const MIN_BLOCK = 6;
const MAX_BLOCK = 16;
/** A block begins at most this many lines later than it could, at a better line. */
const MAX_NUDGE = 5;

/**
 * Where the blocks of a region begin and the last one ends. A block begins after a blank line if it is long enough, else
 * after 16 lines, and rather not with a closing bracket or a statement that ends a block.
 */
function blockOffsets(region: string): readonly number[] {
  if (region === '') return [0, 0];
  const lines = linesOf(region);
  const offsets = [0];
  let last = 0;
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index];
    const afterBlank = !line?.blank && lines[index - 1]?.blank === true;
    const long = index - last >= MAX_BLOCK;
    if (!long && !(afterBlank && index - last >= MIN_BLOCK)) continue;
    const target = goodStart(lines, index);
    const start = lines[target]?.start ?? 0;
    const enough = long || lines.length - target >= MIN_BLOCK;
    if (!enough || start <= (offsets.at(-1) ?? 0)) continue;
    offsets.push(start);
    last = target;
    index = target;
  }
  if (offsets.at(-1) !== region.length) offsets.push(region.length);
  return offsets;
}

interface Line {
  readonly start: number;
  readonly blank: boolean;
  readonly good: boolean;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const trimmed = line.trim();
    const blank = trimmed === '';
    const tail = /^[}\])]/.test(trimmed) || /^(?:break|continue|return|throw|end);*$/.test(trimmed);
    lines.push({ start, blank, good: !blank && !tail });
    start += line.length + 1;
  }
  return lines;
}

function goodStart(lines: readonly Line[], from: number): number {
  for (let index = from; index < Math.min(lines.length, from + MAX_NUDGE); index++)
    if (lines[index]?.good) return index;
  return from;
}
