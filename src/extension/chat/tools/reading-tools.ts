import * as vscode from 'vscode';
import * as z from 'zod';
import { defineReadingTool, defineTool, outcomeOf } from '../../../chat/tools/define-tool.ts';
import { folderListing, pathList } from '../../../chat/tools/search/folder-listing.ts';
import { searchReport } from '../../../chat/tools/search/search-report.ts';
import type { ChatTool, ToolOutcome } from '../../../chat/tools/tools.ts';
import { cautionFor } from '../../../chat/tools/workspace-files.ts';
import { gitDiff } from '../attachments/git.ts';
import { allProblems, problemsText } from '../attachments/problems.ts';
import { statOf, textDocument } from './editor-files.ts';
import { type FoundFile, namedFiles, workspaceFile } from './workspace-path.ts';
import { findWorkspaceFiles, searchWorkspace } from './workspace-search.ts';

const MAX_LINES = 2000;
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

async function readFile(
  { uri, relative }: FoundFile,
  input: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<ToolOutcome> {
  const stat = await statOf(uri);
  if (!stat) throw new Error(`${relative} does not exist.`);
  if (stat.type & vscode.FileType.Directory) throw new Error(`${relative} is a folder. Use list_files.`);
  const document = await textDocument(uri);
  if (!document) throw new Error(`${relative} is not a text file, or is too large.`);
  const from = Math.max(1, Math.floor(input.from ?? 1));
  const to = Math.min(document.lineCount, Math.floor(input.to ?? document.lineCount), from + MAX_LINES - 1);
  const lines = document.getText(new vscode.Range(from - 1, 0, to, 0));
  const rest = from > 1 || to < document.lineCount ? `\n[lines ${from}-${to} of ${document.lineCount}]` : '';
  return { output: `${lines}${rest}` };
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
  const found = await findWorkspaceFiles(`${relative.replace(/[[\]*?\\]/g, '\\$&')}/**`, signal);
  return outcomeOf(found.length === 0 ? '' : folderListing(found), `${relative}/ has no files, or they are ignored.`);
}
