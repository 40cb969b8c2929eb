import type { Tool } from '../../wire/conversation.ts';
import type { Caution } from './caution.ts';

/** The result of a tool. */
export interface ToolOutcome {
  readonly output: string;
  readonly failed?: true;
}

/** A tool that a model may call. */
export interface ChatTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Display name of the provider of the tool. */
  readonly origin: string;
  readonly changes: boolean;
  /**
   * Whether the user must allow this call: never (`false`), until the tool is allowed (`true`), or each time, for a
   * reason. Rejects if the call cannot run: it then fails without a question.
   */
  requiredConfirmation(input: Readonly<Record<string, unknown>>): RequiredConfirmation | Promise<RequiredConfirmation>;
  /** Shows the change before the user allows it. */
  preview?(input: Readonly<Record<string, unknown>>): Promise<void>;
  /** A failure is also an outcome, which is sent to the model. Stops when the signal fires. */
  run(input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolOutcome>;
}

export type RequiredConfirmation = boolean | Caution;

/** The user's decision about a call. */
export type ToolDecision =
  | { readonly type: 'once' }
  | { readonly type: 'session' }
  | { readonly type: 'always' }
  | { readonly type: 'deny'; readonly reason: string };

/** Tools that may always run without confirmation. The key has the origin, so that a namesake is not included. */
export interface SavedPermissions {
  has(key: string): boolean;
  add(key: string): void;
}

export function permissionKey({ origin, name }: ChatTool): string {
  return `${origin}/${name}`;
}

export function toolForModel({ name, description, parameters }: ChatTool): Tool {
  return { name, description, parameters };
}

/** Parses the arguments; undefined if they are not an object. Vendors send an empty text for no arguments. */
export function readArguments(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The same call this many times in a row is a loop. */
const REPEATS = 3;
/** Maximum number of rounds. A model that needs more is considered to be looping. */
const MAX_STEPS = 60;

/** Detects a model that repeats tool calls. */
export class LoopWatch {
  #last = '';
  #times = 0;
  #steps = 0;

  /** Records the calls of one step. Returns the name of the tool if they are a loop. */
  repeats(calls: readonly { readonly name: string; readonly text: string }[]): string | undefined {
    const signature = JSON.stringify(calls.map(({ name, text }) => [name, text]));
    this.#times = signature === this.#last ? this.#times + 1 : 1;
    this.#last = signature;
    this.#steps += 1;
    return this.#times >= REPEATS || this.#steps >= MAX_STEPS ? (calls[0]?.name ?? '') : undefined;
  }
}
