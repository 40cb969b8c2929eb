import type { CompletionModel } from './completion-settings.ts';
import { type DocumentText, type Position, withInsertion } from './document-text.ts';
import type { SuggestRequest } from './suggestion.ts';

/** Where suggestions are looked for: the caret, or the caret as if the selected item were typed already. */
export interface CaretView {
  readonly request: SuggestRequest;
  readonly document: DocumentText;
  readonly position: Position;
  readonly model: CompletionModel;
  /** The item's text and what it replaces, put around every suggestion. */
  readonly item: { readonly text: string; readonly before: number; readonly after: number } | undefined;
}

export function caretView(request: SuggestRequest, model: CompletionModel): CaretView {
  const { document, position, selectedCompletion: item } = request;
  if (item === undefined) return { request, document, position, model, item: undefined };
  const before = position.character - item.startCharacter;
  const after = item.endCharacter - position.character;
  return {
    request,
    model,
    ...withInsertion(document, position, { text: item.text, before, after }),
    item: { text: item.text, before, after },
  };
}
