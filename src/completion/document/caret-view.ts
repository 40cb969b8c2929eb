import type { CompletionModel } from './completion-settings.ts';
import { type DocumentText, type Position, withInsertion } from './document-text.ts';
import type { SuggestRequest } from './suggestion.ts';

/** Where suggestions are looked up: the caret, or the caret as it would be after inserting the selected item. */
export interface CaretView {
  readonly request: SuggestRequest;
  readonly document: DocumentText;
  readonly position: Position;
  readonly model: CompletionModel;
  /** The selected item's text and the range that it replaces. Added to each suggestion. */
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
