import type { Tool } from '../../wire/conversation.ts';
import type { Caution } from './caution.ts';

/** What a tool answered. */
export interface ToolOutcome {
  readonly output: string;
  readonly failed?: true;
}

/** A tool that a model may call. */
export interface ChatTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Who offers it, as a person knows them. */
  readonly origin: string;
  readonly changes: boolean;
  /**
   * Whether the user has to allow this call: never (`false`), until the tool is allowed (`true`), or each time, for a
   * reason. Rejects for a call that can't run: it fails without asking.
   */
  asks(input: Readonly<Record<string, unknown>>): Asks | Promise<Asks>;
  /** Shows what a call would change, before it is allowed. */
  preview?(input: Readonly<Record<string, unknown>>): Promise<void>;
  /** A failure is an outcome too: the model is told. Stops when the signal fires. */
  run(input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolOutcome>;
}

export type Asks = boolean | Caution;

/** The person's answer to a call that asks. */
export type ToolDecision =
  | { readonly type: 'once' }
  | { readonly type: 'session' }
  | { readonly type: 'always' }
  | { readonly type: 'deny'; readonly reason: string };

/** Tools that may run without asking in every conversation. Keyed by origin and name, so that another can't borrow it. */
export interface StandingPermissions {
  has(key: string): boolean;
  add(key: string): void;
}

export function permissionKey({ origin, name }: ChatTool): string {
  return `${origin}/${name}`;
}

export function toolForModel({ name, description, parameters }: ChatTool): Tool {
  return { name, description, parameters };
}

/** The arguments as an object; undefined when they are not one. Vendors send nothing at all for a tool without arguments. */
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
/** No task of a chat takes more rounds; a model that needs them has lost its way. */
const MAX_STEPS = 60;

/** Notices a model that repeats itself. */
export class LoopWatch {
  #last = '';
  #times = 0;
  #steps = 0;

  /** Counts the calls of one step; the name of the tool when it is a loop. */
  repeats(calls: readonly { readonly name: string; readonly text: string }[]): string | undefined {
    const signature = JSON.stringify(calls.map(({ name, text }) => [name, text]));
    this.#times = signature === this.#last ? this.#times + 1 : 1;
    this.#last = signature;
    this.#steps += 1;
    return this.#times >= REPEATS || this.#steps >= MAX_STEPS ? (calls[0]?.name ?? '') : undefined;
  }
}
