import type { CompletionSettings } from '../document/completion-settings.ts';
import { textHead, textTail } from '../document/document-text.ts';
import { findLanguage } from '../document/languages.ts';
import type { SuggestRequest } from '../document/suggestion.ts';
import type { Exclusion } from '../prompt/exclusion.ts';

/** Why nothing is suggested. */
export type TriggerRefusal =
  | 'off'
  | 'language-off'
  | 'file-off'
  | 'several-carets'
  | 'selection'
  | 'output'
  | 'by-hand-only'
  | NotSent;

/** Why a document's text must not be sent; `unknown-yet`: the ignore files are still being read. */
export type NotSent = Exclusion | 'unknown-yet';

/** Why nothing is to be shown at all for this request; `undefined`: go on. */
export function triggerRefusal(request: SuggestRequest, settings: CompletionSettings): TriggerRefusal | undefined {
  const { document } = request;
  if (!settings.enabled) return 'off';
  if (!isLanguageEnabled(document.languageId, settings.languages)) return 'language-off';
  if ((request.carets ?? 1) > 1) return 'several-carets';
  if (request.selecting === true) return 'selection';
  if (/^(output|vscode-|git:|debug|search-editor)/.test(document.uri) && !isTyped(document.uri)) return 'output';
  return undefined;
}

/** Whether a silence ends by what the person or a file watcher does elsewhere, not by going on in the document. */
export function canLift(why: TriggerRefusal): boolean {
  return !(why === 'several-carets' || why === 'selection' || why === 'output');
}

/** Whether nothing is sent unless asked for by hand. What is known already is shown in any case. */
export function isManualOnly(request: SuggestRequest, settings: CompletionSettings): boolean {
  return settings.trigger === 'manual' && request.trigger === 'automatic';
}

/** Documents with a scheme of VS Code's own that a person writes in. */
function isTyped(uri: string): boolean {
  return /^(vscode-notebook-cell|vscode-vfs|vscode-remote|vscode-userdata|vscode-scm):/.test(uri);
}

/** Whether completions are wanted in a language (an id of VS Code's): in prose only where a person says so. */
export function isLanguageEnabled(id: string, languages: CompletionSettings['languages']): boolean {
  return languages[id] ?? languages['*'] ?? findLanguage(id).prose !== true;
}

/** Whether an automatic request is worth sending here; what is known already is shown in any case. */
export function isWorthRequesting(request: SuggestRequest): boolean {
  const { document, position } = request;
  const tail = textTail(document, position);
  // Mid-word, what is missing is most often nothing.
  if (/^[\p{L}\p{N}_$]/u.test(tail)) return false;
  const selected = request.selectedCompletion;
  // Too little of the item was typed for the selection to be the person's choice (it is the list's first).
  if (selected !== undefined && position.character - selected.startCharacter < 2) return false;
  const head = textHead(document, position);
  return !(head.trim() === '' && tail.trim() !== '');
}
