import * as vscode from 'vscode';
import { isMisleadingLink } from '../../chat/page/misleading-link.ts';
import { type PathLink, readPathLink } from '../../chat/page/path-link.ts';
import { ask, showInformation } from '../foreign-text.ts';
import { fileAt, workspaceFile } from './tools/workspace-path.ts';

/** Number of files that a name with special characters may match. */
const MAX_LOOSE = 50;

/** Opens a link of an answer. Only web and mail links: other schemes could run commands in VS Code. */
export async function openLink(href: string, shown: string): Promise<void> {
  if (!/^(?:https?|mailto):/i.test(href) || !URL.canParse(href)) return;
  const open = vscode.l10n.t('Open');
  if (isMisleadingLink(href, shown)) {
    const text = vscode.l10n.t('The text of this link does not match its address. It opens {0}', new URL(href).href);
    if ((await ask(text, {}, open)) !== open) return;
  }
  await vscode.env.openExternal(vscode.Uri.parse(href, true));
}

/** The texts that name a file of the workspace. */
export async function existingPaths(texts: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(texts.map(async (text) => ((await findLinked(text)) ? [text] : [])));
  return found.flat();
}

/** Opens the file that a text of an answer names, at its line. Never a file outside the workspace. */
export async function openPath(text: string): Promise<void> {
  const found = await findLinked(text);
  if (!found) {
    void showInformation(vscode.l10n.t('{0} is not in this workspace.', text));
    return;
  }
  const { line, column = 1, endLine } = found.link;
  const document = await vscode.workspace.openTextDocument(found.uri);
  const start = new vscode.Position(Math.max(0, (line ?? 1) - 1), Math.max(0, column - 1));
  const end = endLine === undefined ? start : document.lineAt(Math.min(endLine, document.lineCount) - 1).range.end;
  await vscode.window.showTextDocument(document, {
    preview: true,
    ...(line === undefined ? {} : { selection: document.validateRange(new vscode.Range(start, end)) }),
  });
}

/** The file of the workspace that a text names, also without its first folders. */
export async function findLinkedFile(text: string): Promise<vscode.Uri | undefined> {
  return (await findLinked(text))?.uri;
}

async function findLinked(text: string): Promise<{ readonly uri: vscode.Uri; readonly link: PathLink } | undefined> {
  const link = readPathLink(text);
  if (!link) return undefined;
  const uri = (await fileNamed(link.path)) ?? (await onlyFileEndingWith(link.path));
  return uri && { uri, link };
}

async function fileNamed(path: string): Promise<vscode.Uri | undefined> {
  try {
    const { uri } = await workspaceFile(path);
    return await asFile(uri);
  } catch {
    return undefined;
  }
}

/** Models leave out the first folders of a path. A name that several files have is not a link. */
async function onlyFileEndingWith(path: string): Promise<vscode.Uri | undefined> {
  const parts = path.replaceAll('\\', '/').split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) return undefined;
  // Running text with blanks has many candidates, and most are not paths.
  if (parts[0]?.includes(' ')) return undefined;
  // VS Code's globs have no escapes.
  const loose = parts.join('/').replace(/[[\]{}*?!]/g, '?');
  const found = await vscode.workspace.findFiles(`**/${loose}`, undefined, loose === parts.join('/') ? 2 : MAX_LOOSE);
  const [only, another] = found.filter((uri) => `/${uri.path}`.endsWith(`/${parts.join('/')}`));
  const inside = only && another === undefined ? await fileAt(only) : undefined;
  return inside && asFile(inside.uri);
}

async function asFile(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
  const { type } = await vscode.workspace.fs.stat(uri);
  return (type & vscode.FileType.File) === 0 ? undefined : uri;
}
