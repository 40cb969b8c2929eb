import { defined } from '../../../base/json.ts';
import type { FileChange } from '../../../chat/message-parts.ts';
import { showUnseen } from '../../../chat/tools/visible-text.ts';
import type { Part } from '../../../chat/transcript.ts';
import { t } from '../../shared/words.ts';

export type ToolPart = Extract<Part, { type: 'tool' }>;

/** The first line of a card. */
export interface ToolTitle {
  /** The effect of the call; absent: the name of the tool is shown. */
  readonly verb?: string;
  /** A file of the workspace that the title opens. */
  readonly file?: { readonly path: string; readonly line?: number };
  /** Distinguishes calls: a command, a query. */
  readonly gist?: string;
  readonly counts?: { readonly added: number; readonly removed: number };
}

/** The origin of the tools that Svc itself has. */
export const OWN = 'Svc';

export function toolTitle(part: ToolPart): ToolTitle {
  const { action } = part;
  switch (action?.type) {
    case 'changes':
      return changesTitle(action.changes);
    case 'command':
      return { verb: t('Run'), gist: firstLine(action.command) };
    case 'fetch':
      return { verb: t('Fetch'), gist: firstLine(action.url) };
    case 'question':
      return { verb: t('Question'), gist: firstLine(action.question) };
    case 'tasks':
      return { verb: t('Tasks'), gist: t('{0} of {1} done', done(action.tasks), action.tasks.length) };
    case undefined:
      return part.origin === OWN ? ownTitle(part) : { gist: firstArgument(part.text) };
  }
}

function changesTitle(changes: readonly FileChange[]): ToolTitle {
  const counts = {
    added: changes.reduce((sum, { added }) => sum + added, 0),
    removed: changes.reduce((sum, { removed }) => sum + removed, 0),
  };
  const [first] = changes;
  if (first === undefined || changes.length > 1) return { verb: t('Edit {0} files', changes.length), counts };
  if (first.kind === 'rename') {
    return { verb: t('Rename'), file: { path: first.path }, gist: `→ ${showUnseen(first.newPath ?? '')}` };
  }
  const verb = { edit: t('Edit'), create: t('Create'), delete: t('Delete') }[first.kind];
  const line = first.hunks[0]?.newStart;
  return { verb, file: { path: first.path, ...defined({ line }) }, counts };
}

function ownTitle({ name, text }: ToolPart): ToolTitle {
  const input = readObject(text);
  const path = stringField(input, 'path');
  const file = path === '' ? {} : { file: { path, ...lineField(input) } };
  switch (name) {
    case 'read_file':
      return { verb: t('Read'), ...file };
    case 'edit_file':
    case 'edit_files':
      return { verb: t('Edit'), ...file };
    case 'create_file':
      return { verb: t('Create'), ...file };
    case 'rename_file':
      return { verb: t('Rename'), ...file };
    case 'delete_file':
      return { verb: t('Delete'), ...file };
    case 'list_files':
      return { verb: t('List files'), gist: firstArgument(text) };
    case 'search_text':
      return { verb: t('Search'), gist: showUnseen(firstLine(stringField(input, 'query'))) };
    case 'find_symbols':
      return { verb: t('Find symbols'), gist: firstArgument(text) };
    case 'get_problems':
      return { verb: t('Check problems'), ...file };
    case 'git_diff':
      return { verb: t('Read Git changes') };
    case 'run_in_terminal':
      return { verb: t('Run'), gist: firstLine(stringField(input, 'command')) };
    default:
      return { gist: firstArgument(text) };
  }
}

function done(tasks: readonly { readonly state: string }[]): number {
  return tasks.filter(({ state }) => state === 'done').length;
}

/** The first value of the arguments, to distinguish calls. */
function firstArgument(text: string): string {
  const first = Object.values(readObject(text) ?? {})[0];
  return typeof first === 'string' ? firstLine(first) : '';
}

/** Number of characters of a title. The details have the whole text. */
const MAX_GIST = 200;

function firstLine(text: string): string {
  const [line = '', ...more] = text.trim().split('\n', 2);
  const shown = showUnseen(line.slice(0, MAX_GIST).toWellFormed());
  return more.length > 0 || line.length > MAX_GIST ? `${shown} …` : shown;
}

/** Parses the arguments of a call; undefined if they are no object, also because they are still received. */
export function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function stringField(input: Readonly<Record<string, unknown>> | undefined, name: string): string {
  const value = input?.[name];
  return typeof value === 'string' ? value : '';
}

function lineField(input: Readonly<Record<string, unknown>> | undefined): { readonly line?: number } {
  const value = input?.from;
  return typeof value === 'number' && value >= 1 ? { line: Math.floor(value) } : {};
}
