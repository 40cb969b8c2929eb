import * as vscode from 'vscode';
import { applyHunks, type Hunk, lineDiff } from '../../../chat/tools/line-diff.ts';
import { workspaceRelativePath } from '../tools/workspace-path.ts';

const SCHEME = 'svc-proposal';

interface Proposal {
  readonly target: vscode.Uri;
  readonly text: string;
  readonly resolve: (outcome: 'applied' | 'discarded') => void;
}

/** Changes that the user reviews in a diff editor before all or some hunks are applied. */
export class Proposals implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #proposals = new Map<string, Proposal>();
  readonly #lifetime: vscode.Disposable;
  #count = 0;

  constructor() {
    this.#lifetime = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#forget(uri)),
    );
  }

  dispose(): void {
    this.#lifetime.dispose();
    for (const { resolve } of this.#proposals.values()) resolve('discarded');
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#proposals.get(uri.toString())?.text ?? '';
  }

  /** Shows the diff. Resolves when it was applied, discarded or closed. */
  async propose(target: vscode.Uri, text: string): Promise<'applied' | 'discarded'> {
    const uri = await this.show(target, text);
    return new Promise((resolve) => {
      this.#proposals.set(uri.toString(), { target, text, resolve: resolve });
    });
  }

  /** Shows the diff without offering to apply it. */
  async show(target: vscode.Uri, text: string): Promise<vscode.Uri> {
    this.#count += 1;
    const uri = target.with({ scheme: SCHEME, query: `${this.#count}`, authority: '', fragment: '' });
    this.#proposals.set(uri.toString(), { target, text, resolve: () => undefined });
    const before = (await opened(target)) ? target : vscode.Uri.parse(`${SCHEME}:/empty`);
    const title = vscode.l10n.t('{0} (proposed)', workspaceRelativePath(target));
    await vscode.commands.executeCommand('vscode.diff', before, uri, title, { preview: true });
    return uri;
  }

  /** Applies all, chosen or no hunks of a proposal. @param uri of the proposal; absent: the active one. */
  async act(uri: unknown, what: 'all' | 'hunks' | 'none'): Promise<void> {
    const shown = uri instanceof vscode.Uri ? uri : activeProposal();
    const proposal = shown && this.#proposals.get(shown.toString());
    if (!shown || !proposal) return;
    if (what !== 'none') {
      const text = what === 'all' ? proposal.text : await chooseHunks(proposal);
      if (text === undefined) return;
      await writeText(proposal.target, text);
    }
    this.#proposals.delete(shown.toString());
    proposal.resolve(what === 'none' ? 'discarded' : 'applied');
    await closeTab(shown);
  }

  #forget(uri: vscode.Uri): void {
    const proposal = this.#proposals.get(uri.toString());
    this.#proposals.delete(uri.toString());
    proposal?.resolve('discarded');
  }
}

/** Opens the document; undefined if the file does not exist yet. */
async function opened(target: vscode.Uri): Promise<vscode.TextDocument | undefined> {
  return vscode.workspace.openTextDocument(target).then(
    (document) => document,
    () => undefined,
  );
}

/** Replaces a file's text with an undoable edit, and saves it if it had no unsaved changes. Creates a new file. */
export async function writeText(target: vscode.Uri, text: string): Promise<void> {
  const document = await opened(target);
  if (!document) {
    await vscode.workspace.fs.writeFile(target, Buffer.from(text));
    return;
  }
  const clean = !document.isDirty;
  const edit = new vscode.WorkspaceEdit();
  const end = document.lineAt(document.lineCount - 1).range.end;
  edit.replace(target, new vscode.Range(new vscode.Position(0, 0), end), text);
  if (!(await vscode.workspace.applyEdit(edit)))
    throw new Error(`${workspaceRelativePath(target)} could not be changed.`);
  if (clean) await document.save();
}

async function chooseHunks({ target, text }: Proposal): Promise<string | undefined> {
  const before = (await opened(target))?.getText() ?? '';
  const hunks = lineDiff(before, text);
  const items = hunks.map((hunk, index) => ({ label: hunkLabel(hunk), detail: hunkDetail(hunk), picked: true, index }));
  const chosen = await vscode.window.showQuickPick(items, {
    canPickMany: true,
    title: vscode.l10n.t('Changes to apply'),
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  return chosen && applyHunks(before, hunks, new Set(chosen.map(({ index }) => index)));
}

function hunkLabel({ from, before, after }: Hunk): string {
  return vscode.l10n.t('Line {0}: {1} removed, {2} added', from + 1, before.length, after.length);
}

function hunkDetail({ before, after }: Hunk): string {
  return (after.find((line) => line.trim() !== '') ?? before.find((line) => line.trim() !== '') ?? '').trim();
}

function activeProposal(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  return input instanceof vscode.TabInputTextDiff ? input.modified : undefined;
}

async function closeTab(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const shown = tabs.find(
    ({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.toString() === uri.toString(),
  );
  if (shown) await vscode.window.tabGroups.close(shown);
}
