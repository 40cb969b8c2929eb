import * as vscode from 'vscode';
import type { Suggester } from '../../completion/suggester.ts';

/** Opens the last request exactly as it was sent, with masked secrets. */
export async function showLastRequest({ lastRequest }: Suggester): Promise<void> {
  if (!lastRequest) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No completion has been requested yet.'));
    return;
  }
  const { fimRequest, ...about } = lastRequest;
  const { prefix, suffix, ...limits } = fimRequest;
  const content = [
    `// ${JSON.stringify({ ...about, ...limits })}`,
    '// ---- prompt: text before the cursor ----',
    prefix,
    '// ---- suffix: text after the cursor ----',
    suffix,
  ].join('\n');
  const document = await vscode.workspace.openTextDocument({ content, language: 'plaintext' });
  await vscode.window.showTextDocument(document, { preview: true });
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
