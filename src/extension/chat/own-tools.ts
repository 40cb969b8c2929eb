import * as vscode from 'vscode';
import { lineSearch } from '../../chat/search-lines.ts';
import type { ChatTool, ToolOutcome } from '../../chat/tools.ts';
import { gitDiff } from './git.ts';
import { problemsText } from './problems.ts';
import { type Proposals, writeText } from './proposals.ts';
import { runInTerminal } from './run-in-terminal.ts';
import { relativePath, workspaceUri } from './workspace-path.ts';

const ORIGIN = 'Svc';
const MAX_LINES = 2000;
const MAX_ENTRIES = 400;
const MAX_MATCHES = 100;
const MAX_SEARCHED_BYTES = 1024 * 1024;
/** Names of files that usually hold secrets: reading them is asked for. */
const SECRET =
  /(?:^|\/)(?:\.env(?:\..*)?|.*\.(?:pem|key|p12|pfx|jks|keystore)|id_(?:rsa|ed25519|ecdsa)|\.npmrc|\.netrc|credentials.*|secrets?\..*)$/i;

type Input = Readonly<Record<string, unknown>>;
type Properties = Readonly<Record<string, { readonly type: string; readonly description: string }>>;

const text = (description: string) => ({ type: 'string', description });

function tool(
  name: string,
  description: string,
  properties: Properties,
  required: readonly string[],
  run: ChatTool['run'],
): ChatTool {
  const parameters = { type: 'object', properties, required, additionalProperties: false };
  return { name, description, parameters, origin: ORIGIN, changes: false, asks: () => false, run };
}

/** Tools that look at the workspace and change nothing. They run without asking, except for files that may hold secrets. */
export function readingTools(): readonly ChatTool[] {
  return [
    {
      ...tool(
        'read_file',
        'Reads a text file of the workspace, whole or some of its lines.',
        {
          path: text('Path from the root of the workspace.'),
          from: { type: 'number', description: 'First line, from 1.' },
          to: { type: 'number', description: 'Last line.' },
        },
        ['path'],
        readFile,
      ),
      asks: (input) => SECRET.test(stringOf(input, 'path')),
    },
    tool(
      'list_files',
      'Lists files of the workspace that match a glob pattern.',
      { pattern: text('Such as src/**/*.ts; all files when left out.') },
      [],
      listFiles,
    ),
    tool(
      'search_text',
      'Searches the workspace for a text or a regular expression and gives the lines with their places.',
      {
        query: text('What to look for.'),
        regex: { type: 'boolean', description: 'The query is a JavaScript regular expression.' },
        pattern: text('Glob pattern of the files to search.'),
      },
      ['query'],
      searchText,
    ),
    tool(
      'find_symbols',
      'Finds functions, classes and other symbols by name.',
      { query: text('A name or a part of it.') },
      ['query'],
      findSymbols,
    ),
    tool(
      'get_problems',
      'Gives the errors and warnings that the editor knows.',
      { path: text('Only of this file.') },
      [],
      problems,
    ),
    tool('git_diff', 'Gives the uncommitted changes.', {}, [], async () =>
      outcome(await gitDiff(), 'There are no changes.'),
    ),
  ];
}

/** Tools that change something: offered in a trusted workspace alone, and each call is shown first. */
export function changingTools(proposals: Proposals): readonly ChatTool[] {
  const edit = tool(
    'edit_file',
    'Changes a file: replaces one exact text by another. Makes the file when it is not there and old_text is empty.',
    {
      path: text('Path from the root of the workspace.'),
      old_text: text('The exact text to replace; it has to occur once. Empty: a new file.'),
      new_text: text('What takes its place.'),
    },
    ['path', 'old_text', 'new_text'],
    async (input) => {
      const { target, after } = await editedText(input);
      await writeText(target, after);
      return { output: `${relativePath(target)} was changed.` };
    },
  );
  const terminal = tool(
    'run_in_terminal',
    'Runs a command in the workspace’s terminal and gives its output.',
    { command: text('The command line.') },
    ['command'],
    (input, signal) => runInTerminal(stringOf(input, 'command'), signal),
  );
  return [
    {
      ...edit,
      changes: true,
      asks: () => true,
      preview: async (input) => {
        const { target, after } = await editedText(input);
        await proposals.show(target, after);
      },
    },
    { ...terminal, changes: true, asks: () => true },
  ];
}

async function readFile(input: Input): Promise<ToolOutcome> {
  const uri = await workspaceUri(stringOf(input, 'path'));
  const document = await vscode.workspace.openTextDocument(uri);
  const from = Math.max(1, numberOf(input, 'from') ?? 1);
  const to = Math.min(document.lineCount, numberOf(input, 'to') ?? document.lineCount, from + MAX_LINES - 1);
  const lines = document.getText(new vscode.Range(from - 1, 0, to, 0));
  const rest = to < document.lineCount ? `\n[lines ${from}-${to} of ${document.lineCount}]` : '';
  return { output: `${lines}${rest}` };
}

async function listFiles(input: Input): Promise<ToolOutcome> {
  const files = await vscode.workspace.findFiles(stringOf(input, 'pattern') || '**/*', undefined, MAX_ENTRIES);
  return outcome(files.map(relativePath).sort().join('\n'), 'No file matches.');
}

async function searchText(input: Input, signal: AbortSignal): Promise<ToolOutcome> {
  const query = stringOf(input, 'query');
  const search = lineSearch(query, input.regex === true);
  const matches: string[] = [];
  for (const uri of await vscode.workspace.findFiles(stringOf(input, 'pattern') || '**/*', undefined, 5000)) {
    if (signal.aborted || matches.length >= MAX_MATCHES) break;
    if (SECRET.test(uri.path)) continue;
    const lines = (await searchable(uri))?.split('\n') ?? [];
    for (const index of search(lines).slice(0, MAX_MATCHES - matches.length)) {
      matches.push(`${relativePath(uri)}:${index + 1}: ${lines[index]?.trim().slice(0, 300)}`);
    }
  }
  return outcome(matches.join('\n'), 'Nothing was found.');
}

async function searchable(uri: vscode.Uri): Promise<string | undefined> {
  const { size } = await vscode.workspace.fs.stat(uri);
  if (size > MAX_SEARCHED_BYTES) return undefined;
  const bytes = await vscode.workspace.fs.readFile(uri);
  return bytes.subarray(0, 8000).includes(0) ? undefined : Buffer.from(bytes).toString('utf8');
}

async function findSymbols(input: Input): Promise<ToolOutcome> {
  const symbols = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
    'vscode.executeWorkspaceSymbolProvider',
    stringOf(input, 'query'),
  );
  const rows = (symbols ?? []).slice(0, MAX_MATCHES).map(({ name, kind, location, containerName }) => {
    const place = `${relativePath(location.uri)}:${location.range.start.line + 1}`;
    return `${place}: ${vscode.SymbolKind[kind]} ${containerName ? `${containerName}.` : ''}${name}`;
  });
  return outcome(rows.join('\n'), 'No symbol was found.');
}

async function problems(input: Input): Promise<ToolOutcome> {
  const path = stringOf(input, 'path');
  const found = problemsText(path === '' ? undefined : await workspaceUri(path));
  return outcome(found, 'There are no problems.');
}

async function editedText(input: Input): Promise<{ target: vscode.Uri; after: string }> {
  const target = await workspaceUri(stringOf(input, 'path'));
  const before = stringOf(input, 'old_text');
  const after = stringOf(input, 'new_text');
  const document = await vscode.workspace.openTextDocument(target).then(
    (opened) => opened,
    () => undefined,
  );
  if (!document) {
    if (before !== '') throw new Error(`${stringOf(input, 'path')} is not there.`);
    return { target, after };
  }
  const whole = document.getText();
  if (before === '' && whole !== '') throw new Error('The file is there already: old_text must say what to replace.');
  const parts = whole.split(before);
  if (before !== '' && parts.length !== 2) {
    throw new Error(parts.length < 2 ? 'old_text does not occur in the file.' : 'old_text occurs more than once.');
  }
  return { target, after: before === '' ? after : parts.join(after) };
}

function outcome(found: string, nothing: string): ToolOutcome {
  return { output: found === '' ? nothing : found };
}

function stringOf(input: Input, name: string): string {
  const value = input[name];
  return typeof value === 'string' ? value : '';
}

function numberOf(input: Input, name: string): number | undefined {
  const value = input[name];
  return typeof value === 'number' && Number.isFinite(value) ? Math.floor(value) : undefined;
}
