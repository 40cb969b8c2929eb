import type { ErrorType, MessageText } from '../wire/errors/svc-error.ts';

/** The action that most likely helps after an error. Each front end has its own label for it. */
export type CardAction =
  | 'set-key'
  | 'choose-model'
  | 'add-provider'
  | 'open-settings'
  | 'review-origin'
  | 'retry'
  | 'compact'
  | 'show-log'
  | 'edit';

/** An error as shown in the panel: without stack and credentials, with one action. */
export interface ErrorCard {
  readonly errorType: ErrorType;
  readonly status: number;
  readonly title: string;
  /** In English. Conversations of earlier versions have only this text. */
  readonly message: string;
  readonly text?: MessageText;
  /** The user's next step, in one sentence. */
  readonly advice?: string;
  readonly adviceText?: MessageText;
  readonly action: CardAction;
  /** Unix milliseconds. A retry before this time is useless. */
  readonly retryAt?: number;
  /** Provider id. */
  readonly provider?: string;
  /** Its display name. */
  readonly providerName?: string;
}

/** How a message is answered, from a prompt file or the mode of the composer. */
export interface AnswerOptions {
  /** Reference or name of a model. */
  readonly model?: string;
  /** Only these tools, by their names or the names that prompt files of VS Code use. */
  readonly tools?: readonly string[];
  /** Reading tools only. */
  readonly readOnly?: true;
  /** Reading tools only, and the answer is a plan. */
  readonly plan?: true;
}

/** Why each call needs confirmation: the purpose of the file it accesses. */
export const CAUTION_KINDS = [
  'secret',
  'git',
  'editor',
  'workflow',
  'settings',
  'shell',
  'package',
  'build',
  'agent',
] as const;
export type CautionKind = (typeof CAUTION_KINDS)[number];

/** A reason for confirmation even if the tool is allowed for the conversation or always. */
export interface Caution {
  readonly kind: CautionKind;
  /** The file that is accessed after resolving links, relative to the workspace folder. */
  readonly path: string;
}

/**
 * A change of one file, before it is approved and as it was made. Stored in the history and sent to
 * the page. Paths are relative to the workspace folder, as in `workspaceRelativePath`.
 */
export interface FileChange {
  readonly kind: 'create' | 'edit' | 'rename' | 'delete';
  readonly path: string;
  /** The path after a rename. */
  readonly newPath?: string;
  /** Number of lines. */
  readonly added: number;
  readonly removed: number;
  /** The changed lines with context. Empty for a rename, and for a file that is no text. */
  readonly hunks: readonly DiffHunk[];
  /** Number of changed lines that are not in `hunks`, because the change is very large. */
  readonly hidden?: number;
  /** Number of lines among them that the editor changed when it saved the file, for example by its formatter. */
  readonly formatted?: number;
}

/** Adjacent changed lines and their context. */
export interface DiffHunk {
  /** 1-based number of the first line in the old and in the new text. */
  readonly oldStart: number;
  readonly newStart: number;
  /** Each line starts with a space, `+`, `-`, or `\` (a note: the last line has no line end). Without line ends. */
  readonly lines: readonly string[];
}

/** The effect of a call, as checked before anyone is asked. Its card shows this instead of the arguments. */
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

/** The changes of one file by an answer: numbers of lines. */
export interface ChangedFileCounts {
  /** Relative to the workspace folder. */
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

/** The changes of an answer, as the page shows them. */
export interface TurnSummary {
  readonly message: string;
  readonly files: readonly ChangedFileCounts[];
  /** `pending`: some changes are neither kept nor undone. */
  readonly state: 'pending' | 'kept' | 'undone';
  /** Ids of its tool calls that changed files, and of those whose changes were undone. */
  readonly calls: readonly string[];
  readonly undone: readonly string[];
}
