import { defined } from '../../base/json.ts';
import type { ChangeSource, Checkpoints } from '../checkpoints/checkpoints.ts';
import type { ToolAction } from '../message-parts.ts';
import { joinRules, judge, NO_RULES, offeredRules, type RuleTexts } from '../permissions/permission-rules.ts';
import type { Call } from '../session/answer-writer.ts';
import type { Patch, RedefinedTool, ToolState } from '../transcript.ts';
import { callSubjects } from './call-subjects.ts';
import { coerceArguments } from './coerce-arguments.ts';
import { textChange } from './file-change.ts';
import { judgeFiles } from './file-verdict.ts';
import { cutMiddle } from './long-output.ts';
import { sameAction } from './tool-action.ts';
import { earlierIdentity } from './tool-identity.ts';
import {
  argumentsProblem,
  type ChatTool,
  completeOutcome,
  findTool,
  type PreparedCall,
  type RequiredConfirmation,
  readArguments,
  type SavedRules,
  type ToolDecision,
  type ToolInput,
  type ToolOutcome,
  type ToolRun,
} from './tools.ts';

export interface ToolRunnerDeps {
  readonly tools: () => readonly ChatTool[];
  readonly rules?: SavedRules;
  readonly checkpoints?: Pick<Checkpoints, 'record'>;
  readonly patch: (patch: Patch) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Longer outputs lose their middle. */
const MAX_OUTPUT = 60_000;

const CHANGED = 'The target of this call has changed since it was shown. Nothing was done. Read it again.';
/** Other reasons could contain text of a file that the model must not see. */
const HIDDEN =
  'The call does not fit the file: for example, old_text was not found. Details are not shown, because the file may contain secrets, or a rule restricts reading it.';
/** After so many failed changes of one file in a row, the model is told to do it otherwise. */
const MISSES = 2;
const OTHERWISE =
  'read the lines again, copy them exactly, and replace a whole function. If the file is small, replace all of its text.';
const UNSTARTED: ToolState = { type: 'stopped', unstarted: true };

/** One call of an answer, which writes its progress into its message. */
interface PlannedCall {
  readonly call: Call;
  readonly tool: ChatTool;
  readonly input: ToolInput;
  readonly message: string;
  readonly state: (state: ToolState) => void;
  readonly action: (action: ToolAction) => void;
}

/** A call that can't run has ended. */
type Planned = PlannedCall | { readonly ended: ToolState; readonly state: PlannedCall['state'] };

/** A call that waits for a decision. */
interface Waiting {
  readonly planned: PlannedCall;
  readonly prepared: PreparedCall;
  /** The rules that a lasting permission adds. */
  readonly rules: readonly string[];
  readonly resolve: (decision: ToolDecision | undefined) => void;
}

/** A question about a call. Resolves with undefined if the answer was stopped. */
interface Asked {
  readonly prepared: PreparedCall;
  readonly decision: Promise<ToolDecision | undefined>;
}

/** A call that may run, or the state in which it ends. */
type Permitted = { readonly prepared: PreparedCall; readonly answer?: string } | { readonly refused: ToolState };

/**
 * Runs the tool calls of an answer one after another. The user is asked about all of them at once, in so far as they
 * can be checked before the earlier ones ran.
 */
export class ToolRunner {
  readonly #deps: ToolRunnerDeps;
  readonly #waiting = new Map<string, Waiting>();
  #mostOutput = MAX_OUTPUT;
  /** Failed changes in a row, by file. */
  readonly #misses = new Map<string, number>();
  /** Rules for this conversation. */
  #allowed: readonly string[] = [];
  /** The definitions of tools that the user allowed in this conversation, by identity. */
  readonly #definitions = new Map<string, string>();

  constructor(deps: ToolRunnerDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when every call has ended or the signal has fired; never rejects.
   *
   * @param mostOutput characters of each result. Longer ones lose their middle.
   */
  async run(
    message: string,
    calls: readonly Call[],
    signal: AbortSignal,
    mostOutput = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    this.#mostOutput = Math.min(MAX_OUTPUT, mostOutput);
    const planned = calls.map((call) => this.#plan(message, call));
    const asked = await this.#askEarly(planned, signal);
    for (const [index, one] of planned.entries()) {
      if ('ended' in one) one.state(one.ended);
      else one.state(signal.aborted ? UNSTARTED : await this.#run(one, asked[index], signal));
    }
  }

  /** False: the call does not wait, for example because it was answered already. */
  decide(call: string, decision: ToolDecision): boolean {
    const waiting = this.#waiting.get(call);
    if (!waiting) return false;
    const { planned, rules, resolve } = waiting;
    resolve(decision);
    planned.state(decision.type === 'deny' ? { type: 'denied', reason: decision.reason } : { type: 'allowed' });
    // The rules are about the command as it was shown.
    const edited = 'command' in decision;
    if ((decision.type === 'session' || decision.type === 'always') && !edited)
      this.#remember(decision.type, rules, planned.tool);
    return true;
  }

  /** The call that waits for a decision, with the whole texts of its changes. */
  waiting(call: string): PreparedCall | undefined {
    return this.#waiting.get(call)?.prepared;
  }

  /** The rules that hold in this conversation only. */
  get conversationRules(): readonly string[] {
    return this.#allowed;
  }

  set conversationRules(rules: readonly string[]) {
    this.#allowed = rules;
  }

  #plan(message: string, call: Call): Planned {
    const place = { message, part: call.part };
    const state = (next: ToolState) => this.#deps.patch({ type: 'tool', ...place, state: next });
    const fail = (output: string) => ({ ended: { type: 'done', failed: true, output } as const, state });
    const tools = this.#deps.tools();
    const tool = findTool(tools, call.name);
    if (!tool) return fail(unknownTool(call.name, tools));
    const given = readArguments(call.text);
    if (!given) return fail(argumentsProblem(call.text));
    const input = coerceArguments(tool.parameters, given);
    const action = (next: ToolAction) => this.#deps.patch({ type: 'action', ...place, action: next });
    return { call, tool, input, message, state, action };
  }

  /** Asks about each call that can be prepared now. Others are prepared when it is their turn. */
  async #askEarly(planned: readonly Planned[], signal: AbortSignal): Promise<readonly (Asked | undefined)[]> {
    if (planned.length < 2) return [];
    const prepared = await Promise.all(
      planned.map(async (one) => {
        if ('ended' in one) return undefined;
        try {
          const prepared = await this.#prepare(one, one.input, signal);
          return prepared && 'refused' in prepared ? undefined : prepared;
        } catch {
          // It may need the result of an earlier call.
          return undefined;
        }
      }),
    );
    return planned.map((one, index) => {
      const call = prepared[index];
      if (!call || 'ended' in one || signal.aborted || this.#verdict(one, call) !== 'ask') return undefined;
      return this.#ask(one, call, signal);
    });
  }

  async #run(planned: PlannedCall, asked: Asked | undefined, signal: AbortSignal): Promise<ToolState> {
    try {
      const permitted = await this.#permit(planned, asked, signal);
      if ('refused' in permitted) return permitted.refused;
      planned.state({ type: 'running' });
      return await this.#invoke(planned, permitted, signal);
    } catch (thrown) {
      const { output } = failure(thrown);
      return { type: 'done', output: output + this.#missNote(planned), failed: true };
    }
  }

  /** Another way for a model that has failed to change a file twice. */
  #missNote({ tool, input }: PlannedCall): string {
    const { path } = input;
    if (!tool.changes || typeof path !== 'string') return '';
    const times = (this.#misses.get(path) ?? 0) + 1;
    this.#misses.set(path, times);
    return times < MISSES ? '' : `\nThis is failure ${times} in a row for ${path}. Do it otherwise: ${OTHERWISE}`;
  }

  /** Prepares the call, and asks the user for permission if it needs it. */
  async #permit(planned: PlannedCall, early: Asked | undefined, signal: AbortSignal): Promise<Permitted> {
    const prepared = early?.prepared ?? (await this.#prepare(planned, planned.input, signal));
    if (!prepared || signal.aborted) return { refused: UNSTARTED };
    if ('refused' in prepared) return prepared;
    let asked = early;
    if (!asked) {
      if (prepared.action) planned.action(prepared.action);
      const verdict = this.#verdict(planned, prepared);
      if (verdict === 'run') return { prepared };
      if (verdict !== 'ask') return { refused: { type: 'denied', reason: '', rule: verdict.rule } };
      asked = this.#ask(planned, prepared, signal);
    }
    const decision = await asked.decision;
    if (!decision) return { refused: UNSTARTED };
    if (decision.type === 'deny') return { refused: { type: 'denied', reason: decision.reason } };
    if (decision.type === 'answer') return { prepared, answer: decision.text };
    return this.#prepareAgain(planned, decision.command, prepared, signal);
  }

  /** Judges the files that a call names, then prepares it. Undefined if the signal fired. */
  async #prepare(
    { tool }: PlannedCall,
    input: ToolInput,
    signal: AbortSignal,
  ): Promise<PreparedCall | { readonly refused: ToolState } | undefined> {
    const files = await unlessAborted(signal, async () => (await tool.files?.(input)) ?? []);
    if (!files) return undefined;
    const verdict = judgeFiles(files, this.#rules());
    if (verdict.type === 'deny') return { refused: { type: 'denied', reason: '', rule: verdict.rule } };
    let prepared: PreparedCall | undefined;
    try {
      prepared = await unlessAborted(signal, () => tool.prepare(input));
    } catch (thrown) {
      throw verdict.hides ? new Error(HIDDEN) : thrown;
    }
    if (!prepared) return undefined;
    const { confirmation } = prepared;
    return {
      ...prepared,
      confirmation: typeof confirmation === 'object' ? confirmation : (verdict.caution ?? confirmation),
      asks: verdict.asks,
    };
  }

  #verdict({ tool }: PlannedCall, prepared: PreparedCall): 'run' | 'ask' | { readonly rule: string } {
    const verdict = judge(callSubjects(tool, prepared), this.#rules());
    if (verdict.effect === 'deny') return { rule: verdict.rule };
    if (prepared.action?.type === 'question' || typeof prepared.confirmation === 'object') return 'ask';
    if (prepared.asks) return 'ask';
    if (prepared.confirmation === false) return verdict.effect === 'ask' ? 'ask' : 'run';
    return verdict.effect === 'allow' ? 'run' : 'ask';
  }

  /**
   * Prepares an allowed call again: a file may have changed or may have become a link in the meantime. A command that
   * the user edited replaces the shown one.
   */
  async #prepareAgain(
    planned: PlannedCall,
    command: string | undefined,
    shown: PreparedCall,
    signal: AbortSignal,
  ): Promise<Permitted> {
    const edited = command !== undefined && shown.action?.type === 'command' && command !== shown.action.command;
    const input = edited ? { ...planned.input, command } : planned.input;
    const again = await this.#prepare(planned, input, signal);
    if (!again) return { refused: UNSTARTED };
    if ('refused' in again) return again;
    if (again.action) planned.action(again.action);
    const verdict = this.#verdict(planned, again);
    if (typeof verdict === 'object') return { refused: { type: 'denied', reason: '', rule: verdict.rule } };
    // The user has seen the edited command, but not a new reason for caution about a file.
    const same = edited || sameAction(shown.action, again.action);
    if (!same || (!edited && cautionText(again.confirmation) !== cautionText(shown.confirmation)))
      throw new Error(CHANGED);
    if (!edited) return { prepared: again };
    const note = `The user changed the command to: ${command}\n`;
    const run = async (context: ToolRun) => {
      const outcome = await again.run(context);
      return { ...outcome, output: note + outcome.output };
    };
    return { prepared: { ...again, run } };
  }

  #rules(): RuleTexts {
    const saved = this.#deps.rules?.rules() ?? NO_RULES;
    return joinRules(saved, { ...NO_RULES, allow: this.#allowed });
  }

  #ask(planned: PlannedCall, prepared: PreparedCall, signal: AbortSignal): Asked {
    const { confirmation, action } = prepared;
    if (action) planned.action(action);
    const subjects = callSubjects(planned.tool, prepared);
    const isQuestion = action?.type === 'question';
    const rules =
      isQuestion || prepared.asks || confirmation !== true ? undefined : offeredRules(subjects, this.#rules());
    const decision = this.#wait({ planned, prepared, rules: rules ?? [] }, signal);
    planned.state({
      type: 'waiting',
      ...(typeof confirmation === 'object' ? { caution: confirmation } : {}),
      ...defined({ rules }),
      ...this.#redefined(planned.tool),
    });
    return { prepared, decision };
  }

  /** The changes of a tool since the user allowed it. */
  #redefined({ name, identity, definition }: ChatTool): { readonly redefined?: RedefinedTool } {
    if (identity === undefined || definition === undefined) return {};
    const allowed = earlierIdentity(identity, this.#rules().allow);
    if (allowed === undefined) return {};
    const before = this.#definitions.get(allowed) ?? this.#deps.rules?.definition?.(allowed);
    return { redefined: before === undefined ? {} : { change: textChange(name, before, definition).change } };
  }

  /** Calls that wait and are allowed by the new rules need no further decision. */
  #remember(type: 'session' | 'always', rules: readonly string[], { identity, definition }: ChatTool): void {
    if (rules.length === 0) return;
    const known = identity === undefined || definition === undefined ? undefined : { identity, text: definition };
    if (known) this.#definitions.set(known.identity, known.text);
    if (type === 'always' && this.#deps.rules) this.#deps.rules.allow(rules, known);
    // Settings are written with a delay.
    this.#allowed = [...new Set([...this.#allowed, ...rules])];
    for (const { planned, prepared } of [...this.#waiting.values()]) {
      if (this.#verdict(planned, prepared) === 'run') this.decide(planned.call.id, { type: 'once' });
    }
  }

  /** Resolves with undefined if the answer was stopped. */
  #wait(waiting: Omit<Waiting, 'resolve'>, signal: AbortSignal): Promise<ToolDecision | undefined> {
    return new Promise((done) => {
      const { id } = waiting.planned.call;
      const resolve = (decision: ToolDecision | undefined) => {
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(id);
        done(decision);
      };
      const stop = () => resolve(undefined);
      signal.addEventListener('abort', stop);
      this.#waiting.set(id, { ...waiting, resolve });
    });
  }

  /** Runs a permitted call. A call that has not begun to run when the signal fires does not run later either. */
  async #invoke(
    planned: PlannedCall,
    { prepared, answer }: { prepared: PreparedCall; answer?: string },
    signal: AbortSignal,
  ): Promise<ToolState> {
    const mayRead = (path: string) => {
      const { effect } = judge([{ kind: 'read', path }], this.#rules());
      return effect === 'allow' || effect === 'none';
    };
    const place = { message: planned.message, call: planned.call.id };
    const run: ToolRun = { signal, ...place, owner: this, mayRead, ...defined({ answer }) };
    let begun = false;
    const work = async () => {
      signal.throwIfAborted();
      begun = true;
      return prepared.run(run);
    };
    const since = this.#deps.now();
    const outcome = await unlessAborted(signal, async () =>
      completeOutcome(await this.#record(place, prepared, work, signal)),
    );
    if (!outcome || signal.aborted) return begun ? { type: 'stopped' } : UNSTARTED;
    if (outcome.action) planned.action(outcome.action);
    if (planned.tool.changes && !outcome.failed && typeof planned.input.path === 'string')
      this.#misses.delete(planned.input.path);
    return outcomeState(outcome, this.#deps.now() - since, this.#mostOutput);
  }

  /** Does the work, with a record of the files that it changes. */
  #record(
    source: ChangeSource,
    { action }: PreparedCall,
    work: () => Promise<ToolOutcome>,
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const { checkpoints } = this.#deps;
    const changes = action?.type === 'changes' ? action.changes : [];
    return checkpoints && changes.length > 0 ? checkpoints.record(source, changes, work, signal) : work();
  }
}

/**
 * Returns the result of the work, or undefined when the signal fires first. Does not wait for work that ignores the
 * signal, so that Stop always works.
 */
async function unlessAborted<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const aborted = Promise.withResolvers<undefined>();
  const stop = () => aborted.resolve(undefined);
  signal.addEventListener('abort', stop);
  try {
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function unknownTool(name: string, tools: readonly ChatTool[]): string {
  const names = tools.map((tool) => tool.name).join(', ');
  return `There is no tool named ${name}. ${names === '' ? 'There are no tools.' : `The tools are: ${names}.`}`;
}

function failure(thrown: unknown): ToolOutcome {
  return { output: thrown instanceof Error ? thrown.message : String(thrown), failed: true };
}

function cautionText(confirmation: RequiredConfirmation): string {
  return typeof confirmation === 'boolean' ? '' : `${confirmation.kind} ${confirmation.path}`;
}

function outcomeState({ output, failed, exitCode }: ToolOutcome, ms: number, most: number): ToolState {
  const text = cutMiddle(output, most);
  const code = exitCode === undefined ? {} : { exitCode };
  return { type: 'done', output: text, ...(failed ? { failed } : {}), ...code, ms };
}
