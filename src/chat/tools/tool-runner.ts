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
  readonly tool: ChatTool;
  readonly prepared: PreparedCall;
  readonly resolve: (decision: ToolDecision | undefined) => void;
}

/** A call that may run, or the state in which it ends. */
type Permitted = { readonly prepared: PreparedCall; readonly answer?: string } | { readonly refused: ToolState };

/** A call with its tool and its arguments. */
interface KnownCall {
  readonly id: string;
  readonly tool: ChatTool;
  readonly input: ToolInput;
  readonly log: CallLog;
}

/** What was shown to the user, and the decision; undefined: the answer was stopped. */
interface Asked {
  readonly shown: PreparedCall;
  readonly decision: Promise<ToolDecision | undefined>;
}

const UNSTARTED: ToolState = { type: 'stopped', unstarted: true };

/**
 * Runs the tool calls of an answer one after another. First asks the user about all calls that need permission, so that
 * they can be decided together.
 */
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
    const known = calls.map((call) => this.#known(call, this.#callLog(message, call)));
    const asked: (Asked | undefined)[] = [];
    for (const call of known) asked.push('tool' in call ? await this.#askEarly(call, signal) : undefined);
    for (const [index, call] of known.entries()) {
      if (!('tool' in call)) call.log.state({ type: 'done', failed: true, output: call.failure });
      else call.log.state(signal.aborted ? UNSTARTED : await this.#call(call, asked[index], signal));
    }
  }

  #callLog(message: string, { part }: Call): CallLog {
    return {
      message,
      state: (state) => this.#deps.patch({ type: 'tool', message, part, state }),
      action: (action) => this.#deps.patch({ type: 'action', message, part, action }),
    };
  }

  #known({ id, name, text }: Call, log: CallLog): KnownCall | { readonly failure: string; readonly log: CallLog } {
    const tool = this.#deps.tools().find((each) => each.name === name);
    if (!tool) return { failure: `There is no tool named ${name}.`, log };
    const input = readArguments(text);
    return input ? { id, tool, input, log } : { failure: 'The arguments are not a JSON object.', log };
  }

  /** False: the call does not wait, for example because it was answered already. */
  decide(call: string, decision: ToolDecision): boolean {
    const waiting = this.#waiting.get(call);
    waiting?.resolve(decision);
    return waiting !== undefined;
  }

  /** The call that waits for a decision, with the whole texts of its changes. */
  waiting(call: string): PreparedCall | undefined {
    return this.#waiting.get(call)?.prepared;
  }

  async #call(call: KnownCall, asked: Asked | undefined, signal: AbortSignal): Promise<ToolState> {
    try {
      const permitted = await this.#permit(call, asked, signal);
      if ('refused' in permitted) return permitted.refused;
      call.log.state({ type: 'running' });
      const since = this.#deps.now();
      const outcome = await this.#invoke(permitted, { signal, message: call.log.message, call: call.id });
      return outcomeState(outcome, this.#deps.now() - since, signal);
    } catch (thrown) {
      return { type: 'done', ...failure(thrown), failed: true };
    }
  }

  /**
   * Asks before the calls ahead of this one have run. Undefined: no question is needed, or the call can't be checked
   * yet, because it may depend on those calls. It is then checked when its turn comes.
   */
  async #askEarly(call: KnownCall, signal: AbortSignal): Promise<Asked | undefined> {
    try {
      const prepared = await call.tool.prepare(call.input);
      return signal.aborted || !this.#needsDecision(call.tool, prepared)
        ? undefined
        : this.#ask(call, prepared, signal);
    } catch {
      return undefined;
    }
  }

  #needsDecision(tool: ChatTool, { confirmation }: PreparedCall): boolean {
    return confirmation !== false && !(confirmation === true && this.#allows(tool));
  }

  #ask(call: KnownCall, prepared: PreparedCall, signal: AbortSignal): Asked {
    const { log, tool } = call;
    const { confirmation, action } = prepared;
    if (action) log.action(action);
    const decision = this.#wait(call, prepared, signal).then((decided) => {
      if (decided?.type === 'deny') log.state({ type: 'denied', reason: decided.reason });
      else if (decided) log.state({ type: 'allowed' });
      if (decided && confirmation === true) this.#remember(tool, decided);
      return decided;
    });
    log.state(typeof confirmation === 'boolean' ? { type: 'waiting' } : { type: 'waiting', caution: confirmation });
    return { shown: prepared, decision };
  }

  /** Prepares the call, and asks the user for permission if it needs it. */
  async #permit(call: KnownCall, early: Asked | undefined, signal: AbortSignal): Promise<Permitted> {
    const { tool, input, log } = call;
    let asked = early;
    if (!asked) {
      const prepared = await tool.prepare(input);
      if (signal.aborted) return { refused: UNSTARTED };
      if (!this.#needsDecision(tool, prepared)) {
        if (prepared.action) log.action(prepared.action);
        return { prepared };
      }
      asked = this.#ask(call, prepared, signal);
    }
    const decision = await asked.decision;
    if (!decision) return { refused: UNSTARTED };
    if (decision.type === 'deny') return { refused: { type: 'denied', reason: decision.reason } };
    if (decision.type === 'answer') return { prepared: asked.shown, answer: decision.text };
    return { prepared: await this.#prepareAgain(tool, input, decision.command, asked.shown, log) };
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
    // The permission also answers the calls that wait already.
    for (const { tool: other, prepared, resolve } of [...this.#waiting.values()]) {
      if (!this.#needsDecision(other, prepared)) resolve({ type: 'once' });
    }
  }

  /** Resolves with undefined if the answer was stopped. */
  #wait({ id, tool }: KnownCall, prepared: PreparedCall, signal: AbortSignal): Promise<ToolDecision | undefined> {
    return new Promise((done) => {
      const resolve = (decision: ToolDecision | undefined) => {
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(id);
        done(decision);
      };
      const stop = () => resolve(undefined);
      signal.addEventListener('abort', stop);
      this.#waiting.set(id, { tool, prepared, resolve });
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
