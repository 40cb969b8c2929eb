import * as vscode from 'vscode';
import type { Attachment } from '../../../chat/attachment.ts';
import { textAttachment } from '../../../chat/attachment.ts';
import { SLASH_COMMANDS } from '../../../chat/page/slash-commands.ts';
import { textOfAnswer } from '../../../wire/answer-content.ts';
import { asSvcError } from '../../../wire/errors/svc-error.ts';
import { errorText } from '../../error-text.ts';
import { showError, showInformation, showProgress } from '../../foreign-text.ts';
import { mayAttach } from '../attach-approval.ts';
import type { Attach } from '../attachments/attach.ts';
import { gitDiff } from '../attachments/git.ts';
import { problemText } from '../attachments/problems.ts';
import { terminalSelection, terminalText } from '../attachments/terminal-text.ts';
import { askModel } from './ask-model.ts';
import { type ChangeSelectionDeps, changeSelection } from './change-selection.ts';

export interface EditorCommandDeps extends ChangeSelectionDeps {
  readonly attach: Attach;
  readonly newId: () => string;
  /** Opens the panel with these attachments in the draft. */
  readonly compose: (attachments: readonly Attachment[]) => Promise<void>;
  /** Opens the panel and starts a new conversation with this message. */
  readonly begin: (text: string, attachments: readonly Attachment[]) => Promise<void>;
}

const prompt = (name: string) => SLASH_COMMANDS.find((command) => command.name === name)?.prompt ?? '';

/** The commands of the editor, the SCM view and the terminal, by command id. */
export function editorCommands(deps: EditorCommandDeps) {
  const { attach } = deps;
  const shown = (run: (...args: unknown[]) => Promise<unknown>) => async (args: readonly unknown[]) => {
    try {
      await run(...args);
    } catch (thrown) {
      void showError(errorText(asSvcError(thrown)));
    }
  };
  const about = (name: string) =>
    shown(async () => {
      const code = await attach.selection();
      // If an editor is open, the user has just declined to attach its file.
      if (code.length > 0 || vscode.window.visibleTextEditors.length === 0) await deps.begin(prompt(name), code);
    });
  return {
    'svc.chat.addSelection': shown(async () => deps.compose(await attach.selection())),
    'svc.chat.addFile': shown(async (uri) => {
      if (uri instanceof vscode.Uri) await deps.compose(await attach.uri(uri));
    }),
    'svc.chat.explain': about('explain'),
    'svc.chat.tests': about('tests'),
    'svc.chat.doc': about('doc'),
    'svc.chat.fix': shown((uri, range) => fix(deps, uri, range)),
    'svc.chat.editSelection': shown(() => changeSelection(deps)),
    'svc.chat.cancelChange': async () => deps.progress.cancel(),
    'svc.chat.commitMessage': shown((source) => commitMessage(deps, source)),
    'svc.chat.explainTerminal': shown(() => explainTerminal(deps)),
  };
}

async function fix(deps: EditorCommandDeps, uri: unknown, range: unknown): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const document = uri instanceof vscode.Uri ? await vscode.workspace.openTextDocument(uri) : editor?.document;
  if (!document || !(await mayAttach(document.uri))) return;
  const at = range instanceof vscode.Range ? range : editor?.selection;
  const problems = vscode.languages
    .getDiagnostics(document.uri)
    .filter((each) => at === undefined || each.range.intersection(at) !== undefined);
  const around = at && new vscode.Range(Math.max(0, at.start.line - 20), 0, at.end.line + 21, 0);
  const code = around ? deps.attach.range(document, document.validateRange(around)) : deps.attach.document(document);
  const text = problems.map((each) => problemText(document.uri, each)).join('\n');
  const listed = textAttachment({ id: deps.newId(), kind: 'problems', label: vscode.l10n.t('Problems'), text });
  await deps.begin(prompt('fix'), text === '' ? [code] : [code, listed]);
}

const COMMIT_SYSTEM = `You write commit messages. Answer with the message alone: a subject of at most 72 characters in \
the imperative, then, only if the reason is not obvious, a blank line and a short body. No Markdown fence.`;

interface GitRepository {
  readonly rootUri: vscode.Uri;
  readonly inputBox: { value: string };
}

/** @param source the source control whose button was pressed; absent if run from the command palette. */
async function commitMessage(deps: EditorCommandDeps, source: unknown): Promise<void> {
  const chosen = deps.model();
  if (!chosen) return void (await vscode.commands.executeCommand('svc.model.pick'));
  const repository = await gitRepository(source);
  const diff = await gitDiff('commit', repository?.rootUri);
  if (!repository || diff === '') {
    void showInformation(vscode.l10n.t('There are no changes to describe.'));
    return;
  }
  const answer = await withProgress(vscode.l10n.t('Writing the commit message…'), (signal) =>
    askModel(deps.converse, chosen, { system: COMMIT_SYSTEM, texts: [diff.slice(0, 100_000)] }, signal),
  );
  if (answer !== undefined) repository.inputBox.value = textOfAnswer(answer);
}

/** The API of the Git extension is the only access to the input box of the SCM view. */
async function gitRepository(source: unknown): Promise<GitRepository | undefined> {
  const extension = vscode.extensions.getExtension<{
    getAPI(version: 1): { readonly repositories: readonly GitRepository[] };
  }>('vscode.git');
  const repositories = (await extension?.activate())?.getAPI(1).repositories ?? [];
  const root = typeof source === 'object' && source !== null && 'rootUri' in source ? String(source.rootUri) : '';
  return repositories.find(({ rootUri }) => rootUri.toString() === root) ?? repositories[0];
}

async function explainTerminal(deps: EditorCommandDeps): Promise<void> {
  const text = (await terminalSelection()) || (await terminalText());
  if (text === '') {
    void showInformation(vscode.l10n.t('Select what to explain in the terminal.'));
    return;
  }
  const attachment = textAttachment({ id: deps.newId(), kind: 'terminal', label: vscode.l10n.t('Terminal'), text });
  await deps.begin(vscode.l10n.t('Explain this terminal output. If something failed, say why and how to fix it.'), [
    attachment,
  ]);
}

/** Resolves with undefined if the user cancels. */
async function withProgress<T>(title: string, run: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return showProgress(options, async (_, token) => {
    const stopping = new AbortController();
    const cancellation = token.onCancellationRequested(() => stopping.abort());
    try {
      return await run(stopping.signal);
    } catch (thrown) {
      if (token.isCancellationRequested) return undefined;
      throw thrown;
    } finally {
      cancellation.dispose();
    }
  });
}
