import type { Call } from '../session/answer-writer.ts';
import type { Patch, ToolState } from '../transcript.ts';
import {
  type ChatTool,
  permissionKey,
  type RequiredConfirmation,
  readArguments,
  type SavedPermissions,
  type ToolDecision,
  type ToolOutcome,
} from './tools.ts';

export interface ToolRunnerDeps {
  readonly tools: () => readonly ChatTool[];
  readonly permissions?: SavedPermissions;
  readonly patch: (patch: Patch) => void;
}

/** Longer outputs are cut, with a note for the model. */
const MAX_OUTPUT = 60_000;

type Input = Readonly<Record<string, unknown>>;

const CHANGED = 'The target of this call has changed since it was shown. Nothing was done.';

interface Waiting {
  readonly tool: ChatTool;
  readonly input: Input;
  readonly resolve: (decision: ToolDecision | undefined) => void;
}

/** Runs the tool calls of an answer one after another, and asks the user for permission where necessary. */
export class ToolRunner {
  readonly #deps: ToolRunnerDeps;
  readonly #waiting = new Map<string, Waiting>();
  /** Permissions for this conversation. */
  readonly #allowed = new Set<string>();

  constructor(deps: ToolRunnerDeps) {
    this.#deps = deps;
  }

  /** Resolves when every call has ended or the signal has fired; never rejects. */
  async run(message: string, calls: readonly Call[], signal: AbortSignal): Promise<void> {
    const state = (call: Call, next: ToolState) =>
      this.#deps.patch({ type: 'tool', message, part: call.part, state: next });
    for (const call of calls) {
      if (signal.aborted) state(call, { type: 'stopped' });
      else state(call, await this.#call(call, signal, (next) => state(call, next)));
    }
  }

  decide(call: string, decision: ToolDecision): void {
    this.#waiting.get(call)?.resolve(decision);
  }

  async preview(call: string): Promise<void> {
    const waiting = this.#waiting.get(call);
    await waiting?.tool.preview?.(waiting.input);
  }

  async #call(call: Call, signal: AbortSignal, state: (next: ToolState) => void): Promise<ToolState> {
    const tool = this.#deps.tools().find(({ name }) => name === call.name);
    if (!tool) return { type: 'done', failed: true, output: `There is no tool named ${call.name}.` };
    const input = readArguments(call.text);
    if (!input) return { type: 'done', failed: true, output: 'The arguments are not a JSON object.' };
    const refused = await this.#permit(call, tool, input, signal, state);
    if (refused) return refused;
    state({ type: 'running' });
    return outcomeState(await this.#invoke(tool, input, signal), signal);
  }

  /** Asks the user for permission if the call needs it; undefined: it may run. */
  async #permit(
    call: Call,
    tool: ChatTool,
    input: Input,
    signal: AbortSignal,
    state: (next: ToolState) => void,
  ): Promise<ToolState | undefined> {
    try {
      const confirmation = await tool.requiredConfirmation(input);
      if (signal.aborted) return { type: 'stopped' };
      if (confirmation === false || (confirmation === true && this.#allows(tool))) return undefined;
      const decided = this.#wait(call, tool, input, signal);
      state(confirmation === true ? { type: 'waiting' } : { type: 'waiting', caution: confirmation });
      const decision = await decided;
      if (!decision) return { type: 'stopped' };
      if (decision.type === 'deny') return { type: 'denied', reason: decision.reason };
      // The path may have become a link in the meantime.
      if (cautionText(await tool.requiredConfirmation(input)) !== cautionText(confirmation)) throw new Error(CHANGED);
      if (confirmation === true) this.#remember(tool, decision);
      return undefined;
    } catch (thrown) {
      return { type: 'done', ...failure(thrown), failed: true };
    }
  }

  #allows(tool: ChatTool): boolean {
    const key = permissionKey(tool);
    return this.#allowed.has(key) || (this.#deps.permissions?.has(key) ?? false);
  }

  #remember(tool: ChatTool, decision: ToolDecision): void {
    if (decision.type === 'session') this.#allowed.add(permissionKey(tool));
    if (decision.type === 'always') this.#deps.permissions?.add(permissionKey(tool));
  }

  /** Resolves with undefined if the answer was stopped. */
  #wait(call: Call, tool: ChatTool, input: Input, signal: AbortSignal): Promise<ToolDecision | undefined> {
    return new Promise((done) => {
      const resolve = (decision: ToolDecision | undefined) => {
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(call.id);
        done(decision);
      };
      const stop = () => resolve(undefined);
      signal.addEventListener('abort', stop);
      this.#waiting.set(call.id, { tool, input, resolve });
    });
  }

  /** Does not wait for a tool that ignores the signal, so that Stop always works. */
  async #invoke(tool: ChatTool, input: Input, signal: AbortSignal): Promise<ToolOutcome> {
    let stop: (() => void) | undefined;
    const stopped = new Promise<ToolOutcome>((resolve) => {
      stop = () => resolve({ output: '', failed: true });
      signal.addEventListener('abort', stop);
    });
    try {
      return await Promise.race([tool.run(input, signal), stopped]);
    } catch (thrown) {
      return failure(thrown);
    } finally {
      if (stop) signal.removeEventListener('abort', stop);
    }
  }
}

function failure(thrown: unknown): ToolOutcome {
  return { output: thrown instanceof Error ? thrown.message : String(thrown), failed: true };
}

function cautionText(confirmation: RequiredConfirmation): string {
  return typeof confirmation === 'boolean' ? '' : `${confirmation.kind} ${confirmation.path}`;
}

function outcomeState({ output, failed }: ToolOutcome, signal: AbortSignal): ToolState {
  if (signal.aborted) return { type: 'stopped' };
  const cut = output.length > MAX_OUTPUT;
  const text = cut ? `${output.slice(0, MAX_OUTPUT)}\n[cut: ${output.length - MAX_OUTPUT} characters more]` : output;
  return { type: 'done', output: text, ...(failed ? { failed } : {}) };
}
