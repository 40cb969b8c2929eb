import * as vscode from 'vscode';
import { CoalescedRun } from '../../../base/concurrency.ts';
import { defined } from '../../../base/json.ts';
import { textBetween } from '../../../base/text-change.ts';
import type { FinishedEdit, NextEdit, NextEditSource, Replacement } from '../../../completion/next-edit/next-edit.ts';
import { type RenamePlace, TrackedRename } from '../../../completion/next-edit/tracked-rename.ts';
import { findDocument, pathInFolder, toChanges, toPosition, toRange } from '../../document-view.ts';

/** Wait after a change, before the name at the cursor is looked up: the user may be typing it. */
const AFTER_CHANGE_MS = 500;
/** Wait after a move: a cursor that moves on needs no lookup. */
const AFTER_MOVE_MS = 50;
/**
 * A lookup begins before the earlier ones end, because the user may type at once, and a language server answers in
 * order. More would fill its queue.
 */
const MAX_LOOKUPS = 3;
/** A rename of more files needs a review of its own. */
const MAX_FILES = 50;
/** Places in one edit. */
const MAX_PLACES = 30;

type Found = Omit<NextEdit, 'id' | 'following'>;

/**
 * Renames the rest after the user has changed the name of a declaration. The places are computed by the language when
 * the cursor reaches the declaration, because they are not references of the new name. They come from the rename
 * provider, with a placeholder for the new name, or from the reference provider if the language has no rename.
 */
export class RenameSource implements NextEditSource, vscode.Disposable {
  readonly origin = 'rename';
  readonly #active: (document: vscode.TextDocument) => boolean;
  readonly #watch: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;
  #tracked: TrackedRename | undefined;
  readonly #lookUps = new CoalescedRun(() => this.#lookUp(), MAX_LOOKUPS);
  /** The lookups that run. */
  readonly #lookups = new Set<Lookup>();
  /** Number of the lookup that found `#tracked`, and of the last one. */
  #trackedBy = 0;
  #begun = 0;
  /** Document version at the last move of the cursor. */
  #version: { readonly uri: string; readonly version: number } | undefined;

  /** @param active false: next edits are off in the document. */
  constructor(active: (document: vscode.TextDocument) => boolean) {
    this.#active = active;
    this.#watch = vscode.Disposable.from(
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.#cursorMoved(textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.#cursorMoved(editor)),
      vscode.workspace.onDidChangeTextDocument((event) => this.#changed(event)),
    );
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#watch.dispose();
  }

  async find(edit: FinishedEdit, signal: AbortSignal): Promise<readonly Found[]> {
    // The user may have typed the new name before the language answered.
    await Promise.all([...this.#lookups].map(({ done }) => done));
    const tracked = this.#tracked;
    const document = findDocument(edit.document.uri);
    if (!tracked?.valid || tracked.declaration.uri !== edit.document.uri || document === undefined) return [];
    if (signal.aborted) return [];
    const range = toRange(tracked.range);
    const name = document.getText(range);
    if (name === tracked.declaration.name || !isName(document, range) || hasError(document, range)) return [];
    if (range.start.line < edit.line || range.start.line >= edit.line + edit.after.length) return [];
    const rest = [...tracked.rest(name)];
    if (rest.length > MAX_FILES) return [];
    // This document first.
    rest.sort(([a], [b]) => Number(b === edit.document.uri) - Number(a === edit.document.uri));
    const found: Found[] = [];
    for (const [uri, places] of rest) {
      const edits = await createEdits(uri, places, tracked.declaration.name, name);
      if (edits === undefined || signal.aborted) return [];
      found.push(...edits);
    }
    return found;
  }

  #cursorMoved({ document }: vscode.TextEditor): void {
    const uri = document.uri.toString();
    const typed = this.#version?.uri === uri && this.#version.version !== document.version;
    this.#version = { uri, version: document.version };
    if (document !== vscode.window.activeTextEditor?.document) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#lookUps.run(), typed ? AFTER_CHANGE_MS : AFTER_MOVE_MS);
  }

  #changed({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (contentChanges.length === 0) return;
    const change = {
      uri: document.uri.toString(),
      changes: toChanges(contentChanges),
    };
    for (const { changes } of this.#lookups) changes.push(change);
    this.#tracked?.changed(change);
  }

  /** True if the cursor is in the name that was looked up. The user may be changing it. */
  #isTracked({ document, selection }: vscode.TextEditor): boolean {
    const tracked = this.#tracked;
    return tracked?.declaration.uri === document.uri.toString() && toRange(tracked.range).contains(selection.active);
  }

  /** Next edits may be on now. The name at the cursor was not looked up while they were off. */
  reconsider(): void {
    void this.#lookUps.run();
  }

  async #lookUp(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || !this.#active(editor.document) || this.#isTracked(editor)) return;
    this.#begun += 1;
    const number = this.#begun;
    const changes: Lookup['changes'] = [];
    const done = trackRename(editor.document, editor.selection.start)
      .catch(() => undefined)
      .then((tracked) => {
        this.#lookups.delete(lookup);
        for (const change of changes) tracked?.changed(change);
        if (tracked?.valid && number > this.#trackedBy) {
          this.#tracked = tracked;
          this.#trackedBy = number;
        }
      });
    const lookup: Lookup = { changes, done };
    this.#lookups.add(lookup);
    await done;
  }
}

interface Lookup {
  /** The changes since it began. */
  readonly changes: Parameters<TrackedRename['changed']>[0][];
  readonly done: Promise<void>;
}

/** The places of a rename, if the position is in the name of a declaration. */
async function trackRename(
  document: vscode.TextDocument,
  position: vscode.Position,
): Promise<TrackedRename | undefined> {
  const word = document.getWordRangeAtPosition(position);
  if (word === undefined) return undefined;
  const name = document.getText(word);
  const { uri, version } = document;
  const text = document.getText();
  const lines = text.split(/\r?\n/);
  const lineAt = (line: number) => lines[line] ?? '';
  const placeholder = `${name}Svc0`;
  if (text.includes(placeholder)) return undefined;
  const rename = () => renamePlaces(uri, word.start, placeholder);
  // The user may type at once, and the places have to be requested before. But a rename can be slow in a large project.
  const early = isLikelyDeclared(document, word) ? rename() : undefined;
  if (!(await isDeclaration(uri, word))) return undefined;
  if (early === undefined && document.version !== version) return undefined;
  const renamed = await (early ?? rename());
  if (renamed === undefined && document.version !== version) return undefined;
  const places = renamed ?? (await referencePlaces(uri, word.start, placeholder));
  const own = uri.toString();
  const known = places.map((place) => (place.uri === own ? { ...place, expected: textBetween(lineAt, place) } : place));
  // Computed after the name had changed.
  if (known.some(({ expected }) => expected?.includes(name) === false)) return undefined;
  return new TrackedRename({ uri: own, name, placeholder, start: toPosition(word.start) }, known);
}

/** True after a word and white space (`const name`, `int name`) and before `:` or `=`. */
function isLikelyDeclared(document: vscode.TextDocument, word: vscode.Range): boolean {
  const { text } = document.lineAt(word.start.line);
  const before = text.slice(Math.max(0, word.start.character - 80), word.start.character);
  const after = text.slice(word.end.character, word.end.character + 8);
  return /[\p{L}\p{N}_>\]*&]\s$/u.test(before) || /^\s{0,4}(?::|=(?!=))/.test(after);
}

async function isDeclaration(uri: vscode.Uri, word: vscode.Range): Promise<boolean> {
  const definitions = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
    'vscode.executeDefinitionProvider',
    uri,
    word.start,
  );
  return definitions.some((definition) => {
    const [target, range] =
      'targetUri' in definition
        ? [definition.targetUri, definition.targetSelectionRange ?? definition.targetRange]
        : [definition.uri, definition.range];
    return target.toString() === uri.toString() && range.isSingleLine && range.contains(word);
  });
}

/** Undefined: the language has no rename, or refuses this one. */
async function renamePlaces(
  uri: vscode.Uri,
  position: vscode.Position,
  placeholder: string,
): Promise<readonly RenamePlace[] | undefined> {
  let edit: vscode.WorkspaceEdit;
  try {
    edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit>(
      'vscode.executeDocumentRenameProvider',
      uri,
      position,
      placeholder,
    );
  } catch {
    return undefined;
  }
  const places = edit.entries().flatMap(([target, edits]) =>
    edits.map(({ range: { start, end }, newText }) => ({
      uri: target.toString(),
      start: toPosition(start),
      end: toPosition(end),
      text: newText,
    })),
  );
  return places.length === 0 ? undefined : places;
}

async function referencePlaces(
  uri: vscode.Uri,
  position: vscode.Position,
  placeholder: string,
): Promise<readonly RenamePlace[]> {
  const locations = await vscode.commands.executeCommand<vscode.Location[]>(
    'vscode.executeReferenceProvider',
    uri,
    position,
  );
  return locations.map(({ uri: target, range: { start, end } }) => ({
    uri: target.toString(),
    start: toPosition(start),
    end: toPosition(end),
    text: placeholder,
  }));
}

/** Undefined: a place is outside the workspace or no longer has the old name, so the rename would be incomplete. */
async function createEdits(
  uri: string,
  places: readonly Omit<RenamePlace, 'uri'>[],
  oldName: string,
  name: string,
): Promise<readonly Found[] | undefined> {
  const target = vscode.Uri.parse(uri);
  const path = pathInFolder(target);
  const open = findDocument(uri);
  if (path === undefined && open === undefined) return undefined;
  const document = open ?? (await vscode.workspace.openTextDocument(target));
  const replacements = places.map(({ start, end, text, expected }): Replacement => {
    const now = document.getText(toRange({ start, end }));
    return { start, end, text, expected: expected ?? now };
  });
  if (replacements.some(({ expected }) => !expected.includes(oldName))) return undefined;
  const groups = Array.from({ length: Math.ceil(replacements.length / MAX_PLACES) }, (_, group) =>
    replacements.slice(group * MAX_PLACES, (group + 1) * MAX_PLACES),
  );
  return groups.map((group) => ({
    origin: 'rename',
    uri,
    ...defined({ path }),
    replacements: group,
    title: { kind: 'rename', name },
  }));
}

function isName(document: vscode.TextDocument, range: vscode.Range): boolean {
  return !range.isEmpty && document.getWordRangeAtPosition(range.start)?.isEqual(range) === true;
}

/** For example, a name that is declared twice. */
function hasError({ uri }: vscode.TextDocument, range: vscode.Range): boolean {
  return vscode.languages
    .getDiagnostics(uri)
    .some(
      (each) => each.severity === vscode.DiagnosticSeverity.Error && each.range.intersection(range)?.isEmpty === false,
    );
}
