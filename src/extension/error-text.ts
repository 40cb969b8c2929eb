import * as vscode from 'vscode';
import type { MessageText, SvcError } from '../wire/errors/svc-error.ts';

/** A text of ours in the display language of VS Code; its values, such as a provider's words, stay as they are. */
export function translate({ template, values }: MessageText): string {
  return vscode.l10n.t(template, ...values);
}

/** What went wrong and what can be done about it, in the display language of VS Code. */
export function errorText({ text, actionText }: Pick<SvcError, 'text' | 'actionText'>): string {
  return actionText === undefined ? translate(text) : `${translate(text)} ${translate(actionText)}`;
}
