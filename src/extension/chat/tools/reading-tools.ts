import * as vscode from 'vscode';
import * as z from 'zod';
import { readRegularFile } from '../../../base/regular-file.ts';
import { withoutByteOrderMark } from '../../../base/text.ts';
import { defineReadingTool, defineTool, outcomeOf } from '../../../chat/tools/define-tool.ts';
import { folderListing, pathList } from '../../../chat/tools/search/folder-listing.ts';
import { searchReport } from '../../../chat/tools/search/search-report.ts';
import { escapeGlob } from '../../../chat/tools/search/search-scope.ts';
import type { ChatTool, ToolOutcome } from '../../../chat/tools/tools.ts';
import { cautionFor } from '../../../chat/tools/workspace-files.ts';
import { gitDiff } from '../attachments/git.ts';
import { allProblems, problemsText } from '../attachments/problems.ts';
import { statOf, textDocument } from './editor-files.ts';
import { foreignLines, notUtf8 } from './file-text.ts';
import { type FoundFile, namedFiles, workspaceFile } from './workspace-path.ts';
import { findWorkspaceFiles, searchWorkspace } from './workspace-search.ts';

const MAX_LINES = 2000;
/** VS Code opens no larger files in an editor of an extension. */
const MAX_BYTES = 50 * 1024 * 1024;
const MAX_CONTEXT = 10;

const path = z.string().describe('Path from the root of the workspace.');
const pattern = z.string().describe('Glob of files, for example src/**/*.ts.').optional();

/** Tools that only read the workspace. They need no confirmation, except for files that may contain secrets. */
export function readingTools(): readonly ChatTool[] {
  return [
    defineTool(
      {
        name: 'read_file',
        description: 'Reads a text file.',
        input: z.object({
          path,
          from: z.number().describe('First line, counted from 1.').optional(),
          to: z.number().describe('Last line.').optional(),
        }),
        files: (input) => namedFiles([input.path], ['read']),
      },
      false,
      async (input) => {
        const file = await workspaceFile(input.path);
        const confirmation = cautionFor(file, input.path, 'read') ?? false;
        return { confirmation, reads: [file.relative], run: () => readFile(file, input) };
      },
    ),
    defineReadingTool(
      {
        name: 'list_files',
        description: 'Lists a folder, or all files that match a pattern. Ignored files are left out.',
        input: z.object({ path: z.string().describe('Folder. Default: the whole workspace.').optional(), pattern }),
      },
      ({ path: folder, pattern: glob }, { signal }) => listFiles(folder, glob, signal),
    ),
    defineReadingTool(
      {
        name: 'search_text',
        description: 'Searches the text of files, ignoring case.',
        input: z.object({
          query: z.string(),
          regex: z.boolean().describe('The query is a regular expression.').optional(),
          pattern,
          context: z.number().describe('Lines around each match. Default: 2.').optional(),
        }),
      },
      async ({ query, regex = false, pattern: glob, context = 2 }, { signal, mayRead }) => {
        if (query === '') throw new Error('The query is empty.');
        const lines = Math.min(MAX_CONTEXT, Math.max(0, Math.floor(context)));
        const result = await searchWorkspace(glob, { text: query, regex, context: lines, mayRead }, signal);
        return outcomeOf(searchReport(result), 'No matches were found.');
      },
    ),
    defineReadingTool(
      {
        name: 'get_problems',
        description: 'Returns errors and warnings of the editor, of one file or of all.',
        input: z.object({ path: z.string().optional() }),
        files: ({ path: named }) => namedFiles(named ? [named] : [], ['read']),
      },
      async (input, { mayRead }) => {
        if (!input.path) return outcomeOf(await allProblems(mayRead), 'There are no problems.');
        return outcomeOf(problemsText((await workspaceFile(input.path)).uri), 'There are no problems.');
      },
    ),
    defineReadingTool(
      { name: 'git_diff', description: 'Returns all uncommitted changes, with new files.', input: z.object({}) },
      async (_, { mayRead }) => outcomeOf(await gitDiff('all', undefined, mayRead), 'There are no changes.'),
    ),
  ];
}

interface FileLines {
  readonly lines: readonly string[];
  /** 1-based lines with bytes that are not UTF-8, in a file that is read as UTF-8. */
  readonly foreign: readonly number[];
}

/** The lines of a file that no editor shows are those of the opened file at its real path. */
async function readLines({ uri, relative, onDisk }: FoundFile): Promise<FileLines> {
  const noText = `${relative} is not a text file, or is too large.`;
  const isShown = vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString());
  let text: string;
  let content: Uint8Array | undefined;
  if (onDisk && !isShown) {
    const read = await readRegularFile(onDisk.real, { limit: MAX_BYTES, at: onDisk.real });
    if ('problem' in read) throw new Error(read.problem === 'outside' ? `${relative} is another file now.` : noText);
    if (
      read.bytes.includes(0) &&
      !/^(?:\xFF\xFE|\xFE\xFF)/.test(Buffer.from(read.bytes.subarray(0, 2)).toString('latin1'))
    )
      throw new Error(noText);
    content = read.bytes;
    text = await vscode.workspace.decode(content, { uri });
  } else {
    const document = await textDocument(uri);
    if (!document) throw new Error(noText);
    text = document.getText();
  }
  const lines = withoutByteOrderMark(text).split(/(?<=\n|\r(?!\n))/);
  const foreign = text.includes('\uFFFD')
    ? foreignLines(content ?? (await vscode.workspace.fs.readFile(uri)), text)
    : [];
  return { lines: /[\r\n]$/.test(text) ? [...lines, ''] : lines, foreign };
}

async function readFile(
  file: FoundFile,
  input: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<ToolOutcome> {
  const { uri, relative } = file;
  const stat = await statOf(uri);
  if (!stat) throw new Error(`${relative} does not exist.`);
  if (stat.type & vscode.FileType.Directory) throw new Error(`${relative} is a folder. Use list_files.`);
  const { lines: all, foreign } = await readLines(file);
  checkRange(relative, all.length, input);
  const from = Math.max(1, Math.floor(input.from ?? 1));
  const to = Math.min(all.length, Math.floor(input.to ?? all.length), from + MAX_LINES - 1);
  const lines = all.slice(from - 1, to).join('');
  const rest = from > 1 || to < all.length ? `\n[lines ${from}-${to} of ${all.length}]` : '';
  const seen = foreign.filter((line) => line >= from && line <= to);
  const note = seen.length === 0 ? '' : `\n[${notUtf8(relative, seen)}]`;
  return { output: `${lines}${rest}${note}` };
}

/** @throws Error if the lines do not exist. */
function checkRange(
  relative: string,
  lines: number,
  { from = 1, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): void {
  if (from < 0 || (to !== undefined && to < 1))
    throw new Error('Lines are counted from 1. Leave out `to` to read to the end.');
  if (to !== undefined && from > to) throw new Error(`from (${from}) is after to (${to}). Nothing was read.`);
  if (from > lines)
    throw new Error(`${relative} has ${lines} ${lines === 1 ? 'line' : 'lines'}, so there is no line ${from}.`);
}

async function listFiles(
  folder: string | undefined,
  pattern: string | undefined,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  if (pattern) {
    const scoped = folder ? `${folder.replace(/\/$/, '')}/${pattern.includes('/') ? '' : '**/'}${pattern}` : pattern;
    return outcomeOf(pathList(await findWorkspaceFiles(scoped, signal)), 'No file matches.');
  }
  if (!folder || folder === '.' || folder === '/')
    return { output: folderListing(await findWorkspaceFiles(undefined, signal)) };
  const { uri, relative } = await workspaceFile(folder);
  const stat = await statOf(uri);
  if (!stat) throw new Error(`${folder} does not exist.`);
  if (!(stat.type & vscode.FileType.Directory)) throw new Error(`${folder} is a file. Use read_file.`);
  const found = await findWorkspaceFiles(`${escapeGlob(relative)}/**`, signal);
  return outcomeOf(found.length === 0 ? '' : folderListing(found), `${relative}/ has no files, or they are ignored.`);
}
