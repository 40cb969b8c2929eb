import * as vscode from 'vscode';
import { commentLine, findLanguage } from '../../completion/document/languages.ts';
import { describeSnippet } from '../../completion/prompt/context.ts';
import {
  type LastEditRequest,
  type LastRequest,
  type LoggedOutcome,
  sentCharacters,
} from '../../completion/request/request-log.ts';
import type { UsageCounts } from '../../completion/request/usage-budget.ts';
import type { Suggester } from '../../completion/suggester.ts';
import { showDetails, showInformation } from '../foreign-text.ts';
import { count, dollars } from './status-text.ts';

const SCHEME = 'svc-last-request';
const LAST_REQUEST = vscode.Uri.from({ scheme: SCHEME, path: 'Last completion request' });

/** A read-only document with the last requests exactly as they were sent, with masked secrets. */
export class LastRequestDocument implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #completion: () => LastRequest | undefined;
  readonly #edit: () => LastEditRequest | undefined;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registration: vscode.Disposable;

  constructor(completion: () => LastRequest | undefined, edit: () => LastEditRequest | undefined) {
    this.#completion = completion;
    this.#edit = edit;
    // Last: VS Code reads `onDidChange` now.
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  async show(): Promise<void> {
    const last = this.#completion() ?? this.#edit();
    if (last === undefined) {
      void showInformation(vscode.l10n.t('No completion has been requested yet.'));
      return;
    }
    this.#changed.fire(LAST_REQUEST);
    const opened = await vscode.workspace.openTextDocument(LAST_REQUEST);
    const document = await vscode.languages.setTextDocumentLanguage(opened, last.languageId);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  provideTextDocumentContent(): string {
    const [completion, edit] = [this.#completion(), this.#edit()];
    const parts = [
      ...(completion === undefined ? [] : [describeRequest(completion)]),
      ...(edit === undefined ? [] : [describeEditRequest(edit, completion?.languageId ?? edit.languageId)]),
    ];
    return parts.join('\n\n');
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

function describeRequest({ model, languageId, fimRequest, context, masked, outcome }: LastRequest): string {
  const { t } = vscode.l10n;
  const { prefix, suffix, maxTokens, stop = [], context: files = [], path } = fimRequest;
  const note = noteIn(languageId);
  const sent = [sentCharacters(fimRequest) - suffix.length, suffix.length, maxTokens].map(count);
  return [
    note(t('Model: {0}', model)),
    note(t('Sent: {0} characters before the cursor, {1} after it; at most {2} tokens requested', ...sent)),
    ...describeContext(context.map(describeSnippet), masked).map(note),
    ...(stop.length === 0 ? [] : [note(t('Stop sequences: {0}', stop.map((each) => JSON.stringify(each)).join(' ')))]),
    ...(outcome === undefined ? [] : [note(describeOutcome(outcome))]),
    ...files.flatMap((file) => ['', note(t('Context: {0}', file.path)), file.text]),
    '',
    note(t('Text before the cursor:')),
    ...(path === undefined ? [] : [note(path)]),
    prefix,
    '',
    note(t('Text after the cursor:')),
    suffix,
  ].join('\n');
}

/** @param languageId of the document in which it is shown. */
function describeEditRequest(request: LastEditRequest, languageId: string): string {
  const { t } = vscode.l10n;
  const { model, dialect, prompt, maxTokens, outcome, context, masked } = request;
  const note = noteIn(languageId);
  return [
    note(t('Model for next edits: {0}', `${model} (${dialect})`)),
    note(t('Sent: {0} characters; at most {1} tokens requested', count(prompt.length), count(maxTokens))),
    ...describeContext(context, masked).map(note),
    ...(outcome === undefined ? [] : [note(describeOutcome(outcome))]),
    '',
    note(t('Prompt:')),
    prompt,
  ].join('\n');
}

function noteIn(languageId: string): (text: string) => string {
  const language = findLanguage(languageId);
  return (text) => commentLine(language, text);
}

/** @param context files, or pieces of files with the reason for each. */
function describeContext(context: readonly string[], masked: number): readonly string[] {
  const { t } = vscode.l10n;
  return [
    t('Files sent as context: {0}', context.length === 0 ? t('none') : context.join(', ')),
    t('Masked secrets: {0}', masked),
  ];
}

function describeOutcome({ total, characters, cost, problem }: LoggedOutcome): string {
  const { t } = vscode.l10n;
  if (problem !== undefined) return t('Failed after {0} ms: {1}', count(Math.round(total)), problem);
  const price = cost === undefined ? t('unknown price') : dollars(cost);
  return t('Answer: {0} characters in {1} ms, {2}', count(characters), count(Math.round(total)), price);
}

/** Shows the usage and cost of completions since the window opened. */
export async function showCost({ counts }: Suggester): Promise<void> {
  const { t } = vscode.l10n;
  await showDetails(
    t('Svc completions since this window was opened'),
    [...usageLines(counts), ...costLines(counts)].join('\n'),
  );
}

function usageLines({ requests, failed, inputTokens, outputTokens, estimated, acceptedCharacters }: UsageCounts) {
  const { t } = vscode.l10n;
  return [
    failed === 0
      ? t('Requests: {0}', count(requests))
      : t('Requests: {0}, of which {1} failed', count(requests), count(failed)),
    t('Tokens sent: {0}', count(inputTokens)),
    t('Tokens received: {0}', count(outputTokens)),
    ...(estimated ? [t('Some tokens are estimated at four characters each, because the provider reported none.')] : []),
    t('Characters accepted: {0}', count(acceptedCharacters)),
  ];
}

/** Without a price, no amount is shown: parts of a sum would look like the sum. */
function costLines({ cost, hour, costPerAcceptedCharacter: perCharacter }: UsageCounts): readonly string[] {
  const { t } = vscode.l10n;
  if (cost === undefined)
    return [t('Cost: unknown, because a model has no price. Set “cost” of the model in svc.jsonc.')];
  return [
    t('Cost: {0}, of which {1} in the last hour', dollars(cost), dollars(Math.min(hour, cost))),
    ...(perCharacter === undefined ? [] : [t('Cost per 1,000 accepted characters: {0}', dollars(perCharacter * 1000))]),
  ];
}
