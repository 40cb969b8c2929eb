import type { ToolAction } from '../message-parts.ts';
import { sameChange } from './file-change.ts';

/** Whether the call still has the effect that was shown. Line numbers of a change may differ. */
export function sameAction(shown: ToolAction | undefined, now: ToolAction | undefined): boolean {
  if (shown?.type !== 'changes' || now?.type !== 'changes') return JSON.stringify(shown) === JSON.stringify(now);
  return (
    shown.changes.length === now.changes.length &&
    shown.changes.every((change, index) => {
      const other = now.changes[index];
      return other !== undefined && sameChange(change, other);
    })
  );
}
