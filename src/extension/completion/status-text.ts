import * as vscode from 'vscode';
import type { UsageCounts } from '../../completion/request/usage-budget.ts';
import type { TriggerRefusal } from '../../completion/trigger/trigger.ts';

/** The usage since the window opened, in one line. Empty before the first request. */
export function usageLine({ requests, cost, acceptedCharacters }: UsageCounts, latency: number | undefined): string {
  const { t } = vscode.l10n;
  if (requests === 0) return '';
  return [
    requests === 1 ? t('1 request') : t('{0} requests', count(requests)),
    t('{0} characters accepted', count(acceptedCharacters)),
    ...(latency === undefined ? [] : [t('first text after {0} ms', count(Math.round(latency)))]),
    ...(cost === undefined ? [] : [dollars(cost)]),
  ].join(' · ');
}

/** A number with the separators of the display language. */
export function count(value: number): string {
  return value.toLocaleString(vscode.env.language);
}

/** An amount in US dollars. Amounts below a cent keep two significant digits. */
export function dollars(amount: number): string {
  const small = amount > 0 && amount < 0.01;
  const digits = small ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return `$${amount.toLocaleString(vscode.env.language, digits)}`;
}

export function describeRefusal(why: TriggerRefusal): string {
  const { t } = vscode.l10n;
  switch (why) {
    case 'off':
      return t('they are off.');
    case 'language-off':
      return t('they are off for this language.');
    case 'file-off':
      return t('the setting svc.completion.disabledGlobs excludes this file.');
    case 'exclude-setting':
      return t('the setting svc.completion.exclude excludes this file.');
    case 'gitignored':
      return t('a .gitignore file excludes this file.');
    case 'secret-kind':
      return t('files of this kind may contain secrets.');
    case 'outside':
      return t('the file is outside the workspace.');
    case 'unknown-yet':
      return t('the .gitignore files are still being read.');
    case 'several-carets':
      return t('there are several carets.');
    case 'selection':
      return t('text is selected.');
    case 'output':
      return t('they are not available in this kind of document.');
    case 'manual-only':
      return t('they are shown only on request.');
    case 'chat-first':
      return t('the chat uses the model.');
    case 'model-loads':
      return t('the server loads the model.');
  }
}
