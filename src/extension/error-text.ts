import * as vscode from 'vscode';
import type { MessageText, SvcError } from '../wire/errors/svc-error.ts';

/** Translates a text into the display language of VS Code. Values, such as a provider's message, are not translated. */
export function translate({ template, values }: MessageText): string {
  return vscode.l10n.t(template, ...values);
}

/** The error message and the advice, in the display language of VS Code. */
export function errorText({ text, actionText }: Pick<SvcError, 'text' | 'actionText'>): string {
  return actionText === undefined ? translate(text) : `${translate(text)} ${translate(actionText)}`;
}
