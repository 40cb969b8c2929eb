import * as vscode from 'vscode';
import { commentLine, findLanguage } from '../../completion/document/languages.ts';
import type { LastRequest, LoggedOutcome } from '../../completion/request/request-log.ts';
import type { Suggester } from '../../completion/suggester.ts';

const SCHEME = 'svc-last-request';
const LAST_REQUEST = vscode.Uri.from({ scheme: SCHEME, path: 'Last completion request' });

/** A read-only document with the last request exactly as it was sent, with masked secrets. */
export class LastRequestDocument implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #suggester: Suggester;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.#changed.event;

  constructor(suggester: Suggester) {
    this.#suggester = suggester;
  }

  async show(): Promise<void> {
    const { lastRequest } = this.#suggester;
    if (lastRequest === undefined) {
      void vscode.window.showInformationMessage(vscode.l10n.t('No completion has been requested yet.'));
      return;
    }
    this.#changed.fire(LAST_REQUEST);
    const opened = await vscode.workspace.openTextDocument(LAST_REQUEST);
    const document = await vscode.languages.setTextDocumentLanguage(opened, lastRequest.languageId);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  provideTextDocumentContent(): string {
    const { lastRequest } = this.#suggester;
    return lastRequest === undefined ? '' : describeRequest(lastRequest);
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

function describeRequest({ model, languageId, fimRequest, context, masked, outcome }: LastRequest): string {
  const { t } = vscode.l10n;
  const { prefix, suffix, maxTokens, stop = [] } = fimRequest;
  const language = findLanguage(languageId);
  const note = (text: string) => commentLine(language, text);
  const sent = [prefix.length, suffix.length, maxTokens].map((count) => count.toLocaleString(vscode.env.language));
  return [
    note(t('Model: {0}', model)),
    note(t('Sent: {0} characters before the cursor, {1} after it; at most {2} tokens requested', ...sent)),
    note(t('Files sent as context: {0}', context.length === 0 ? t('none') : context.join(', '))),
    note(t('Masked secrets: {0}', masked)),
    ...(stop.length === 0 ? [] : [note(t('Stop sequences: {0}', stop.map((each) => JSON.stringify(each)).join(' ')))]),
    ...(outcome === undefined ? [] : [note(describeOutcome(outcome))]),
    '',
    note(t('Text before the cursor:')),
    prefix,
    '',
    note(t('Text after the cursor:')),
    suffix,
  ].join('\n');
}

function describeOutcome({ total, characters, cost, problem }: LoggedOutcome): string {
  const { t } = vscode.l10n;
  if (problem !== undefined) return t('Failed after {0} ms: {1}', Math.round(total), problem);
  const price = cost === undefined ? t('unknown price') : `$${cost.toFixed(6)}`;
  return t('Answer: {0} characters in {1} ms, {2}', characters, Math.round(total), price);
}

/** Shows the usage and cost of completions since the window opened. */
export async function showCost({ counts }: Suggester): Promise<void> {
  const { t } = vscode.l10n;
  const money = (amount: number | undefined) => (amount === undefined ? t('unknown price') : `$${amount.toFixed(4)}`);
  const perCharacter = counts.costPerAcceptedCharacter;
  const lines = [
    t('Requests: {0} ({1} failed)', counts.requests, counts.failed),
    t(
      'Tokens: {0} in, {1} out{2}',
      counts.inputTokens,
      counts.outputTokens,
      counts.estimated ? t(' (partly estimated)') : '',
    ),
    t('Characters accepted: {0}', counts.acceptedCharacters),
    t('Cost: {0}, in the last hour {1}', money(counts.cost), money(counts.hour)),
    ...(perCharacter === undefined ? [] : [t('Cost per 1,000 accepted characters: {0}', money(perCharacter * 1000))]),
  ];
  await vscode.window.showInformationMessage(t('Svc completions in this window'), {
    modal: true,
    detail: lines.join('\n'),
  });
}
