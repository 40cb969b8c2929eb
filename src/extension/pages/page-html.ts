import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import * as vscode from 'vscode';
import { contentPolicy } from './content-policy.ts';
import { pageDocument } from './page-document.ts';

export interface WebviewPage {
  /** File name in dist/webview without `.js`. */
  readonly script: string;
  readonly title: string;
  /** Style sheets in dist/webview. */
  readonly styles: readonly string[];
  /** See `PageDocument.field`. */
  readonly field?: string;
}

/** Options of all our webviews: only their own scripts and styles. The extension host does all network access. */
export function webviewOptions(extension: vscode.Uri): vscode.WebviewOptions {
  return {
    enableScripts: true,
    enableForms: false,
    enableCommandUris: false,
    localResourceRoots: [vscode.Uri.joinPath(extension, 'dist', 'webview')],
  };
}

/** The script of the frame in which diagrams are drawn. It ships compressed, because it is the largest file. */
export async function readDiagramScript(extension: vscode.Uri): Promise<string> {
  const file = vscode.Uri.joinPath(extension, 'dist', 'webview', 'diagram-script.js.br');
  return (await promisify(brotliDecompress)(await vscode.workspace.fs.readFile(file))).toString();
}

export function webviewHtml(webview: vscode.Webview, extension: vscode.Uri, page: WebviewPage): string {
  const nonce = randomBytes(24).toString('base64url');
  const root = vscode.Uri.joinPath(extension, 'dist', 'webview');
  const uri = (file: string) => webview.asWebviewUri(vscode.Uri.joinPath(root, file)).toString();
  return pageDocument({
    language: vscode.env.language,
    policy: contentPolicy(nonce, webview.cspSource),
    nonce,
    words: vscode.l10n.bundle ?? {},
    title: page.title,
    script: uri(`${page.script}.js`),
    styles: page.styles.map(uri),
    field: page.field,
  });
}
