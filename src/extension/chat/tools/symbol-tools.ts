import * as vscode from 'vscode';
import * as z from 'zod';
import { defineReadingTool, defineTool, outcomeOf } from '../../../chat/tools/define-tool.ts';
import { textChange } from '../../../chat/tools/file-change.ts';
import { cutLine } from '../../../chat/tools/search/search-report.ts';
import type { ChatTool, NamedFile, PreparedCall, ToolRun } from '../../../chat/tools/tools.ts';
import { cautionFor } from '../../../chat/tools/workspace-files.ts';
import { checkedChange, textDocument, writeTexts } from './editor-files.ts';
import { actionWith, saveEffects } from './save-effects.ts';
import { fileAt, mayShow, namedFiles, workspaceFile, workspaceRelativePath } from './workspace-path.ts';

const MAX_ROWS = 100;

const symbolInput = {
  path: z.string(),
  symbol: z.string().describe('The name as it is in the file.'),
  line: z.number().describe('Line of the name, counted from 1. Default: its first occurrence.').optional(),
};
const symbolSchema = z.object(symbolInput);
type SymbolInput = z.infer<typeof symbolSchema>;

/** Tools that ask the language extensions. */
export function symbolTools(): readonly ChatTool[] {
  return [
    defineReadingTool(
      {
        name: 'find_symbols',
        description: 'Finds functions, classes and other symbols by name.',
        input: z.object({ query: z.string() }),
      },
      async ({ query }, { mayRead }) => outcomeOf(await symbolRows(query, mayRead), 'No symbol was found.'),
    ),
    defineReadingTool(
      { name: 'find_references', description: 'Finds all uses of a symbol.', input: symbolSchema, files: readFiles },
      async (input, { mayRead }) =>
        outcomeOf(await locationRows('vscode.executeReferenceProvider', input, mayRead), 'No use was found.'),
    ),
    defineReadingTool(
      {
        name: 'go_to_definition',
        description: 'Finds where a symbol is defined.',
        input: symbolSchema,
        files: readFiles,
      },
      async (input, { mayRead }) =>
        outcomeOf(await locationRows('vscode.executeDefinitionProvider', input, mayRead), 'No definition was found.'),
    ),
  ];
}

/** Tools that let language extensions change files. */
export function symbolChangingTools(): readonly ChatTool[] {
  return [
    defineTool(
      {
        name: 'rename_symbol',
        description: 'Renames a symbol and all its uses.',
        input: z.object({ ...symbolInput, new_name: z.string() }),
        files: ({ path }) => namedFiles([path], ['read', 'edit']),
      },
      true,
      prepareRename,
    ),
  ];
}

type MayRead = ToolRun['mayRead'];

function readFiles({ path }: SymbolInput): Promise<readonly NamedFile[]> {
  return namedFiles([path], ['read']);
}

async function symbolRows(query: string, mayRead: MayRead): Promise<string> {
  const symbols = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
    'vscode.executeWorkspaceSymbolProvider',
    query,
  );
  const inWorkspace = (symbols ?? []).filter(({ location }) => vscode.workspace.getWorkspaceFolder(location.uri));
  const shown = await Promise.all(inWorkspace.map(({ location }) => mayShow(location.uri, mayRead)));
  const inside = inWorkspace.filter((_, index) => shown[index]);
  const rows = inside.slice(0, MAX_ROWS).map(({ name, kind, location, containerName }) => {
    const place = `${workspaceRelativePath(location.uri)}:${location.range.start.line + 1}`;
    return `${place}: ${vscode.SymbolKind[kind]} ${containerName ? `${containerName}.` : ''}${name}`;
  });
  return withCount(rows, inside.length, 'symbols');
}

async function locationRows(command: string, input: SymbolInput, mayRead: MayRead): Promise<string> {
  const { document, position } = await symbolPosition(input);
  const found = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[] | undefined>(
    command,
    document.uri,
    position,
  );
  const places = (found ?? []).map((one) =>
    'uri' in one
      ? { uri: one.uri, start: one.range.start }
      : { uri: one.targetUri, start: (one.targetSelectionRange ?? one.targetRange).start },
  );
  const rows = await Promise.all(places.slice(0, MAX_ROWS).map(({ uri, start }) => placeRow(uri, start, mayRead)));
  return withCount(rows, places.length, 'places');
}

/** Text of a file outside the workspace, as of a library, is not shown, nor that of a file which rules restrict. */
async function placeRow(uri: vscode.Uri, { line, character }: vscode.Position, mayRead: MayRead): Promise<string> {
  const file = await fileAt(uri);
  if (!file) return `${uri.path.split('/').at(-1)} (outside the workspace), line ${line + 1}`;
  const row = `${file.relative}:${line + 1}`;
  if (!(await mayShow(file.uri, mayRead))) return row;
  const document = await textDocument(file.uri);
  const text = document && line < document.lineCount ? cutLine(document.lineAt(line).text, character).trim() : '';
  return `${row}: ${text}`;
}

function withCount(rows: readonly string[], total: number, what: string): string {
  const cut = rows.length < total ? `${rows.length} of ${total.toLocaleString('en-US')} ${what}:\n` : '';
  return cut + rows.join('\n');
}

/** @throws Error if the name is not in the file, or not in the line. */
async function symbolPosition({ path, symbol, line }: SymbolInput) {
  const { uri, relative } = await workspaceFile(path);
  const document = await textDocument(uri);
  if (!document) throw new Error(`${relative} does not exist, or is not a text file.`);
  if (symbol === '') throw new Error('symbol is empty.');
  if (line !== undefined && (line < 1 || line > document.lineCount))
    throw new Error(`${relative} has ${document.lineCount} lines.`);
  const text = document.getText();
  const start = line === undefined ? 0 : document.offsetAt(new vscode.Position(line - 1, 0));
  const end = line === undefined ? text.length : document.offsetAt(document.lineAt(line - 1).range.end);
  const at = wordIndex(text.slice(start, end), symbol);
  if (at === -1)
    throw new Error(`${symbol} is not in ${line === undefined ? relative : `line ${line} of ${relative}`}.`);
  return { document, position: document.positionAt(start + at) };
}

/** The first occurrence as a whole word. */
function wordIndex(text: string, word: string): number {
  const inWord = (character: string | undefined) => character !== undefined && /[\w$]/.test(character);
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    if (!inWord(text[at - 1]) && !inWord(text[at + word.length])) return at;
  }
  return -1;
}

async function prepareRename(input: SymbolInput & { readonly new_name: string }): Promise<PreparedCall> {
  const { document, position } = await symbolPosition(input);
  const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit | undefined>(
    'vscode.executeDocumentRenameProvider',
    document.uri,
    position,
    input.new_name,
  );
  const entries = edit?.entries().filter(([, edits]) => edits.length > 0) ?? [];
  if (!edit || entries.length === 0) throw new Error(`No language extension can rename ${input.symbol} here.`);
  if (edit.size > entries.length) throw new Error('This rename also renames files, which is not supported.');
  const prepared = await Promise.all(entries.map(([uri, edits]) => renamedFile(uri, edits)));
  const changes = prepared.map(({ change }) => change);
  return {
    confirmation: prepared.find(({ caution }) => caution)?.caution ?? true,
    action: { type: 'changes', changes: changes.map(({ change }) => change) },
    changes,
    run: async ({ mayRead }) => {
      const texts = await writeTexts(prepared.map(({ text }) => text));
      const documents = prepared.map(({ change, text }) => ({ change, document: text.document }));
      const effects = await saveEffects(documents, texts, mayRead);
      const done = `Renamed in ${prepared.length} ${prepared.length === 1 ? 'file' : 'files'}.`;
      const output = [done, ...effects.flatMap((effect) => effect?.note ?? [])].join('\n');
      return { output, ...actionWith(changes, effects) };
    },
  };
}

async function renamedFile(uri: vscode.Uri, edits: readonly vscode.TextEdit[]) {
  const file = await fileAt(uri);
  const document = file && (await textDocument(file.uri));
  if (!file || !document) throw new Error(`The rename changes ${uri.path}, which is not inside the workspace.`);
  const before = document.getText();
  const after = edits
    .map(({ range, newText }) => ({ from: document.offsetAt(range.start), to: document.offsetAt(range.end), newText }))
    .sort((a, b) => b.from - a.from)
    .reduce((text, { from, to, newText }) => text.slice(0, from) + newText + text.slice(to), before);
  await checkedChange({ document, before, text: after });
  return {
    caution: cautionFor(file, file.relative, 'write'),
    change: textChange(file.relative, before, after),
    text: { document, before, text: after },
  };
}
