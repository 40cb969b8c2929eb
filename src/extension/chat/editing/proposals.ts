import * as vscode from 'vscode';
import { applyHunks, type Hunk, lineDiff } from '../../../chat/tools/line-diff.ts';
import { textDocument, writeTexts } from '../tools/editor-files.ts';
import { workspaceRelativePath } from '../tools/workspace-path.ts';

const SCHEME = 'svc-proposal';
const EMPTY = vscode.Uri.parse(`${SCHEME}:/empty`);
/** Context key: the proposals of which the user may accept some changes only. */
const PARTIAL = 'svc.proposal.partial';

/** A file and its proposed text. */
export interface ProposedFile {
  readonly target: vscode.Uri;
  /** Undefined: the file is deleted. */
  readonly after: string | undefined;
}

/** The actions of the buttons of the diff editor. */
export interface ProposalActions {
  readonly accept: () => void | Promise<void>;
  readonly reject: () => void | Promise<void>;
  /** Accepts some of the changes. Absent: not possible. */
  readonly acceptText?: (text: string) => Promise<void>;
}

interface Proposal extends ProposalActions, ProposedFile {
  readonly id: string;
}

/** Proposed changes in diff editors, which the user accepts or rejects there. An answered proposal is closed. */
export class Proposals implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #proposals = new Map<string, Proposal>();
  /** Ids of the proposals whose answer is being carried out. */
  readonly #answered = new Set<string>();
  readonly #lifetime: vscode.Disposable;
  #count = 0;

  constructor() {
    this.#lifetime = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (this.#proposals.delete(uri.toString())) this.#updateContext();
      }),
    );
  }

  dispose(): void {
    this.#lifetime.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#proposals.get(uri.toString())?.after ?? '';
  }

  /** Shows the files of a proposal, or shows them again. @param id of the proposal. */
  async show(id: string, files: readonly ProposedFile[], actions: ProposalActions): Promise<void> {
    for (const { target, after } of files) {
      const uri = target.with({ scheme: SCHEME, query: id, authority: '', fragment: '' });
      this.#proposals.set(uri.toString(), { id, target, after, ...actions });
      this.#updateContext();
      const before = (await textDocument(target)) ? target : EMPTY;
      const title = vscode.l10n.t('{0} (proposed)', workspaceRelativePath(target));
      await vscode.commands.executeCommand('vscode.diff', before, uri, title, { preview: files.length === 1 });
    }
  }

  /** Shows a text for a document, which is written when the user accepts all or some of its changes. */
  async compare(document: vscode.TextDocument, after: string): Promise<void> {
    const before = document.getText();
    const write = async (from: string, text: string) => {
      await writeTexts([{ document, before: from, text }]);
    };
    this.#count += 1;
    await this.show(`compare ${this.#count}`, [{ target: document.uri, after }], {
      accept: () => write(before, after),
      reject: () => undefined,
      // The chosen changes were computed from the present text.
      acceptText: (text) => write(document.getText(), text),
    });
  }

  /** Runs a button of a proposal. @param uri of its file; absent: the active one. */
  async act(uri: unknown, what: 'accept' | 'hunks' | 'reject'): Promise<void> {
    const shown = uri instanceof vscode.Uri ? uri : activeProposal();
    const proposal = shown && this.#proposals.get(shown.toString());
    if (!proposal) return;
    const text = what === 'hunks' ? await chooseHunks(proposal) : undefined;
    if (what === 'hunks' && text === undefined) return;
    // A second press of the button must find nothing to do.
    if (this.#answered.has(proposal.id)) return;
    this.#answered.add(proposal.id);
    try {
      if (text !== undefined) await proposal.acceptText?.(text);
      else if (what === 'accept') await proposal.accept();
      else await proposal.reject();
      await this.close(proposal.id);
    } finally {
      this.#answered.delete(proposal.id);
    }
  }

  /** Closes the editors of a proposal that was answered elsewhere, or that can no longer be answered. */
  async close(id: string): Promise<void> {
    const uris = [...this.#proposals].flatMap(([uri, proposal]) => (proposal.id === id ? [uri] : []));
    for (const uri of uris) this.#proposals.delete(uri);
    this.#updateContext();
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const open = tabs.filter(
      ({ input }) => input instanceof vscode.TabInputTextDiff && uris.includes(input.modified.toString()),
    );
    if (open.length > 0) await vscode.window.tabGroups.close(open);
  }

  #updateContext(): void {
    const partial = [...this.#proposals].flatMap(([uri, { acceptText }]) => (acceptText ? [uri] : []));
    void vscode.commands.executeCommand('setContext', PARTIAL, partial);
  }
}

async function chooseHunks({ target, after = '' }: Proposal): Promise<string | undefined> {
  const before = (await textDocument(target))?.getText() ?? '';
  const hunks = lineDiff(before, after);
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
