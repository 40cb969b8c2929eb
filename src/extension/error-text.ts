import * as vscode from 'vscode';
import { errorWords } from '../chat/error-words.ts';
import type { GatewayError } from '../wire/errors.ts';

/** What went wrong and what can be done about it, in the language of VS Code; a provider's own words as they came. */
export function errorText({ message, action }: Pick<GatewayError, 'message' | 'action'>): string {
  const words = (text: string) => errorWords(text, vscode.l10n.t);
  return action === undefined ? words(message) : `${words(message)} ${words(action)}`;
}
