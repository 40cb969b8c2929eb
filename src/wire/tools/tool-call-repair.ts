import { createHash } from 'node:crypto';
import { append } from '../../base/json.ts';
import type { AssistantPart, Conversation, ToolCallPart, ToolResultPart, Turn, UserPart } from '../conversation.ts';

/** The result that the model receives for a call without a result (spec 4.2.3). */
export const PLACEHOLDER_RESULT = 'Tool execution was interrupted before completion.';

/** A repair, for logs and metrics. */
export interface RepairChange {
  readonly kind:
    | 'duplicate-call'
    | 'orphan-result'
    | 'duplicate-result'
    | 'placeholder-result'
    | 'normalized-id'
    | 'repeated-id'
    | 'shared-id'
    | 'arguments'
    | 'foreign-reasoning';
  /** The client's id of the call or the item. */
  readonly id: string;
}

/** The ids that an upstream accepts, and the conversion of other ids. */
export interface IdRule {
  readonly valid: RegExp;
  readonly make: (id: string) => string;
  /** The vendor refuses two calls of a conversation with the same id, also in different turns. */
  readonly unique?: true;
}

const hash = (id: string): string => createHash('sha256').update(id).digest('hex');

/**
 * Invalid ids are replaced by a hash of the whole id, so that pairs still match and prompts remain cacheable across
 * turns.
 */
export const ANTHROPIC_IDS: IdRule = { valid: /^[a-zA-Z0-9_-]{1,64}$/, make: (id) => hash(id), unique: true };
export const MISTRAL_IDS: IdRule = { valid: /^[a-zA-Z0-9]{9}$/, make: (id) => hash(id).slice(0, 9) };
/** OpenAI's limits of the length (API errors "string too long", of `call_id` and of `tool_calls[].id`). */
export const RESPONSES_IDS: IdRule = { valid: /^[\s\S]{1,64}$/, make: (id) => hash(id), unique: true };
export const OPENAI_CHAT_IDS: IdRule = { valid: /^[\s\S]{1,40}$/, make: (id) => hash(id).slice(0, 40) };

/** A call or a result of a conversation, in order. */
export interface IdUse {
  readonly id: string;
  /** The call's name and arguments. Absent: a result. */
  readonly call?: string;
}

/**
 * The names of ids if different calls of a turn share one: some models send the same id for two calls, and clients that
 * cut ids make two ids equal (opencode, for models whose name contains "mistral"). Such calls are two calls if each has
 * its result; results are theirs in order. A name depends only on the id and on how often it occurred.
 *
 * @returns undefined if nothing changes, else a name for each use.
 */
export function separateIds(uses: readonly IdUse[]): readonly string[] | undefined {
  const names = uses.map(({ id }) => id);
  let changed = false;
  for (let start = 0; start < uses.length; ) {
    let results = start;
    while (uses[results]?.call !== undefined) results += 1;
    let end = results;
    while (end < uses.length && uses[end]?.call === undefined) end += 1;
    changed = results - start > 1 && separateTurn(uses, names, start, results, end) ? true : changed;
    start = end;
  }
  return changed ? names : undefined;
}

/** @param start of the turn's calls, which end at `results`; the results end at `end`. */
function separateTurn(uses: readonly IdUse[], names: string[], start: number, results: number, end: number): boolean {
  const calls = Map.groupBy(uses.slice(start, results), ({ id }) => id);
  const answers = Map.groupBy(uses.slice(results, end), ({ id }) => id);
  let changed = false;
  for (const [id, shared] of calls) {
    const different = [...new Set(shared.map(({ call }) => call))];
    if (different.length < 2 || (answers.get(id)?.length ?? 0) < different.length) continue;
    const name = (count: number): string => (count === 0 ? id : `call_${hash(`${id}#${count + 1}`).slice(0, 24)}`);
    let answered = 0;
    for (let at = start; at < end; at += 1) {
      const { id: used, call } = uses[at] ?? {};
      if (used !== id) continue;
      names[at] = name(call === undefined ? Math.min(answered++, different.length - 1) : different.indexOf(call));
    }
    changed = true;
  }
  return changed;
}

/**
 * Repairs the calls and results of a conversation (spec 4.2). If two calls in an assistant turn have the same id, the
 * second is removed. Results without a call in the preceding turn, and second results, are removed. A call without a
 * result gets a placeholder directly after its turn. Returns the same object if nothing changed.
 */
export function repairConversation(conversation: Conversation, changes: RepairChange[] = []): Conversation {
  const before = changes.length;
  const turns: Turn[] = [];
  for (const group of groupTurns(separateCalls(conversation.turns, changes)))
    append(turns, repairGroup(group, changes));
  return changes.length === before ? conversation : { ...conversation, turns };
}

function separateCalls(turns: readonly Turn[], changes: RepairChange[]): readonly Turn[] {
  const parts = turns.flatMap((turn): (UserPart | AssistantPart)[] => (turn.role === 'system' ? [] : [...turn.parts]));
  const paired = parts.filter(isPaired);
  const uses = paired.map((part) =>
    part.type === 'tool-call' ? { id: part.id, call: `${part.name} ${part.arguments}` } : { id: part.id },
  );
  const names = separateIds(uses);
  if (names === undefined) return turns;
  const named = new Map<UserPart | AssistantPart, string>(paired.map((part, at) => [part, names[at] ?? part.id]));
  return renameParts(turns, (part) => {
    const name = named.get(part) ?? part.id;
    if (name !== part.id) changes.push({ kind: 'shared-id', id: part.id });
    return name;
  });
}

interface TurnGroup {
  readonly assistant: Extract<Turn, { role: 'assistant' }> | undefined;
  /** The turns before the next assistant turn. */
  readonly rest: readonly Turn[];
}

function groupTurns(turns: readonly Turn[]): TurnGroup[] {
  const groups: { assistant: TurnGroup['assistant']; rest: Turn[] }[] = [{ assistant: undefined, rest: [] }];
  for (const turn of turns) {
    if (turn.role === 'assistant') groups.push({ assistant: turn, rest: [] });
    else groups.at(-1)?.rest.push(turn);
  }
  return groups;
}

function repairGroup(group: TurnGroup, changes: RepairChange[]): Turn[] {
  const before = changes.length;
  const open = new Set<string>();
  const answered = new Set<string>();
  const parts = (group.assistant?.parts ?? []).filter((part) => keepCall(part, open, changes));
  const rest = group.rest.map((turn) =>
    turn.role === 'user'
      ? { ...turn, parts: turn.parts.filter((part) => keepResult(part, open, answered, changes)) }
      : turn,
  );
  const missing = [...open].filter((id) => !answered.has(id));
  for (const id of missing) changes.push({ kind: 'placeholder-result', id });
  if (changes.length === before) return group.assistant ? [group.assistant, ...group.rest] : [...group.rest];
  const kept = rest.filter((turn, index) => turn.parts.length > 0 || group.rest[index]?.parts.length === 0);
  const turns: Turn[] = group.assistant ? [{ ...group.assistant, parts }] : [];
  return [...turns, ...withPlaceholders(kept, missing)];
}

function keepCall(part: AssistantPart, open: Set<string>, changes: RepairChange[]): boolean {
  if (part.type !== 'tool-call') return true;
  if (open.has(part.id)) {
    changes.push({ kind: 'duplicate-call', id: part.id });
    return false;
  }
  open.add(part.id);
  return true;
}

function keepResult(part: UserPart, open: Set<string>, answered: Set<string>, changes: RepairChange[]): boolean {
  if (part.type !== 'tool-result') return true;
  if (open.has(part.id) && !answered.has(part.id)) {
    answered.add(part.id);
    return true;
  }
  changes.push({ kind: answered.has(part.id) ? 'duplicate-result' : 'orphan-result', id: part.id });
  return false;
}

/**
 * Inserts placeholders directly after the assistant turn: in the first user turn if that turn contains results,
 * otherwise in a new turn.
 */
function withPlaceholders(turns: readonly Turn[], missing: readonly string[]): Turn[] {
  if (missing.length === 0) return [...turns];
  const results = missing.map(placeholder);
  const [first, ...rest] = turns;
  if (first?.role === 'user' && first.parts.some((part) => part.type === 'tool-result')) {
    return [{ ...first, parts: [...results, ...first.parts] }, ...rest];
  }
  return [{ role: 'user', parts: results }, ...turns];
}

function placeholder(id: string): ToolResultPart {
  return { type: 'tool-result', id, content: [{ type: 'text', text: PLACEHOLDER_RESULT }] };
}

/**
 * The names of a conversation's ids for an upstream. Calls and results are named in order: a result has the name of the
 * last call with its id. A name depends only on the calls before it, so prompts remain cacheable across turns.
 */
export class UpstreamIds {
  readonly #rule: IdRule;
  readonly #changes: RepairChange[];
  /** How often an id has occurred as a call, and the name of its last call. */
  readonly #calls = new Map<string, { readonly count: number; readonly name: string }>();

  constructor(rule: IdRule, changes: RepairChange[]) {
    this.#rule = rule;
    this.#changes = changes;
  }

  nameCall(id: string): string {
    const count = (this.#calls.get(id)?.count ?? 0) + 1;
    const repeated = this.#rule.unique === true && count > 1;
    const name = repeated ? this.#rule.make(`${id}#${count}`) : this.#valid(id);
    if (name !== id) this.#changes.push({ kind: repeated ? 'repeated-id' : 'normalized-id', id });
    this.#calls.set(id, { count, name });
    return name;
  }

  nameResult(id: string): string {
    return this.#calls.get(id)?.name ?? this.#valid(id);
  }

  #valid(id: string): string {
    return this.#rule.valid.test(id) ? id : this.#rule.make(id);
  }
}

/** Replaces ids that the upstream does not accept. Returns the same object if all ids are valid. */
export function normalizeIds(conversation: Conversation, rule: IdRule, changes: RepairChange[] = []): Conversation {
  const ids = new UpstreamIds(rule, changes);
  const turns = renameParts(conversation.turns, ({ type, id }) =>
    type === 'tool-call' ? ids.nameCall(id) : ids.nameResult(id),
  );
  return turns === conversation.turns ? conversation : { ...conversation, turns };
}

/** The turns with other ids of calls and results, or the same turns if no id changes. */
function renameParts(turns: readonly Turn[], nameOf: (part: ToolCallPart | ToolResultPart) => string): readonly Turn[] {
  const renamed = <T extends UserPart | AssistantPart>(part: T): T => {
    if (!isPaired(part)) return part;
    const id = nameOf(part);
    return id === part.id ? part : { ...part, id };
  };
  const named = turns.map((turn): Turn => {
    if (turn.role === 'system') return turn;
    const renamedTurn =
      turn.role === 'user' ? { ...turn, parts: turn.parts.map(renamed) } : { ...turn, parts: turn.parts.map(renamed) };
    return renamedTurn.parts.every((part, index) => part === turn.parts[index]) ? turn : renamedTurn;
  });
  return named.every((turn, index) => turn === turns[index]) ? turns : named;
}

function isPaired(part: UserPart | AssistantPart): part is ToolCallPart | ToolResultPart {
  return part.type === 'tool-call' || part.type === 'tool-result';
}
