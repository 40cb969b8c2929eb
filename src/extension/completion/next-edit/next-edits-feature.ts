import * as vscode from 'vscode';
import type { CompletionSettings } from '../../../completion/document/completion-settings.ts';
import type { DocumentText, Position } from '../../../completion/document/document-text.ts';
import { NextEdits, type NextEditsDeps } from '../../../completion/next-edit/next-edits.ts';
import type { Snippet } from '../../../completion/prompt/context.ts';
import type { OpenCircuit } from '../../../completion/request/circuit-breaker.ts';
import type { LastEditRequest } from '../../../completion/request/request-log.ts';
import type { NotSent } from '../../../completion/trigger/trigger.ts';
import { documentView, toChanges, toPosition } from '../../document-view.ts';
import { errorText } from '../../error-text.ts';
import { type CommandItem, commandItem } from '../../setup/setup-menu.ts';
import { CopilotNextEdits, copilotItem } from './copilot-next-edits.ts';
import { EditDecorations } from './edit-decorations.ts';
import type { GhostTextWatch } from './ghost-text-watch.ts';
import { NextEditDocument } from './next-edit-document.ts';
import { NextEditView, type NextEditViewDeps, type ShowMode } from './next-edit-view.ts';
import { QuickFixSource } from './quick-fix-source.ts';
import { RenameSource } from './rename-source.ts';

export interface NextEditsFeatureDeps extends Pick<NextEditsDeps, 'model' | 'predict' | 'limits' | 'context' | 'log'> {
  readonly settings: () => CompletionSettings;
  /** Fires when `settings` changed, or whether completions are snoozed. */
  readonly onDidChangeSettings: vscode.Event<void>;
  readonly excluded: (uri: string) => NotSent | undefined;
  /** The models or their keys changed. */
  readonly onDidChangeModels: vscode.Event<void>;
  /** True while a completion is requested. */
  readonly completionPending: () => boolean;
  readonly ghostText: GhostTextWatch;
  readonly setContext: NextEditViewDeps['setContext'];
  readonly media: vscode.Uri;
}

export interface NextEditsFeature extends vscode.Disposable {
  /** The edit on screen, for screen readers; undefined: there is none. */
  description(): string | undefined;
  readonly onDidChange: vscode.Event<void>;
  /** There is another text to show as ghost text. */
  readonly onDidChangeGhostText: vscode.Event<void>;
  /** The text of the edit to show as ghost text at a position. */
  ghostText(document: vscode.TextDocument, position: vscode.Position): string | undefined;
  /** Escape on ghost text. Returns true if it was an edit. */
  rejectGhostText(): boolean;
  /** See `NextEdits.recentEdits`. */
  recentEdits(uri: string, line: number): readonly Snippet[];
  /** See `NextEdits.restores`. */
  restores(document: DocumentText, position: Position, text: string): boolean;
  /** See `NextEdits.yieldSlot`. */
  yieldSlot(ref: string): void;
  /** See `NextEdits.serverChanged`. */
  serverChanged(): void;
  /** The last request to a model exactly as it was sent. */
  lastRequest(): LastEditRequest | undefined;
  /** Entries of the status menu. */
  menuItems(): readonly CommandItem[];
}

/** Connects the engine of next edits with the editor. */
export function registerNextEdits(deps: NextEditsFeatureDeps): NextEditsFeature {
  const copilot = new CopilotNextEdits();
  const mode = (): ShowMode => (copilot.active ? 'off' : readMode());
  const settings = () => ({ ...deps.settings(), enabled: deps.settings().enabled && mode() !== 'off' });
  const renames = new RenameSource(() => settings().enabled);
  const sources = [renames, new QuickFixSource()];
  const engine = new NextEdits({ ...deps, sources, settings });
  const decorations = new EditDecorations(deps.media);
  const ghostTextChanged = new vscode.EventEmitter<void>();
  const refreshGhostText = () => ghostTextChanged.fire();
  const view = new NextEditView({ engine, decorations, mode, refreshGhostText, setContext: deps.setContext });
  const diff = new NextEditDocument();
  const moved = (editor: vscode.TextEditor | undefined) => {
    if (editor) engine.cursorMoved(documentView(editor.document), toPosition(editor.selection.active), isQuiet(editor));
    view.update();
  };
  const reset = () => {
    // The edit on screen was found with other settings.
    const { current } = engine;
    if (current !== undefined && !settings().enabled) engine.rejected(current);
    renames.reconsider();
    view.update();
  };
  const lifetime = vscode.Disposable.from(
    ghostTextChanged,
    ...sources,
    engine,
    decorations,
    view,
    diff,
    copilot,
    deps.ghostText.onDidChange((shown) => engine.ghostTextShown(shown)),
    deps.onDidChangeSettings(reset),
    deps.onDidChangeModels(() => engine.reconsider()),
    copilot.onDidChange(reset),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration('svc.nextEdit') && reset()),
    vscode.window.onDidChangeTextEditorSelection(
      ({ textEditor }) => textEditor === vscode.window.activeTextEditor && moved(textEditor),
    ),
    vscode.window.onDidChangeActiveTextEditor(moved),
    vscode.window.tabGroups.onDidChangeTabs(() => moved(vscode.window.activeTextEditor)),
    vscode.workspace.onDidChangeTextDocument((event) => {
      reportChange(engine, event);
      view.update();
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => engine.documentClosed(uri.toString())),
    ...registerCommands(engine, view, diff),
  );
  moved(vscode.window.activeTextEditor);
  return {
    description: () => view.description,
    onDidChange: view.onDidChange,
    onDidChangeGhostText: ghostTextChanged.event,
    ghostText: (document, position) => view.ghostText(document, position),
    rejectGhostText: () => {
      if (!view.native) return false;
      view.reject();
      return true;
    },
    recentEdits: (uri, line) => engine.recentEdits(uri, line),
    restores: (document, position, text) => engine.restores(document, position, text),
    yieldSlot: (ref) => engine.yieldSlot(ref),
    serverChanged: () => engine.serverChanged(),
    lastRequest: () => engine.lastRequest,
    menuItems: () => [
      ...(copilot.active && readMode() !== 'off' ? [copilotItem()] : []),
      ...(engine.problem === undefined ? [] : [problemItem(engine.problem)]),
    ],
    dispose: () => lifetime.dispose(),
  };
}

function problemItem({ error }: OpenCircuit): CommandItem {
  const { t } = vscode.l10n;
  const label = t('Choose another model for next edits…');
  return { ...commandItem(`$(warning) ${label}`, 'svc.nextEdit.pickModel'), detail: errorText(error) };
}

function readMode(): ShowMode {
  return vscode.workspace.getConfiguration('svc.nextEdit').get<ShowMode>('show', 'eager');
}

/** Nothing is shown with several cursors, a selection, or in a diff editor. */
function isQuiet({ selections, selection }: vscode.TextEditor): boolean {
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const plain = tab instanceof vscode.TabInputText || tab instanceof vscode.TabInputNotebook;
  return selections.length > 1 || !selection.isEmpty || !plain;
}

function reportChange(engine: NextEdits, { document, contentChanges, reason }: vscode.TextDocumentChangeEvent): void {
  engine.documentChanged(
    {
      uri: document.uri.toString(),
      changes: toChanges(contentChanges),
      ...(reason === undefined ? {} : { reason: reason === vscode.TextDocumentChangeReason.Undo ? 'undo' : 'redo' }),
    },
    documentView(document),
  );
}

function registerCommands(engine: NextEdits, view: NextEditView, diff: NextEditDocument): vscode.Disposable[] {
  const register = vscode.commands.registerCommand;
  return [
    register('svc.nextEdit.tab', () => view.tab()),
    register('svc.nextEdit.go', async () => {
      if (!(await view.go())) await find(engine, view);
    }),
    register('svc.nextEdit.reject', () => view.reject()),
    register('svc.nextEdit.find', () => find(engine, view)),
    register('svc.nextEdit.read', async () => {
      // One that is being judged again, because problems have changed, is not there for a moment.
      if (view.edit === undefined) await find(engine, view);
      if (view.edit !== undefined) await diff.show(view.edit);
    }),
  ];
}

async function find(engine: NextEdits, view: NextEditView): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return;
  await engine.request(documentView(editor.document), toPosition(editor.selection.active));
  view.update();
  if (engine.current === undefined) vscode.window.setStatusBarMessage(vscode.l10n.t('There is no next edit.'), 4000);
}
