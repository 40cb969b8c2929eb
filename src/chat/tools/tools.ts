import type { Tool } from '../../wire/conversation.ts';
import type { Caution, ToolAction } from '../message-parts.ts';
import type { RuleTexts } from '../permissions/permission-rules.ts';
import type { PreparedChange } from './file-change.ts';
import { markHidden } from './visible-text.ts';

/** The result of a tool. */
export interface ToolOutcome {
  readonly output: string;
  readonly failed?: true;
  /** Of a command. */
  readonly exitCode?: number;
  /** The effect of the call, if it is more than the action that was shown. */
  readonly action?: ToolAction;
  /**
   * Waits for text to append to `output`, such as the problems that a change causes. It is called after the change has
   * been recorded: edits of the user while it waits are not part of the change.
   */
  readonly followUp?: () => Promise<string>;
}

/**
 * A tool that a model may call. A call has two phases: it is prepared (checked, all its effects computed), then, if it
 * is allowed, the prepared call runs.
 */
export interface ChatTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Display name of the provider of the tool. */
  readonly origin: string;
  readonly changes: boolean;
  /**
   * Of a tool of an extension or server: the id of its extension, its name and a hash of its definition. A permission is
   * valid for this definition only.
   */
  readonly identity?: string;
  /** The definition that `identity` stands for, as the user reads it. */
  readonly definition?: string;
  /**
   * The files that a call names, found from its arguments: none is opened. Rules and kinds of files are applied to them
   * before the call is prepared.
   */
  files?(input: ToolInput): Promise<readonly NamedFile[]>;
  /**
   * Checks a call without any effect. Rejects with a reason for the model if the call cannot run: then no one is asked.
   * Called again after the approval: the call runs only if it still has the effect that was shown.
   */
  prepare(input: ToolInput): PreparedCall | Promise<PreparedCall>;
}

export type ToolInput = Readonly<Record<string, unknown>>;

/** A file that a call names. */
export interface NamedFile {
  /** Path for rules: relative to the workspace folder, after resolving links. */
  readonly path: string;
  readonly access: readonly ('read' | 'edit' | 'delete')[];
  /** Why access needs confirmation each time. */
  readonly caution?: Caution;
  /** It may contain secrets. */
  readonly secret?: boolean;
}

/** A checked call. */
export interface PreparedCall {
  /** Whether the user must allow it: never (`false`), unless a rule allows it (`true`), or each time, for a reason. */
  readonly confirmation: RequiredConfirmation;
  /** Its effect; absent: known only to the tool, so the card shows the arguments. */
  readonly action?: ToolAction;
  /** The whole texts of the changes of `action`, for the diff editor. */
  readonly changes?: readonly PreparedChange[];
  /** The files that it reads, for rules. */
  readonly reads?: readonly string[];
  /** A rule asks about one of its files. */
  readonly asks?: boolean;
  /** For a command: whether its shell has POSIX syntax, and the known facts about its files (see `JudgedCommand`). */
  readonly shell?: { readonly posix: boolean; readonly inside: boolean; readonly uncertain?: boolean };
  /**
   * Does the prepared work. Called at most once. A failure is also an outcome, which is sent to the model.
   *
   * @param run.answer of the user, for a question.
   */
  run(run: ToolRun): Promise<ToolOutcome>;
}

export interface ToolRun {
  /** Fires when the user stops the answer. */
  readonly signal: AbortSignal;
  /** The message and the call, for checkpoints. */
  readonly message: string;
  readonly call: string;
  readonly answer?: string;
  /** The same object for all calls of a conversation, which owns the programs that its calls start. */
  readonly owner: object;
  /** Whether the rules of the user let tools read this file without a question. */
  readonly mayRead?: (path: string) => boolean;
}

export type RequiredConfirmation = boolean | Caution;

/**
 * The user's decision about a call. `command`: the command as the user edited it. The other allowing decisions are
 * stored for the rules that the waiting call offers.
 */
export type ToolDecision =
  | { readonly type: 'once' | 'session' | 'always'; readonly command?: string }
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'deny'; readonly reason: string };

/** The rules of the user that hold in all conversations. */
export interface SavedRules {
  rules(): RuleTexts;
  /**
   * Adds rules that allow calls.
   *
   * @param definition of the tool, if the rules are about one of an extension or server.
   */
  allow(rules: readonly string[], definition?: AllowedDefinition): void;
  /** The definition that a rule about this identity allowed. Undefined: it was not kept. */
  definition?(identity: string): string | undefined;
}

/** A tool as the user allowed it. Its definition may change. */
export interface AllowedDefinition {
  readonly identity: string;
  readonly text: string;
}

/** Appends the text of `followUp` to the output. */
export async function completeOutcome({ followUp, ...outcome }: ToolOutcome): Promise<ToolOutcome> {
  return followUp ? { ...outcome, output: outcome.output + (await followUp()) } : outcome;
}

/** Identifies a tool in rules. It has the origin, so that a namesake is not included. */
export function toolKey({ origin, name }: ChatTool): string {
  return `${origin}/${name}`;
}

/** Descriptions come from other extensions and servers, so hidden text in them is marked. */
export function toolForModel({ name, description, parameters }: ChatTool): Tool {
  const json = JSON.stringify(parameters);
  const marked = markHidden(json);
  return { name, description: markHidden(description), parameters: marked === json ? parameters : JSON.parse(marked) };
}

/**
 * The tool that a model names. Models add a namespace, a number or a control token to a name, or write it in another
 * style: `functions.read_file`, `functions.read_file:0`, `read_file<|channel|>json`, `Read_File`, `readFile`.
 */
export function findTool(tools: readonly ChatTool[], name: string): ChatTool | undefined {
  const exact = tools.find((tool) => tool.name === name);
  if (exact) return exact;
  const [plain = ''] = name.split('<|', 1);
  const bare = plain.replace(/:\d+$/, '').replace(/^.*[.:/]/, '');
  for (const wanted of [plain, bare].map(simpleName)) {
    const [only, another] = tools.filter((tool) => simpleName(tool.name) === wanted);
    if (only && !another) return only;
  }
  return undefined;
}

function simpleName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Parses the arguments; undefined if they are not an object. Vendors send an empty text or `null` for no arguments. */
export function readArguments(text: string): ToolInput | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return {};
    return typeof value === 'object' && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Number of characters of wrong arguments that the model gets back. */
const MAX_QUOTED = 200;

/** Why arguments can't be read, for the model. */
export function argumentsProblem(text: string): string {
  const shown = text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
  return `The arguments are not a JSON object: ${jsonProblem(text)} Send one JSON object and nothing else. Received: ${shown}`;
}

function jsonProblem(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? 'they are a list.' : `they are a ${typeof value}.`;
  } catch (error) {
    if (/^\s*```/.test(text)) return 'they are in a code block.';
    const message = error instanceof Error ? error.message : String(error);
    if (/non-whitespace character after JSON/.test(message)) return 'there is more text after the object.';
    if (/end of JSON input|Unterminated/.test(message)) return 'they end too early.';
    if (/^\s*\{\s*'/.test(text)) return 'names and texts need double quotes.';
    if (/control character/.test(message)) return 'a line break or tab in a text must be written as \\n or \\t.';
    return `${message.replace(/, ".*$/s, '')}.`;
  }
}

/** The same call this many times in a row is a loop. */
const REPEATS = 3;
/** Most steps of a loop: a model that reads the same files in turn. */
const MAX_PERIOD = 4;
/** Waits for a running command, so the same call may have another result. */
const POLLING = 'terminal_output';
/** After this many rounds the user is asked whether to continue. */
export const MAX_STEPS = 60;

/** Detects a model that repeats tool calls, and counts the rounds. */
export class LoopWatch {
  /** The latest steps. */
  readonly #steps: { readonly calls: string; readonly polls: boolean; answers: string }[] = [];
  #count = 0;

  /**
   * Records the calls of one step. Returns the name of the tool if they are a loop: the third time in a row, or the
   * third round of several steps whose answers were the same in both rounds before.
   */
  repeats(calls: readonly { readonly name: string; readonly text: string }[]): string | undefined {
    const now = JSON.stringify(calls.map(({ name, text }) => [name, text]));
    const polls = calls.every(({ name }) => name === POLLING);
    const inARow = this.#steps.slice(1 - REPEATS).filter((step) => step.calls === now && !step.polls);
    const loops = inARow.length === REPEATS - 1 || this.#beginsThirdRound(now);
    this.#steps.push({ calls: now, polls, answers: '' });
    if (this.#steps.length > 2 * MAX_PERIOD) this.#steps.shift();
    this.#count += 1;
    return loops ? (calls[0]?.name ?? '') : undefined;
  }

  /** Call with the answers to the calls of the last step. */
  answered(answers: readonly string[]): void {
    const last = this.#steps.at(-1);
    if (last) last.answers = JSON.stringify(answers);
  }

  #beginsThirdRound(now: string): boolean {
    for (let period = 2; period <= MAX_PERIOD; period++) {
      const second = this.#steps.slice(-period);
      const first = this.#steps.slice(-2 * period, -period);
      if (first.length < period || second[0]?.calls !== now || second.every(({ polls }) => polls)) continue;
      if (second.every(({ calls, answers }, at) => calls === first[at]?.calls && answers === first[at].answers)) {
        return true;
      }
    }
    return false;
  }

  get isLong(): boolean {
    return this.#count >= MAX_STEPS;
  }
}
