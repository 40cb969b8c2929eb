import * as vscode from 'vscode';
import * as z from 'zod';
import type { FileChange } from '../../../chat/message-parts.ts';
import { defineTool } from '../../../chat/tools/define-tool.ts';
import {
  opaqueDeletion,
  type PreparedChange,
  renameChange,
  type SaveEffect,
  textChange,
} from '../../../chat/tools/file-change.ts';
import { keptLines, showKeptBytes } from '../../../chat/tools/kept-bytes.ts';
import { applyTextEdits, type TextEdit } from '../../../chat/tools/text-edit.ts';
import type { ChatTool, PreparedCall, RequiredConfirmation, ToolOutcome, ToolRun } from '../../../chat/tools/tools.ts';
import { cautionFor } from '../../../chat/tools/workspace-files.ts';
import { problemsAfter } from './change-problems.ts';
import {
  checkedChange,
  deleteFile,
  moveFile,
  type NewText,
  type SavedChange,
  statOf,
  textDocument,
  writeSaved,
  writeTexts,
} from './editor-files.ts';
import { encodeChange, encodeNewFile, notUtf8, savedText, shownText } from './file-text.ts';
import { actionWith, saveEffects } from './save-effects.ts';
import { type FoundFile, namedFiles, workspaceFile, writeFound } from './workspace-path.ts';

const PATH = z.string().describe('Path from the root of the workspace.');

const replacement = {
  path: PATH.optional(),
  old_text: z.string().describe('The exact text to replace, once in the file. Empty: the file is new.').optional(),
  new_text: z.string().optional(),
  replace_all: z.boolean().optional(),
};

/** Tools that change files. Each call is shown as a diff first. */
export function fileTools(): readonly ChatTool[] {
  return [
    defineTool(
      {
        name: 'edit_file',
        description: 'Replaces text in files. With edits: several replacements, all or none.',
        input: z.object({
          ...replacement,
          edits: z.array(z.object(replacement)).describe('Replacements, by default in path.').optional(),
        }),
        files: (input) => namedFiles(editedPaths(input), ['read', 'edit']),
      },
      true,
      prepareEdit,
    ),
    defineTool(
      {
        name: 'create_file',
        description: 'Creates a file.',
        input: z.object({ path: PATH, content: z.string() }),
        files: ({ path }) => namedFiles([path], ['edit']),
      },
      true,
      prepareCreation,
    ),
    defineTool(
      {
        name: 'rename_file',
        description: 'Renames or moves a file.',
        input: z.object({ path: PATH, new_path: z.string() }),
        // With another name, other rules would apply to its text.
        files: async ({ path, new_path: newPath }) => [
          ...(await namedFiles([path], ['read', 'edit'])),
          ...(await namedFiles([newPath], ['edit'])),
        ],
      },
      true,
      prepareRename,
    ),
    defineTool(
      {
        name: 'delete_file',
        description: 'Moves a file to the trash.',
        input: z.object({ path: PATH }),
        files: ({ path }) => namedFiles([path], ['delete']),
      },
      true,
      prepareDeletion,
    ),
  ];
}

type Replacement = {
  readonly [Name in keyof typeof replacement]?: z.infer<(typeof replacement)[Name]> | undefined;
};

type EditInput = Replacement & { readonly edits?: readonly Replacement[] | undefined };

function editedPaths({ path, edits = [] }: EditInput): readonly string[] {
  return [...new Set([path, ...edits.map((edit) => edit.path)])].filter((one) => one !== undefined);
}

async function prepareEdit(input: EditInput): Promise<PreparedCall> {
  const all = input.edits && input.edits.length > 0 ? input.edits : [input];
  const byFile = new Map<string, { readonly file: FoundFile; readonly written: string; readonly edits: TextEdit[] }>();
  for (const edit of all) {
    const written = edit.path ?? input.path;
    if (written === undefined) throw new Error('path is missing.');
    const file = await workspaceFile(written);
    const key = file.uri.toString();
    const known = byFile.get(key) ?? { file, written, edits: [] };
    byFile.set(key, known);
    known.edits.push({ oldText: edit.old_text ?? '', newText: edit.new_text ?? '', all: edit.replace_all ?? false });
  }
  const prepared: PreparedEdit[] = [];
  for (const { file, written, edits } of byFile.values()) prepared.push(await preparedEdit(file, written, edits));
  return changingCall(
    prepared.map(({ change }) => change),
    prepared.map(({ caution }) => caution),
    async ({ mayRead }) => {
      const shown = prepared.flatMap(({ shown }) => shown ?? []);
      const texts = await writeTexts(shown);
      for (const { file, saved } of prepared) if (saved) await writeSaved(file, saved);
      for (const { file, created } of prepared) if (created !== undefined) await createFile(file, created);
      const unsaved = shown.filter(({ document }) => document.isDirty);
      const note = unsaved.length === 0 ? '' : ' The user had unsaved changes, so not all files were saved.';
      const documents = prepared.map(({ change, shown }) => ({ change, document: shown?.document }));
      return { note, effects: await saveEffects(documents, texts, mayRead) };
    },
    prepared.map(({ file }) => file.uri),
  );
}

/** One of the last three exists. */
interface PreparedEdit {
  readonly file: FoundFile;
  readonly change: PreparedChange;
  readonly caution: RequiredConfirmation;
  readonly shown?: NewText;
  /** The editor has one kind of line ends only, and sees a change by another program late. */
  readonly saved?: SavedChange;
  readonly created?: string;
}

async function preparedEdit(file: FoundFile, written: string, edits: readonly TextEdit[]): Promise<PreparedEdit> {
  const path = file.relative;
  const caution = cautionFor(file, written, 'write') ?? true;
  const document = (await statOf(file.uri)) && (await readText(file));
  if (!document) {
    const [only, ...more] = edits;
    if (only?.oldText !== '' || more.length > 0) throw new Error(`${path} does not exist.`);
    await encodeNewFile(path, file.uri, only.newText);
    return { file, caution, change: textChange(path, undefined, only.newText), created: only.newText };
  }
  const before = document.getText();
  if (document.isDirty) {
    const text = editedText(path, before, edits);
    const shown = { document, before, text };
    await checkedChange(shown);
    return { file, caution, change: textChange(path, before, text), shown };
  }
  const saved = await savedText(document, path);
  const text = saved.keepsBytes ? editedBytes(path, saved.text, edits) : editedText(path, saved.text, edits);
  await encodeChange(path, document.encoding, saved, text);
  const change = textChange(path, shownText(saved), shownText({ ...saved, text }));
  if (saved.text === before) return { file, caution, change, shown: { document, before, text } };
  return { file, caution, change, saved: { document, before: saved, text } };
}

/** As `editedText`. A message shows a kept byte as the model knows it. */
function editedBytes(path: string, before: string, edits: readonly TextEdit[]): string {
  if (edits.some(({ oldText, newText }) => `${oldText}${newText}`.includes('\uFFFD'))) {
    const lines = keptLines(before).map(({ number }) => number);
    throw new Error(`${notUtf8(path, lines)} Nothing was changed.`);
  }
  try {
    return editedText(path, before, edits);
  } catch (thrown) {
    throw thrown instanceof Error ? new Error(showKeptBytes(thrown.message)) : thrown;
  }
}

function editedText(path: string, before: string, edits: readonly TextEdit[]): string {
  const [first] = edits;
  const fills = before === '' && edits.length === 1 && first?.oldText === '';
  return fills ? first.newText : applyTextEdits(path, before, edits);
}

async function prepareCreation({ path: written, content }: { path: string; content: string }): Promise<PreparedCall> {
  const file = await workspaceFile(written);
  if (await statOf(file.uri)) throw new Error(`${file.relative} already exists. Use edit_file.`);
  await encodeNewFile(file.relative, file.uri, content);
  return changingCall(
    [textChange(file.relative, undefined, content)],
    [cautionFor(file, written, 'write') ?? true],
    async () => {
      await createFile(file, content);
      return { note: '' };
    },
    [file.uri],
  );
}

async function prepareRename({ path, new_path: newPath }: { path: string; new_path: string }): Promise<PreparedCall> {
  const [from, to] = [await workspaceFile(path), await workspaceFile(newPath)];
  await requireFile(from);
  if (await statOf(to.uri)) throw new Error(`${to.relative} already exists.`);
  const cautions = [cautionFor(from, path, 'write') ?? true, cautionFor(to, newPath, 'write') ?? true];
  return changingCall([renameChange(from.relative, to.relative)], cautions, async () => {
    await moveFile(from.uri, to.uri);
    return { note: '' };
  });
}

async function prepareDeletion({ path }: { path: string }): Promise<PreparedCall> {
  const file = await workspaceFile(path);
  await requireFile(file);
  const document = await textDocument(file.uri);
  const change = document ? textChange(file.relative, document.getText(), undefined) : opaqueDeletion(file.relative);
  return changingCall([change], [cautionFor(file, path, 'write') ?? true], async () => ({
    note: (await deleteFile(file.uri)) === 'trash' ? ' It is in the trash.' : ' There is no trash here.',
  }));
}

/** The outcome, for the model. */
function changeText({ kind, path, newPath, added, removed }: FileChange): string {
  switch (kind) {
    case 'create':
      return `${path} was created.`;
    case 'edit':
      return `${path} was changed: ${added} lines added, ${removed} removed.`;
    case 'rename':
      return `${path} was renamed to ${newPath}.`;
    case 'delete':
      return `${path} was deleted.`;
  }
}

interface Applied {
  /** For the model. */
  readonly note: string;
  readonly effects?: readonly (SaveEffect | undefined)[];
}

/** @param changed the files whose problems are reported. */
function changingCall(
  changes: readonly PreparedChange[],
  cautions: readonly RequiredConfirmation[],
  apply: (run: ToolRun) => Promise<Applied>,
  changed: readonly vscode.Uri[] = [],
): PreparedCall {
  return {
    confirmation: cautions.find((one) => typeof one === 'object') ?? true,
    action: { type: 'changes', changes: changes.map(({ change }) => change) },
    changes,
    run: async (run): Promise<ToolOutcome> => {
      const problems = problemsAfter(changed, run.signal);
      try {
        const { note, effects = [] } = await apply(run);
        const texts = changes.map(({ change }) => changeText(change)).join('\n');
        const output = [`${texts}${note}`, ...effects.flatMap((effect) => effect?.note ?? [])].join('\n');
        return { output, ...actionWith(changes, effects), followUp: async () => problemsText(await problems.found()) };
      } catch (error) {
        problems.dispose();
        throw error;
      }
    },
  };
}

function problemsText(found: string): string {
  return found === '' ? '' : `\nProblems after this change:\n${found}`;
}

async function createFile(file: FoundFile, content: string): Promise<void> {
  const { uri, relative } = file;
  if (await statOf(uri)) throw new Error(`${relative} exists now. Nothing was changed.`);
  await writeFound(file, await encodeNewFile(relative, uri, content), true);
  // Opened, so that language extensions check it.
  await textDocument(uri);
}

async function requireFile({ uri, relative }: FoundFile): Promise<void> {
  const stat = await statOf(uri);
  if (!stat) throw new Error(`${relative} does not exist.`);
  if (stat.type & vscode.FileType.Directory) throw new Error(`${relative} is a folder. Only files are supported.`);
}

async function readText(file: FoundFile): Promise<vscode.TextDocument> {
  const document = await textDocument(file.uri);
  if (!document) throw new Error(`${file.relative} is not a text file.`);
  return document;
}
