import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { readRegularFile } from '../../../base/regular-file.ts';
import { type FolderSource, FolderWalk } from '../../../chat/tools/search/folder-walk.ts';
import { Ripgrep } from '../../../chat/tools/search/ripgrep.ts';
import {
  type FolderSearch,
  literalStart,
  type SearchResult,
  type SearchScope,
  type TextQuery,
} from '../../../chat/tools/search/search-scope.ts';
import { statOf } from './editor-files.ts';
import { decodeContent } from './file-text.ts';

/** Larger files are not searched. */
const MAX_BYTES = 2 * 1024 * 1024;

/** The paths of files that match, from the root of the workspace. */
export async function findWorkspaceFiles(pattern: string | undefined, signal: AbortSignal): Promise<readonly string[]> {
  const found = await Promise.all(
    (await searchedFolders(pattern)).map(async ({ folder, prefix, scope }) =>
      (await folderSearch(folder).files(scope, signal)).map((path) => prefix + path),
    ),
  );
  return found.flat();
}

export async function searchWorkspace(
  pattern: string | undefined,
  query: TextQuery,
  signal: AbortSignal,
): Promise<SearchResult> {
  const found = await Promise.all(
    (await searchedFolders(pattern)).map(async ({ folder, prefix, scope }) => {
      const mayRead = (path: string) => query.mayRead?.(prefix + path) ?? true;
      const result = await folderSearch(folder).text(scope, { ...query, mayRead }, signal);
      return { ...result, files: result.files.map((file) => ({ ...file, path: prefix + file.path })) };
    }),
  );
  return {
    files: found.flatMap(({ files }) => files),
    matches: found.reduce((sum, { matches }) => sum + matches, 0),
    fileCount: found.reduce((sum, { fileCount }) => sum + fileCount, 0),
    incomplete: found.some(({ incomplete }) => incomplete),
  };
}

interface SearchedFolder {
  readonly folder: vscode.WorkspaceFolder;
  /** Before each path if there are several folders, as in `workspaceRelativePath`. */
  readonly prefix: string;
  readonly scope: SearchScope;
}

/** With several folders, a pattern may begin with the name of one. */
async function searchedFolders(pattern: string | undefined): Promise<readonly SearchedFolder[]> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const clean = pattern?.replaceAll('\\', '/').replace(/^\.?\//, '');
  const several = folders.length > 1;
  const named = folders.filter(({ name }) => several && (clean === name || clean?.startsWith(`${name}/`)));
  return Promise.all(
    (named.length > 0 ? named : folders).map(async (folder) => {
      const rest = named.length > 0 ? pattern?.replace(/^\.?[\\/]/, '').slice(folder.name.length + 1) : pattern;
      return { folder, prefix: several ? `${folder.name}/` : '', scope: await searchScope(folder, rest) };
    }),
  );
}

async function searchScope({ uri }: vscode.WorkspaceFolder, pattern: string | undefined): Promise<SearchScope> {
  const excluded = (section: string) =>
    Object.entries(vscode.workspace.getConfiguration(section, uri).get<Record<string, unknown>>('exclude', {}))
      .filter(([, value]) => value === true)
      .map(([glob]) => glob);
  const exists = async (path: string) => (await statOf(vscode.Uri.joinPath(uri, path))) !== undefined;
  return {
    excludes: [...excluded('files'), ...excluded('search')],
    useIgnoreFiles: vscode.workspace.getConfiguration('search', uri).get('useIgnoreFiles', true),
    ...encodingOption(vscode.workspace.getConfiguration('files', uri).get<string>('encoding', 'utf8')),
    ...(pattern ? { pattern: await literalStart(pattern, exists) } : {}),
  };
}

/** The label of the Encoding standard for an encoding of VS Code. ripgrep knows no others. */
export function encodingOption(encoding: string): { readonly encoding?: string } {
  const label =
    OTHER_LABELS.get(encoding) ?? encoding.replace(/^(windows|koi8)-?/, '$1-').replace(/^iso8859(\d+)$/, 'iso-8859-$1');
  try {
    const { encoding: known } = new TextDecoder(label);
    return known === 'utf-8' ? {} : { encoding: known };
  } catch {
    return {};
  }
}

/** Names of VS Code that differ in more than a hyphen. */
const OTHER_LABELS: ReadonlyMap<string, string> = new Map([
  ['utf8bom', 'utf-8'],
  ['cp866', 'ibm866'],
  ['macroman', 'macintosh'],
  ['shiftjis', 'shift_jis'],
  ['cp950', 'big5'],
  ['eucjp', 'euc-jp'],
  ['euckr', 'euc-kr'],
  ['big5hkscs', 'big5'],
  ['utf16le', 'utf-16le'],
  ['utf16be', 'utf-16be'],
]);

function folderSearch({ uri }: vscode.WorkspaceFolder): FolderSearch {
  const program = uri.scheme === 'file' ? findRipgrep() : undefined;
  const decode = (path: string, bytes: Uint8Array) => decodeContent(vscode.Uri.joinPath(uri, path), bytes);
  return program === undefined ? new FolderWalk(folderSource(uri), decode) : new Ripgrep(program, uri.fsPath, decode);
}

/** The ripgrep that VS Code brings; its place depends on the version and the build. */
export function findRipgrep(root = vscode.env.appRoot): string | undefined {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  const places = ['node_modules', 'node_modules.asar.unpacked'].flatMap((modules) => [
    join(root, modules, '@vscode', 'ripgrep', 'bin', name),
    join(root, modules, '@vscode', 'ripgrep-universal', 'bin', `${process.platform}-${process.arch}`, name),
  ]);
  return places.find((place) => existsSync(place));
}

export function folderSource(root: vscode.Uri): FolderSource {
  const uriOf = (path: string) => (path === '' ? root : vscode.Uri.joinPath(root, path));
  return {
    list: async (path) =>
      (await vscode.workspace.fs.readDirectory(uriOf(path))).map(([name, type]) => ({
        name,
        type: type === vscode.FileType.File ? 'file' : type === vscode.FileType.Directory ? 'folder' : 'other',
      })),
    read: async (path) => {
      const uri = uriOf(path);
      if (uri.scheme !== 'file') return vscode.workspace.fs.readFile(uri);
      const read = await readRegularFile(uri.fsPath, { limit: MAX_BYTES });
      return 'bytes' in read ? read.bytes : undefined;
    },
  };
}
