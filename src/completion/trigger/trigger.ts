import type { CompletionSettings } from '../document/completion-settings.ts';
import { textHead, textTail } from '../document/document-text.ts';
import { findLanguage } from '../document/languages.ts';
import type { SuggestRequest } from '../document/suggestion.ts';
import type { Exclusion } from '../prompt/exclusion.ts';

/** Why there are no suggestions. */
export type TriggerRefusal =
  | 'off'
  | 'language-off'
  | 'file-off'
  | 'several-carets'
  | 'selection'
  | 'output'
  | 'manual-only'
  | 'chat-first'
  | 'model-loads'
  | NotSent;

/** Why a document must not be sent; `unknown-yet`: the ignore files are still being read. */
export type NotSent = Exclusion | 'unknown-yet';

/** Why a request has no suggestions; `undefined`: it may have some. */
export function triggerRefusal(
  request: Pick<SuggestRequest, 'document' | 'carets' | 'selecting'>,
  settings: CompletionSettings,
): TriggerRefusal | undefined {
  const { document } = request;
  if (!settings.enabled) return 'off';
  if (!isLanguageEnabled(document.languageId, settings.languages)) return 'language-off';
  if ((request.carets ?? 1) > 1) return 'several-carets';
  if (request.selecting === true) return 'selection';
  if (isOutput(document.uri)) return 'output';
  return undefined;
}

/** True if only an external change (settings, key, ignore file) can lift it. */
export function canLift(why: TriggerRefusal): boolean {
  return !(why === 'several-carets' || why === 'selection' || why === 'output');
}

/** True if only manual requests are sent. Cached suggestions are shown in any case. */
export function isManualOnly(request: SuggestRequest, settings: CompletionSettings): boolean {
  return settings.trigger === 'manual' && request.trigger === 'automatic';
}

/** True for documents of VS Code in which the user does not type. */
export function isOutput(uri: string): boolean {
  return /^(output|vscode-|git:|debug|search-editor)/.test(uri) && !isTyped(uri);
}

/** Documents with a VS Code scheme in which the user types. */
function isTyped(uri: string): boolean {
  return /^(vscode-notebook-cell|vscode-vfs|vscode-remote|vscode-userdata|vscode-scm):/.test(uri);
}

/** Whether completions are enabled for a VS Code language id. Prose languages are off by default. */
export function isLanguageEnabled(id: string, languages: CompletionSettings['languages']): boolean {
  return languages[id] ?? languages['*'] ?? findLanguage(id).prose !== true;
}

/** Whether to send an automatic request here. Cached suggestions are shown in any case. */
export function isWorthRequesting(request: SuggestRequest): boolean {
  const { document, position } = request;
  const tail = textTail(document, position);
  // In the middle of a word there is usually nothing to complete.
  if (/^[\p{L}\p{N}_$]/u.test(tail)) return false;
  const selected = request.selectedCompletion;
  // With fewer than two typed characters, the first item is selected by default, not by the user.
  if (selected !== undefined && position.character - selected.startCharacter < 2) return false;
  const head = textHead(document, position);
  return !(head.trim() === '' && tail.trim() !== '');
}
