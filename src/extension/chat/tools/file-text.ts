import * as vscode from 'vscode';
import { withoutByteOrderMark } from '../../../base/text.ts';
import {
  decodeKeepingBytes,
  encodeKeptBytes,
  keptLines,
  showKeptBytes,
  touchedKeptLine,
} from '../../../chat/tools/kept-bytes.ts';
import { lineDiff } from '../../../chat/tools/line-diff.ts';
import { findDocument } from '../../document-view.ts';

/** The encoding of VS Code for which bytes that do not fit are kept (see `decodeKeepingBytes`). */
const UTF8 = 'utf8';

/** The text of a file on the disk, whose line ends may be mixed. It has no byte order mark. */
export interface FileText {
  readonly text: string;
  /** An encoding of VS Code, as in `TextDocument.encoding`. */
  readonly encoding: string;
  /** The file has bytes that are not UTF-8: the text is that of `decodeKeepingBytes`. */
  readonly keepsBytes: boolean;
}

/**
 * Reads a text that gives the same bytes again when it is encoded.
 *
 * @param relative path of the file, for the message.
 * @throws Error if there is no such text: a change would damage the file.
 */
export async function savedText({ uri, encoding }: vscode.TextDocument, relative: string): Promise<FileText> {
  const bytes = await vscode.workspace.fs.readFile(uri);
  const decoded = await vscode.workspace.decode(bytes, { encoding });
  const text = withoutByteOrderMark(decoded);
  const again = await vscode.workspace.encode(text, { encoding });
  if (Buffer.compare(again, bytes) === 0) return { text, encoding, keepsBytes: false };
  if (encoding === UTF8) return { text: decodeKeepingBytes(bytes), encoding, keepsBytes: true };
  throw new Error(
    `${relative} cannot be changed without damage: its bytes are not valid in the encoding ${encoding}, with which the editor opened it. Nothing was changed. Ask the user to reopen it with the right encoding.`,
  );
}

/** The text as the editor shows it. */
export function shownText({ text, keepsBytes }: FileText): string {
  return keepsBytes ? showKeptBytes(text) : text;
}

/**
 * Encodes a new text for a file.
 *
 * @param before absent: the text of an editor with unsaved changes.
 * @throws Error if the encoding lacks a character, or the change touches bytes that are not UTF-8.
 */
export async function encodeChange(
  relative: string,
  encoding: string,
  before: FileText | undefined,
  after: string,
): Promise<Uint8Array> {
  if (!before?.keepsBytes) return encodeAll(relative, after, { encoding });
  const line = touchedKeptLine(before.text, after);
  if (line !== undefined) throw new Error(`${notUtf8(relative, [line])} Nothing was changed.`);
  refuseUnknownEncoding(relative, before.text, after);
  return encodeKeptBytes(after);
}

/** Text in an unknown encoding can only be ASCII. */
function refuseUnknownEncoding(relative: string, before: string, after: string): void {
  for (const { from, after: lines } of lineDiff(before, after)) {
    const text = lines.join('\n');
    const at = text.search(/[^\0-\x7F]/);
    if (at === -1) continue;
    const number = from + 1 + text.slice(0, at).split('\n').length - 1;
    throw new Error(
      `${characterName(text, at)} in line ${number} cannot be written: ${relative} is not UTF-8, and its encoding is not known. Nothing was changed. Use ASCII, or ask the user to reopen the file with its encoding.`,
    );
  }
}

/** Encodes the text of a new file as the settings of the editor state. @throws Error as `encodeChange`. */
export async function encodeNewFile(relative: string, uri: vscode.Uri, text: string): Promise<Uint8Array> {
  return encodeAll(relative, text, { uri });
}

type EncodingChoice = { readonly encoding: string } | { readonly uri: vscode.Uri };

async function encodeAll(relative: string, text: string, choice: EncodingChoice): Promise<Uint8Array> {
  // The overloads of VS Code's functions take one kind of choice each.
  const bytes = await ('uri' in choice ? vscode.workspace.encode(text, choice) : vscode.workspace.encode(text, choice));
  const again = await ('uri' in choice
    ? vscode.workspace.decode(bytes, choice)
    : vscode.workspace.decode(bytes, choice));
  if (again === text || withoutByteOrderMark(again) === text) return bytes;
  const at = firstDifference(text, withoutByteOrderMark(again));
  const number = text.slice(0, at).split('\n').length;
  const name = 'encoding' in choice ? `, ${choice.encoding}` : '';
  throw new Error(
    `${characterName(text, at)} in line ${number} does not exist in the encoding of ${relative}${name}. Nothing was changed. Use other characters, or ask the user to save the file as UTF-8.`,
  );
}

/** Makes the change from `before` to `after`, two texts of an editor, in the text on the disk. */
export function changeSaved(saved: string, before: string, after: string): string | undefined {
  const plain = (text: string) => text.replaceAll('\r\n', '\n');
  const lines = saved.split('\n');
  if (lines.length !== plain(before).split('\n').length) return undefined;
  const lineEnd = before.includes('\r\n') ? '\r' : '';
  for (const { from, before: old, after: fresh } of lineDiff(plain(before), plain(after)).reverse()) {
    const isLast = from + old.length === lines.length;
    const ended = fresh.map((line, index) => (isLast && index === fresh.length - 1 ? line : line + lineEnd));
    lines.splice(from, old.length, ...ended);
  }
  return lines.join('\n');
}

/** The text of a content of a file, with the encoding of its editor or of the settings. */
export async function decodeContent(uri: vscode.Uri, content: Uint8Array | undefined): Promise<string> {
  if (content === undefined) return '';
  const open = findDocument(uri.toString());
  const decode = async () =>
    open ? vscode.workspace.decode(content, { encoding: open.encoding }) : vscode.workspace.decode(content, { uri });
  // VS Code decodes no content that looks binary.
  return withoutByteOrderMark(await decode().catch(() => Buffer.from(content).toString('utf8')));
}

/** The note for a model about a text with U+FFFD. */
export function notUtf8(relative: string, lines: readonly number[]): string {
  const shown = lines.slice(0, 10).join(', ') + (lines.length > 10 ? ', …' : '');
  const place = lines.length === 1 ? `Line ${shown} of ${relative} has` : `Lines ${shown} of ${relative} have`;
  return `${place} bytes that are not UTF-8, shown as \uFFFD. Tools cannot change such lines. The user can reopen the file with its encoding, or set files.encoding.`;
}

/** The 1-based lines of a content that have bytes other than UTF-8. None if it was read with another encoding. */
export function foreignLines(content: Uint8Array, text: string): readonly number[] {
  if (withoutByteOrderMark(Buffer.from(content).toString('utf8')) !== withoutByteOrderMark(text)) return [];
  return keptLines(decodeKeepingBytes(content)).map(({ number }) => number);
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** Such as `U+2192 (→)`. */
function characterName(text: string, at: number): string {
  const code = text.codePointAt(at) ?? 0;
  const shown = code >= 0xd800 && code < 0xe000 ? '' : ` (${String.fromCodePoint(code)})`;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}${shown}`;
}
