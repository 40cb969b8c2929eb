import * as vscode from 'vscode';
import { type MessageText, type SvcError, withProviderName } from '../wire/errors/svc-error.ts';

/**
 * Translates a text into the display language of VS Code. Values, such as a provider's message, are not translated. The
 * marks of code are removed: lists, dialogs, notifications and tooltips show no Markdown.
 */
export function translate({ template, values }: MessageText): string {
  return vscode.l10n.t(template, ...values).replaceAll('`', '');
}

/**
 * The error message and the advice, in the display language of VS Code.
 *
 * @param name the display name of the error's provider.
 */
export function errorText(error: Pick<SvcError, 'text' | 'actionText' | 'provider'>, name?: string): string {
  const named = (text: MessageText) => translate(withProviderName(text, error.provider, name));
  return error.actionText === undefined ? named(error.text) : `${named(error.text)} ${named(error.actionText)}`;
}
