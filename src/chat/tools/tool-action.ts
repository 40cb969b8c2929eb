import { type FileChange, sameChange } from './file-change.ts';

/** What a call will do, as checked before anyone is asked. Its card shows this instead of the arguments. */
export type ToolAction =
  | { readonly type: 'changes'; readonly changes: readonly FileChange[] }
  /** `cwd`: relative to the workspace folder, empty for the folder itself. `explanation`: words of the model. */
  | { readonly type: 'command'; readonly command: string; readonly cwd: string; readonly explanation: string }
  | { readonly type: 'fetch'; readonly url: string; readonly origin: string }
  /** A question of the model. The decision of type `answer` has the user's choice or own text. */
  | { readonly type: 'question'; readonly question: string; readonly choices: readonly string[] }
  | { readonly type: 'tasks'; readonly tasks: readonly Task[] };

export const TASK_STATES = ['open', 'active', 'done'] as const;

export interface Task {
  readonly title: string;
  readonly state: (typeof TASK_STATES)[number];
}

/** Whether the call still does what was shown. Line numbers of a change may differ. */
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
