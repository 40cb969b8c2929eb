/** A change that the user made, oldest first in a request. All texts end with a line break or are empty. */
export interface RecentEdit {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  /** Hunks of a unified diff: `@@` lines and lines with ` `, `-` or `+`. */
  readonly diff: string;
  /** The changed lines before and after, with their context. */
  readonly original: string;
  readonly updated: string;
  /** First line of `original`, counted from 1. */
  readonly line: number;
  /** The user accepted it from a prediction. */
  readonly predicted?: true;
}

/** Code from another place that may help. */
export interface Snippet {
  readonly path: string;
  readonly text: string;
}

/**
 * Which edit comes next? The model may rewrite `region`, the code around the cursor. All line breaks are `\n`; the
 * caller restores those of the file.
 */
export interface EditRequest {
  readonly path: string;
  /** Code of the file before and after the region. It is not changed. */
  readonly before: string;
  readonly region: string;
  readonly after: string;
  /** Index in `region` in UTF-16 code units. */
  readonly cursor: number;
  /** First line of the region in the file, counted from 1. */
  readonly startLine: number;
  /** `before` begins at the beginning of the file. */
  readonly fromStart?: true;
  /** The region before the last edit, if it is known. */
  readonly original?: string;
  /** Oldest first. */
  readonly edits: readonly RecentEdit[];
  /** Oldest first. */
  readonly snippets: readonly Snippet[];
}

/** Formats of prompts and answers: see the file of each family for its source. */
export const EDIT_DIALECTS = [
  'inception-edit',
  'sweep-1',
  'sweep-2',
  'zeta-1',
  'zeta-2',
  'zeta-2.1',
  'chat-patch',
] as const;

export type EditDialect = (typeof EDIT_DIALECTS)[number];

/** How a prompt is sent. `edit`: `/edit/completions` with one user message; `text`: raw `/completions`. */
export type EditTransport = 'edit' | 'text' | 'chat';

/** A prompt and the bounds of its answer. */
export interface EditPrompt {
  readonly transport: EditTransport;
  readonly text: string;
  /** Of a chat. */
  readonly system?: string;
  readonly stop: readonly string[];
  /** The answer continues this text, which is the end of `text`. */
  readonly prefill: string;
}

/** Text with a line break at its end. An empty text stays empty. */
export function withBreak(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** The region with a mark at the cursor. */
export function markedRegion({ region, cursor }: EditRequest, mark: string): string {
  return region.slice(0, cursor) + mark + region.slice(cursor);
}

/** `rewritten` ends as the region does: models add and lose the last line break. */
export function endedLike(region: string, rewritten: string): string {
  if (region.endsWith('\n')) return withBreak(rewritten);
  return rewritten.endsWith('\n') ? rewritten.slice(0, -1) : rewritten;
}

/** The text up to the first of some marks. */
export function upTo(text: string, marks: readonly string[]): string {
  const ends = marks.map((mark) => text.indexOf(mark)).filter((at) => at !== -1);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}
