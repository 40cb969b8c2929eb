import * as vscode from 'vscode';
import { readRegularFile } from '../../../base/regular-file.ts';
import { textChange } from '../../../chat/tools/file-change.ts';
import { lineSearch } from '../../../chat/tools/search-lines.ts';
import type {
  ChatTool,
  PreparedCall,
  RequiredConfirmation,
  ToolInput,
  ToolOutcome,
  ToolRun,
} from '../../../chat/tools/tools.ts';
import { cautionFor, type WorkspaceFile } from '../../../chat/tools/workspace-files.ts';
import { gitDiff } from '../attachments/git.ts';
import { problemsText } from '../attachments/problems.ts';
import { type Proposals, writeText } from '../editing/proposals.ts';
import { type CommandTerminals, requireReadable } from './command-terminals.ts';
import { type FoundFile, fileAt, workspaceFile, workspaceRelativePath } from './workspace-path.ts';

const ORIGIN = 'Svc';
const MAX_LINES = 2000;
const MAX_ENTRIES = 400;
const MAX_MATCHES = 100;
const MAX_SEARCHED_BYTES = 1024 * 1024;
/** Maximum number of files that a listing and a search check. */
const MAX_FILES = 5000;

type Properties = Readonly<Record<string, { readonly type: string; readonly description: string }>>;

const text = (description: string) => ({ type: 'string', description });

type Run = (input: ToolInput, run: ToolRun) => Promise<ToolOutcome>;

/** A tool that only reads, and needs no confirmation unless `confirmation` says so. */
function tool(
  name: string,
  description: string,
  properties: Properties,
  required: readonly string[],
  run: Run,
  confirmation: (input: ToolInput) => Promise<RequiredConfirmation> = async () => false,
): ChatTool {
  const parameters = { type: 'object', properties, required, additionalProperties: false };
  const prepare = async (input: ToolInput): Promise<PreparedCall> => ({
    confirmation: await confirmation(input),
    run: (context) => run(input, context),
  });
  return { name, description, parameters, origin: ORIGIN, changes: false, prepare };
}

/** Tools that only read the workspace. They need no confirmation, except for files that may contain secrets. */
export function readingTools(): readonly ChatTool[] {
  return [
    tool(
      'read_file',
      'Reads a text file of the workspace, or some of its lines.',
      {
        path: text('Path from the root of the workspace.'),
        from: { type: 'number', description: 'First line. Lines are counted from 1.' },
        to: { type: 'number', description: 'Last line.' },
      },
      ['path'],
      readFile,
      (input) => findCaution(input, 'read'),
    ),
    tool(
      'list_files',
      'Lists files of the workspace that match a glob pattern.',
      { pattern: text('For example src/**/*.ts. Default: all files.') },
      [],
      listFiles,
    ),
    tool(
      'search_text',
      'Searches the workspace for a text or a regular expression. Returns the matching lines with file and line number.',
      {
        query: text('The text or regular expression to search for.'),
        regex: { type: 'boolean', description: 'The query is a JavaScript regular expression.' },
        pattern: text('Glob pattern of the files to search.'),
      },
      ['query'],
      searchText,
    ),
    tool(
      'find_symbols',
      'Finds functions, classes and other symbols by name. Returns their locations.',
      { query: text('The name or a part of it.') },
      ['query'],
      findSymbols,
    ),
    tool(
      'get_problems',
      'Returns the errors and warnings in the editor.',
      { path: text('Return only the problems of this file.') },
      [],
      problems,
    ),
    tool('git_diff', 'Returns the uncommitted changes.', {}, [], async () =>
      outcome(await gitDiff(), 'There are no changes.'),
    ),
  ];
}

/** The front ends that show changes and run commands. */
export interface ToolPlaces {
  readonly proposals: Proposals;
  readonly terminals: CommandTerminals;
}

/** Tools that change something: only in a trusted workspace, and each call is shown first. */
export function changingTools({ terminals }: ToolPlaces): readonly ChatTool[] {
  const edit: Omit<ChatTool, 'prepare'> = tool(
    'edit_file',
    'Changes a file: replaces one exact text with another. Creates the file if it does not exist and old_text is empty.',
    {
      path: text('Path from the root of the workspace.'),
      old_text: text('The exact text to replace. It must occur exactly once. Empty: create a new file.'),
      new_text: text('The replacement.'),
    },
    ['path', 'old_text', 'new_text'],
    async () => ({ output: '' }),
  );
  const terminal: Omit<ChatTool, 'prepare'> = tool(
    'run_in_terminal',
    'Runs a command in a shell at the root of the workspace, shows it to the user, and returns its output.',
    { command: text('The command line.') },
    ['command'],
    async () => ({ output: '' }),
  );
  return [
    { ...edit, changes: true, prepare: prepareEdit },
    { ...terminal, changes: true, prepare: (input) => prepareCommand(input, terminals) },
  ];
}

async function prepareEdit(input: ToolInput): Promise<PreparedCall> {
  const confirmation = (await findCaution(input, 'write')) || true;
  const { target, before, after } = await editedText(input);
  const change = textChange(workspaceRelativePath(target), before, after);
  return {
    confirmation,
    action: { type: 'changes', changes: [change.change] },
    changes: [change],
    run: async () => {
      await writeText(target, after);
      return { output: `${workspaceRelativePath(target)} was changed.` };
    },
  };
}

function prepareCommand(input: ToolInput, terminals: CommandTerminals): PreparedCall {
  const command = stringInput(input, 'command');
  requireReadable(command);
  return {
    confirmation: true,
    action: { type: 'command', command, cwd: '', explanation: '' },
    run: ({ signal }) => terminals.run(command, signal),
  };
}

async function findCaution(input: ToolInput, access: 'read' | 'write'): Promise<RequiredConfirmation> {
  const path = stringInput(input, 'path');
  return cautionFor(await workspaceFile(path), path, access) ?? false;
}

async function readFile(input: ToolInput): Promise<ToolOutcome> {
  const { uri } = await workspaceFile(stringInput(input, 'path'));
  const document = await vscode.workspace.openTextDocument(uri);
  const from = Math.max(1, numberInput(input, 'from') ?? 1);
  const to = Math.min(document.lineCount, numberInput(input, 'to') ?? document.lineCount, from + MAX_LINES - 1);
  const lines = document.getText(new vscode.Range(from - 1, 0, to, 0));
  const rest = to < document.lineCount ? `\n[lines ${from}-${to} of ${document.lineCount}]` : '';
  return { output: `${lines}${rest}` };
}

/** Finds workspace files by glob, without links to files outside the workspace or to files with secrets. */
async function findFiles(input: ToolInput): Promise<readonly { readonly path: string; readonly file: FoundFile }[]> {
  const pattern = stringInput(input, 'pattern') || '**/*';
  const uris = await vscode.workspace.findFiles(pattern, undefined, MAX_FILES);
  const found = await Promise.all(
    uris.map(async (uri) => {
      const path = workspaceRelativePath(uri);
      const file = await fileAt(uri);
      if (!file || (file.relative !== path && cautionFor(file, path, 'read'))) return [];
      return [{ path, file }];
    }),
  );
  return found.flat();
}

async function listFiles(input: ToolInput): Promise<ToolOutcome> {
  const paths = (await findFiles(input)).map(({ path }) => path);
  return outcome(paths.slice(0, MAX_ENTRIES).sort().join('\n'), 'No file matches.');
}

async function searchText(input: ToolInput, { signal }: ToolRun): Promise<ToolOutcome> {
  const query = stringInput(input, 'query');
  const search = lineSearch(query, input.regex === true);
  const matches: string[] = [];
  for (const { path, file } of await findFiles(input)) {
    if (signal.aborted || matches.length >= MAX_MATCHES) break;
    if (cautionFor(file, path, 'read')) continue;
    const lines = (await readSearchable(file))?.split('\n') ?? [];
    for (const index of search(lines).slice(0, MAX_MATCHES - matches.length)) {
      matches.push(`${path}:${index + 1}: ${lines[index]?.trim().slice(0, 300)}`);
    }
  }
  return outcome(matches.join('\n'), 'No matches were found.');
}

/** Reads a file for searching; undefined if it is too large or binary. Checks the opened file, since links can change. */
async function readSearchable({ uri, onDisk }: FoundFile): Promise<string | undefined> {
  const bytes = onDisk ? await bytesOnDisk(onDisk) : await bytesElsewhere(uri);
  return bytes === undefined || bytes.subarray(0, 8000).includes(0) ? undefined : Buffer.from(bytes).toString('utf8');
}

async function bytesOnDisk({ real, realRoot }: WorkspaceFile): Promise<Uint8Array | undefined> {
  const read = await readRegularFile(real, { limit: MAX_SEARCHED_BYTES, inside: realRoot });
  return 'bytes' in read ? read.bytes : undefined;
}

async function bytesElsewhere(uri: vscode.Uri): Promise<Uint8Array | undefined> {
  const { size } = await vscode.workspace.fs.stat(uri);
  return size > MAX_SEARCHED_BYTES ? undefined : vscode.workspace.fs.readFile(uri);
}

async function findSymbols(input: ToolInput): Promise<ToolOutcome> {
  const symbols = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
    'vscode.executeWorkspaceSymbolProvider',
    stringInput(input, 'query'),
  );
  const rows = (symbols ?? []).slice(0, MAX_MATCHES).map(({ name, kind, location, containerName }) => {
    const place = `${workspaceRelativePath(location.uri)}:${location.range.start.line + 1}`;
    return `${place}: ${vscode.SymbolKind[kind]} ${containerName ? `${containerName}.` : ''}${name}`;
  });
  return outcome(rows.join('\n'), 'No symbol was found.');
}

async function problems(input: ToolInput): Promise<ToolOutcome> {
  const path = stringInput(input, 'path');
  const found = problemsText(path === '' ? undefined : (await workspaceFile(path)).uri);
  return outcome(found, 'There are no problems.');
}

async function editedText(
  input: ToolInput,
): Promise<{ target: vscode.Uri; before: string | undefined; after: string }> {
  const { uri: target } = await workspaceFile(stringInput(input, 'path'));
  const before = stringInput(input, 'old_text');
  const after = stringInput(input, 'new_text');
  const document = await vscode.workspace.openTextDocument(target).then(
    (opened) => opened,
    () => undefined,
  );
  if (!document) {
    if (before !== '') throw new Error(`${stringInput(input, 'path')} does not exist.`);
    return { target, before: undefined, after };
  }
  const whole = document.getText();
  if (before === '' && whole !== '')
    throw new Error('The file already exists: old_text must contain the text to replace.');
  const parts = whole.split(before);
  if (before !== '' && parts.length !== 2) {
    throw new Error(parts.length < 2 ? 'old_text does not occur in the file.' : 'old_text occurs more than once.');
  }
  return { target, before: whole, after: before === '' ? after : parts.join(after) };
}

function outcome(found: string, nothing: string): ToolOutcome {
  return { output: found === '' ? nothing : found };
}

function stringInput(input: ToolInput, name: string): string {
  const value = input[name];
  return typeof value === 'string' ? value : '';
}

function numberInput(input: ToolInput, name: string): number | undefined {
  const value = input[name];
  return typeof value === 'number' && Number.isFinite(value) ? Math.floor(value) : undefined;
}
