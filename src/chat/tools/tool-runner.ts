import type { Call } from '../session/answer-writer.ts';
import type { Patch, ToolState } from '../transcript.ts';
import { cutMiddle } from './long-output.ts';
import { sameAction, type ToolAction } from './tool-action.ts';
import {
  type ChatTool,
  type PreparedCall,
  permissionKey,
  type RequiredConfirmation,
  readArguments,
  type SavedPermissions,
  type ToolDecision,
  type ToolInput,
  type ToolOutcome,
  type ToolRun,
} from './tools.ts';

export interface ToolRunnerDeps {
  readonly tools: () => readonly ChatTool[];
  readonly permissions?: SavedPermissions;
  readonly patch: (patch: Patch) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Longer outputs lose their middle. */
const MAX_OUTPUT = 60_000;

/** Writes the progress of one call into its message. */
interface CallLog {
  readonly message: string;
  readonly state: (state: ToolState) => void;
  readonly action: (action: ToolAction) => void;
}

const CHANGED = 'The target of this call has changed since it was shown. Nothing was done. Read it again.';

interface Waiting {
  readonly prepared: PreparedCall;
  readonly resolve: (decision: ToolDecision | undefined) => void;
}

/** A call that may run, or the state in which it ends. */
type Permitted = { readonly prepared: PreparedCall; readonly answer?: string } | { readonly refused: ToolState };

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
    for (const call of calls) {
      const place = { message, part: call.part };
      const log: CallLog = {
        message,
        state: (state) => this.#deps.patch({ type: 'tool', ...place, state }),
        action: (action) => this.#deps.patch({ type: 'action', ...place, action }),
      };
      log.state(signal.aborted ? { type: 'stopped' } : await this.#call(call, log, signal));
    }
  }

  decide(call: string, decision: ToolDecision): void {
    this.#waiting.get(call)?.resolve(decision);
  }

  /** The call that waits for a decision, with the whole texts of its changes. */
  waiting(call: string): PreparedCall | undefined {
    return this.#waiting.get(call)?.prepared;
  }

  async #call(call: Call, log: CallLog, signal: AbortSignal): Promise<ToolState> {
    const tool = this.#deps.tools().find(({ name }) => name === call.name);
    if (!tool) return { type: 'done', failed: true, output: `There is no tool named ${call.name}.` };
    const input = readArguments(call.text);
    if (!input) return { type: 'done', failed: true, output: 'The arguments are not a JSON object.' };
    try {
      const permitted = await this.#permit(call, tool, input, signal, log);
      if ('refused' in permitted) return permitted.refused;
      log.state({ type: 'running' });
      const since = this.#deps.now();
      const outcome = await this.#invoke(permitted, { signal, message: log.message, call: call.id });
      return outcomeState(outcome, this.#deps.now() - since, signal);
    } catch (thrown) {
      return { type: 'done', ...failure(thrown), failed: true };
    }
  }

  /** Prepares the call, and asks the user for permission if it needs it. */
  async #permit(call: Call, tool: ChatTool, input: ToolInput, signal: AbortSignal, log: CallLog): Promise<Permitted> {
    const prepared = await tool.prepare(input);
    if (signal.aborted) return { refused: { type: 'stopped' } };
    const { confirmation, action } = prepared;
    if (action) log.action(action);
    if (confirmation === false || (confirmation === true && this.#allows(tool))) return { prepared };
    const decided = this.#wait(call, prepared, signal);
    log.state(confirmation === true ? { type: 'waiting' } : { type: 'waiting', caution: confirmation });
    const decision = await decided;
    if (!decision) return { refused: { type: 'stopped' } };
    if (decision.type === 'deny') return { refused: { type: 'denied', reason: decision.reason } };
    if (decision.type === 'answer') return { prepared, answer: decision.text };
    if (confirmation === true) this.#remember(tool, decision);
    return { prepared: await this.#prepareAgain(tool, input, decision.command, prepared, log) };
  }

  /**
   * Prepares an allowed call again: a file may have changed or may have become a link in the meantime. A command that
   * the user edited replaces the shown one.
   */
  async #prepareAgain(
    tool: ChatTool,
    input: ToolInput,
    command: string | undefined,
    shown: PreparedCall,
    log: CallLog,
  ): Promise<PreparedCall> {
    const edited = command !== undefined && shown.action?.type === 'command' && command !== shown.action.command;
    const again = await tool.prepare(edited ? { ...input, command } : input);
    if (edited && again.action) log.action(again.action);
    else if (!sameAction(shown.action, again.action)) throw new Error(CHANGED);
    if (cautionText(again.confirmation) !== cautionText(shown.confirmation)) throw new Error(CHANGED);
    return again;
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
  #wait(call: Call, prepared: PreparedCall, signal: AbortSignal): Promise<ToolDecision | undefined> {
    return new Promise((done) => {
      const resolve = (decision: ToolDecision | undefined) => {
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(call.id);
        done(decision);
      };
      const stop = () => resolve(undefined);
      signal.addEventListener('abort', stop);
      this.#waiting.set(call.id, { prepared, resolve });
    });
  }

  /** Does not wait for a tool that ignores the signal, so that Stop always works. */
  async #invoke({ prepared, answer }: { prepared: PreparedCall; answer?: string }, run: ToolRun): Promise<ToolOutcome> {
    let stop: (() => void) | undefined;
    const stopped = new Promise<ToolOutcome>((resolve) => {
      stop = () => resolve({ output: '', failed: true });
      run.signal.addEventListener('abort', stop);
    });
    try {
      return await Promise.race([prepared.run(answer === undefined ? run : { ...run, answer }), stopped]);
    } finally {
      if (stop) run.signal.removeEventListener('abort', stop);
    }
  }
}

function failure(thrown: unknown): ToolOutcome {
  return { output: thrown instanceof Error ? thrown.message : String(thrown), failed: true };
}

function cautionText(confirmation: RequiredConfirmation): string {
  return typeof confirmation === 'boolean' ? '' : `${confirmation.kind} ${confirmation.path}`;
}

function outcomeState({ output, failed, exitCode }: ToolOutcome, ms: number, signal: AbortSignal): ToolState {
  if (signal.aborted) return { type: 'stopped' };
  const text = cutMiddle(output, MAX_OUTPUT);
  const code = exitCode === undefined ? {} : { exitCode };
  return { type: 'done', output: text, ...(failed ? { failed } : {}), ...code, ms };
}
