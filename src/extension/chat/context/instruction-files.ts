import * as vscode from 'vscode';
import { readFrontMatter, textList } from '../../../chat/prompts/front-matter.ts';
import { patternFilter } from '../../../chat/tools/search/search-scope.ts';
import { countHidden, markHidden } from '../../../chat/tools/visible-text.ts';
import { cautionFor } from '../../../chat/tools/workspace-files.ts';
import { countTokens } from '../../../wire/prompt-size.ts';
import { globalFolderUri } from '../../configuration/files.ts';
import { decodeContent } from '../tools/file-text.ts';
import { fileAt, workspaceRelativePath } from '../tools/workspace-path.ts';
import { filesIn } from './folder-files.ts';

/** A file with instructions for the model. */
export interface InstructionFile {
  /** Path relative to the workspace; for the user's own files, the whole path. */
  readonly path: string;
  /** Hidden text is marked. */
  readonly text: string;
  readonly tokens: number;
  readonly hidden?: number;
}

/** Longer files are cut, with a note at the end. */
const MAX_CHARACTERS = 60_000;
const MAX_FILES = 30;
/** Of one `applyTo`. */
const MAX_PATTERNS = 100;
/** Files that hold for a whole folder of the workspace. */
const ROOT_FILES = ['AGENTS.md', 'CLAUDE.md', '.github/copilot-instructions.md'];

/**
 * The instructions that hold for files: those of the user, then, in a trusted workspace, those of its folders, from
 * general to special. Files with the same text, such as a link from CLAUDE.md to AGENTS.md, are listed once.
 */
export async function instructionFiles(files: readonly vscode.Uri[]): Promise<readonly InstructionFile[]> {
  const candidates = [...(await userFiles()), ...(vscode.workspace.isTrusted ? await workspaceFiles(files) : [])];
  const texts = new Set<string>();
  return candidates
    .filter(({ text }) => text !== '' && !texts.has(text) && texts.add(text).size > 0)
    .slice(0, MAX_FILES);
}

/** `instructions/*.md` and `AGENTS.md` beside the user's own svc.jsonc. */
async function userFiles(): Promise<InstructionFile[]> {
  const folder = globalFolderUri();
  const own = vscode.Uri.joinPath(folder, 'instructions');
  const names = await vscode.workspace.fs.readDirectory(own).then(
    (entries) => entries.map(([name]) => name).filter((name) => name.endsWith('.md')),
    () => [],
  );
  const uris = [
    vscode.Uri.joinPath(folder, 'AGENTS.md'),
    ...names.sort().map((name) => vscode.Uri.joinPath(own, name)),
  ];
  const read = await Promise.all(
    uris.map(async (uri) => {
      const text = await readText(uri);
      return text === undefined ? [] : [instructionFile(uri.fsPath, (await readFrontMatter(text)).body)];
    }),
  );
  return read.flat();
}

async function workspaceFiles(files: readonly vscode.Uri[]): Promise<InstructionFile[]> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri);
  const roots = folders.flatMap((folder) => ROOT_FILES.map((name) => vscode.Uri.joinPath(folder, ...name.split('/'))));
  const found = [
    ...(await filesIn('.github/instructions', '.instructions.md')),
    ...(await filesIn('.svc/instructions', '.md')),
  ];
  // One file of each folder: the same files are nearest to the others.
  const places = new Map(files.map((uri) => [parent(uri).toString(), uri]));
  const nearest = (await Promise.all([...places.values()].map(nearestFiles))).flat();
  const uris = new Map([...roots, ...found, ...nearest].map((uri) => [uri.toString(), uri]));
  const read = await Promise.all([...uris.values()].map((uri) => readWorkspaceFile(uri, files)));
  return read.flat();
}

/** The AGENTS.md and CLAUDE.md nearest to a file, below the folder of the workspace. */
async function nearestFiles(uri: vscode.Uri): Promise<vscode.Uri[]> {
  const root = vscode.workspace.getWorkspaceFolder(uri)?.uri;
  if (!root) return [];
  const nearest: vscode.Uri[] = [];
  for (const name of ['AGENTS.md', 'CLAUDE.md']) {
    for (let folder = parent(uri); folder.path.length > root.path.length; folder = parent(folder)) {
      const file = vscode.Uri.joinPath(folder, name);
      if (!(await exists(file))) continue;
      nearest.push(file);
      break;
    }
  }
  return nearest;
}

async function readWorkspaceFile(uri: vscode.Uri, files: readonly vscode.Uri[]): Promise<readonly InstructionFile[]> {
  if (!(await exists(uri))) return [];
  // A file of a repository may be a link to a private file of the user.
  const file = await fileAt(uri);
  const caution = file && cautionFor(file, workspaceRelativePath(uri), 'read');
  const text = file && !caution ? await readText(file.uri) : undefined;
  if (text === undefined) return [];
  const { fields, body } = await readFrontMatter(text);
  if (!appliesTo(textList(fields.applyTo), uri, files)) return [];
  return [instructionFile(workspaceRelativePath(uri), body)];
}

/** Without `applyTo` it holds always, except for `*.instructions.md`, as in VS Code. */
function appliesTo(patterns: readonly string[] | undefined, uri: vscode.Uri, files: readonly vscode.Uri[]): boolean {
  if (patterns === undefined) return !uri.path.endsWith('.instructions.md');
  if (patterns.some((pattern) => ['*', '**', '**/*'].includes(pattern))) return true;
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  if (!folder) return false;
  const from = `${folder.uri.path}/`;
  const paths = files
    .filter(({ scheme, path }) => scheme === folder.uri.scheme && path.startsWith(from))
    .map(({ path }) => path.slice(from.length));
  // Not VS Code's matcher: it makes a regular expression of the pattern, and ten stars take half a minute.
  return patterns.slice(0, MAX_PATTERNS).some((pattern) => paths.some(patternFilter(anyDepth(pattern))));
}

/** A pattern of `applyTo` applies at any depth, as in VS Code, unless it begins with a slash. */
function anyDepth(pattern: string): string {
  if (/^\.?\//.test(pattern)) return pattern.replace(/^\./, '');
  return pattern.startsWith('**/') ? pattern : `**/${pattern}`;
}

function instructionFile(path: string, body: string): InstructionFile {
  const own = body.length > MAX_CHARACTERS ? `${body.slice(0, MAX_CHARACTERS)}\n[cut: the rest is omitted]` : body;
  const hidden = countHidden(own);
  const text = hidden === 0 ? own : markHidden(own);
  return { path, text, tokens: countTokens(text), ...(hidden === 0 ? {} : { hidden }) };
}

async function readText(uri: vscode.Uri): Promise<string | undefined> {
  const bytes = await vscode.workspace.fs.readFile(uri).then(
    (read) => read,
    () => undefined,
  );
  return bytes && decodeContent(uri, bytes.slice(0, MAX_CHARACTERS * 4));
}

function exists(uri: vscode.Uri): Thenable<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    ({ type }) => (type & vscode.FileType.File) !== 0,
    () => false,
  );
}

function parent(uri: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(uri, '..');
}
