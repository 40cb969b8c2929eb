import type * as vscode from 'vscode';
import { type PreparedChange, type SaveEffect, saveEffect } from '../../../chat/tools/file-change.ts';
import type { ToolOutcome, ToolRun } from '../../../chat/tools/tools.ts';
import { mayShow } from './workspace-path.ts';

/** A change, and the document that was saved for it. */
export interface SavedDocument {
  readonly change: PreparedChange;
  readonly document: vscode.TextDocument | undefined;
}

/** The changes of saving, for each file. @param texts of the saved documents. */
export async function saveEffects(
  changes: readonly SavedDocument[],
  texts: ReadonlyMap<vscode.TextDocument, string>,
  mayRead: ToolRun['mayRead'],
): Promise<readonly (SaveEffect | undefined)[]> {
  return Promise.all(
    changes.map(async ({ change, document }) => {
      const saved = document && texts.get(document);
      if (document === undefined || saved === undefined) return undefined;
      return saveEffect(change, saved, await mayShow(document.uri, mayRead));
    }),
  );
}

/** The changes that were made, for the card, if they are more than those that were shown. */
export function actionWith(
  changes: readonly PreparedChange[],
  effects: readonly (SaveEffect | undefined)[],
): Pick<ToolOutcome, 'action'> {
  if (effects.every((effect) => effect === undefined)) return {};
  const made = changes.map(({ change }, index) => effects[index]?.made.change ?? change);
  return { action: { type: 'changes', changes: made } };
}
