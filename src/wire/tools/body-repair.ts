import {
  append,
  isObject,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
  ownEntry,
  parseJson,
} from '../../base/json.ts';
import { splitWords } from '../../base/split-words.ts';
import type { FormatName } from '../format-name.ts';
import { toolInput } from '../messages/tool-input.ts';
import { OwnReasoning, withoutLostThinking } from './own-reasoning.ts';
import {
  type IdRule,
  type IdUse,
  PLACEHOLDER_RESULT,
  type RepairChange,
  separateIds,
  UpstreamIds,
} from './tool-call-repair.ts';

export interface RepairedBody {
  /** The repaired body, or the same object if nothing changed. */
  readonly body: JsonObject;
  readonly changes: readonly RepairChange[];
}

/** The demands of the upstream on the history. */
export interface BodyRules {
  readonly ids?: IdRule;
  /** `object`: the server parses the arguments of calls. */
  readonly callArguments?: 'any' | 'object';
  /** The upstream (`issuerName`). Reasoning of other issuers is removed. */
  readonly issuer?: string;
}

/**
 * Tool-call repair (spec 4.2) on an unparsed request body that is passed on in its own format. Unknown fields are kept,
 * and valid items do not change. Ids are normalized last, so that calls and results are matched by the client's ids.
 */
export function repairBody(format: FormatName, body: JsonObject, rules: BodyRules = {}): RepairedBody {
  const field = format === 'responses' ? 'input' : 'messages';
  const items = body[field];
  if (!Array.isArray(items) || !items.some(ofTools)) return { body, changes: [] };
  const repair = new BodyRepair();
  const own = repair.ownReasoning(format, items, rules.issuer);
  const paired = repair.pair(format, separateBodyIds(format, own, repair.changes));
  const called = rules.callArguments === 'object' ? repair.objectArguments(format, paired) : paired;
  const named = rules.ids ? normalizeBodyIds(format, called, rules.ids, repair.changes) : called;
  if (repair.changes.length === 0 && !repair.unmarked) return { body, changes: [] };
  const repaired = { ...body, [field]: named };
  const foreign = format === 'messages' && repair.changes.some(({ kind }) => kind === 'foreign-reasoning');
  return { body: foreign ? withoutLostThinking(repaired) : repaired, changes: repair.changes };
}

/** Whether the item may contain a call, a result or reasoning of any format. Most conversations have none. */
function ofTools(value: unknown): boolean {
  const { role, tool_calls, reasoning_details, content, type } = objectOrEmpty(value);
  if (
    type === 'reasoning' ||
    type === 'compaction' ||
    reasoning_details !== undefined ||
    isCallOutput(type) ||
    ownEntry(CALL_OUTPUTS, String(type)) !== undefined
  )
    return true;
  return role === 'tool' || tool_calls !== undefined || Array.isArray(content);
}

/** The calls of one assistant turn, and those with a result. */
interface Calls {
  readonly open: Set<string>;
  readonly answered: Set<string>;
}

class BodyRepair {
  readonly changes: RepairChange[] = [];
  /** Names of issuers were removed. */
  unmarked = false;

  /**
   * Removes reasoning that another upstream issued, and the names of issuers from the rest: no upstream knows them.
   *
   * @param issuer the upstream (`issuerName`).
   */
  ownReasoning(format: FormatName, items: readonly unknown[], issuer: string | undefined): readonly unknown[] {
    const own = new OwnReasoning(issuer, () => this.changes.push({ kind: 'foreign-reasoning', id: '' }));
    const kept = items.flatMap((item) => own.item(format, item));
    this.unmarked = own.changed;
    return own.changed ? kept : items;
  }

  /** Replaces arguments of functions that are not a JSON object. */
  objectArguments(format: FormatName, items: readonly unknown[]): readonly unknown[] {
    const repaired = (id: string, holder: JsonObject): string | undefined => {
      const { arguments: text } = holder;
      if (typeof text !== 'string' || isObject(parseJson(text))) return undefined;
      this.changes.push({ kind: 'arguments', id });
      return JSON.stringify(toolInput(text));
    };
    return items.map((value) => {
      const item = objectOrEmpty(value);
      if (format === 'responses' && item.type === 'function_call') {
        const text = repaired(String(item.call_id), item);
        return text === undefined ? value : { ...item, arguments: text };
      }
      if (format === 'messages') return mapList(value, 'content', (block) => this.#objectInput(block));
      return mapList(value, 'tool_calls', (call) => {
        const { id, function: definition } = objectOrEmpty(call);
        if (!isObject(definition)) return call;
        const text = repaired(String(id), definition);
        return text === undefined ? call : { ...objectOrEmpty(call), function: { ...definition, arguments: text } };
      });
    });
  }

  #objectInput(value: unknown): unknown {
    const block = objectOrEmpty(value);
    if (block.type !== 'tool_use' || isObject(block.input)) return value;
    this.changes.push({ kind: 'arguments', id: String(block.id) });
    const text = typeof block.input === 'string' ? block.input : JSON.stringify(block.input ?? {});
    return { ...block, input: toolInput(text) };
  }

  pair(format: FormatName, items: readonly unknown[]): readonly unknown[] {
    switch (format) {
      case 'responses':
        return this.#turns(items, this.#responsesTurn, isAssistantItem, true);
      case 'messages':
        return this.#turns(items, this.#messagesTurn, isAssistant, true);
      case 'chat-completions':
        return this.#turns(items, this.#chatTurn, isAssistant, false);
    }
  }

  /**
   * Splits the items into assistant turns with their following items, and joins the repaired turns. `merged`: assistant
   * items in a row are one turn.
   */
  #turns(
    items: readonly unknown[],
    turn: (assistant: readonly unknown[], rest: readonly unknown[]) => readonly unknown[],
    assistant: (item: unknown) => boolean,
    merged: boolean,
  ): readonly unknown[] {
    const result: unknown[] = [];
    let at = 0;
    while (at < items.length) {
      let rest = at;
      while (rest < items.length && assistant(items[rest]) && (merged || rest === at)) rest++;
      let end = rest;
      while (end < items.length && !assistant(items[end])) end++;
      append(result, turn.call(this, items.slice(at, rest), items.slice(rest, end)));
      at = end;
    }
    return result;
  }

  #keepCall(id: string | undefined, calls: Calls): boolean {
    if (id === undefined) return true;
    if (calls.open.has(id)) {
      this.changes.push({ kind: 'duplicate-call', id });
      return false;
    }
    calls.open.add(id);
    return true;
  }

  #keepResult(id: string | undefined, calls: Calls): boolean {
    if (id !== undefined && calls.open.has(id) && !calls.answered.has(id)) {
      calls.answered.add(id);
      return true;
    }
    const kind = id !== undefined && calls.answered.has(id) ? 'duplicate-result' : 'orphan-result';
    this.changes.push({ kind, id: id ?? '' });
    return false;
  }

  #missing(calls: Calls): string[] {
    const missing = [...calls.open].filter((id) => !calls.answered.has(id));
    for (const id of missing) this.changes.push({ kind: 'placeholder-result', id });
    return missing;
  }

  #chatTurn(assistant: readonly unknown[], rest: readonly unknown[]): readonly unknown[] {
    const calls: Calls = { open: new Set(), answered: new Set() };
    const kept = assistant.map((message) =>
      this.#list(message, 'tool_calls', (call) => this.#keepCall(nonEmptyString(call.id), calls)),
    );
    const results = rest.filter((value) => {
      const message = objectOrEmpty(value);
      return message.role !== 'tool' || this.#keepResult(nonEmptyString(message.tool_call_id), calls);
    });
    const placeholders = this.#missing(calls).map((tool_call_id) => ({
      role: 'tool',
      tool_call_id,
      content: PLACEHOLDER_RESULT,
    }));
    return [...kept, ...placeholders, ...results];
  }

  #messagesTurn(assistant: readonly unknown[], rest: readonly unknown[]): readonly unknown[] {
    const calls: Calls = { open: new Set(), answered: new Set() };
    const kept = assistant.map((message) =>
      this.#list(
        message,
        'content',
        (block) => block.type !== 'tool_use' || this.#keepCall(nonEmptyString(block.id), calls),
      ),
    );
    const results = rest.flatMap((message) => {
      const repaired = this.#list(message, 'content', (block) => {
        return block.type !== 'tool_result' || this.#keepResult(nonEmptyString(block.tool_use_id), calls);
      });
      const emptied = repaired !== message && Array.isArray(repaired.content) && repaired.content.length === 0;
      return emptied ? [] : [repaired];
    });
    const placeholders = this.#missing(calls).map((tool_use_id) => ({
      type: 'tool_result',
      tool_use_id,
      content: PLACEHOLDER_RESULT,
    }));
    return [...kept, ...withResults(placeholders, results)];
  }

  /** The object with its list filtered, or the same object if no item is removed. */
  #list(value: unknown, field: string, keep: (item: JsonObject) => boolean): JsonObject {
    const object = objectOrEmpty(value);
    const list = object[field];
    if (!Array.isArray(list)) return object;
    const kept = list.filter((item) => keep(objectOrEmpty(item)));
    if (kept.length === list.length) return object;
    if (field === 'content' || kept.length > 0) return { ...object, [field]: kept };
    const { [field]: _, ...rest } = object;
    return rest;
  }

  #responsesTurn(assistant: readonly unknown[], rest: readonly unknown[]): readonly unknown[] {
    const calls: Calls = { open: new Set(), answered: new Set() };
    const outputs = new Map<string, string>();
    // A referenced item may be a call, so no result of the turn is known to be without one.
    const referenced = assistant.some((item) => objectOrEmpty(item).type === 'item_reference');
    const kept = assistant.filter((value) => {
      const { type, call_id } = objectOrEmpty(value);
      const output = ownEntry(CALL_OUTPUTS, String(type));
      const id = nonEmptyString(call_id);
      if (output === undefined) return true;
      if (id !== undefined) outputs.set(id, output);
      return this.#keepCall(id, calls);
    });
    const results = rest.filter((value) => {
      const { type, call_id } = objectOrEmpty(value);
      const id = nonEmptyString(call_id);
      if (!isCallOutput(type) || (referenced && id !== undefined && !calls.open.has(id))) return true;
      return this.#keepResult(id, calls);
    });
    const placeholders = this.#missing(calls).map((call_id) => ({
      type: outputs.get(call_id),
      call_id,
      output: PLACEHOLDER_RESULT,
    }));
    return [...kept, ...placeholders, ...results];
  }
}

/** The items of Responses that call a tool of the client, and the items of their results. */
const CALL_OUTPUTS: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
};

function isCallOutput(type: unknown): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output';
}

function isAssistant(value: unknown): boolean {
  return isObject(value) && value.role === 'assistant';
}

/**
 * Whether the model produced the item. The vendor's own tools have a call (`web_search_call`), and those that it runs in
 * the middle of an answer also have an output.
 */
function isAssistantItem(value: unknown): boolean {
  const { type, role, execution } = objectOrEmpty(value);
  if (role === 'assistant') return type !== 'additional_tools';
  if (typeof type !== 'string') return false;
  return type.endsWith('_call') || PRODUCED.has(type) || (type === 'tool_search_output' && execution !== 'client');
}

const PRODUCED: ReadonlySet<string> = new Set(
  splitWords('reasoning item_reference mcp_list_tools mcp_approval_request program program_output'),
);

/** Inserts the placeholders at the start of the first user message, or as a new message. */
function withResults(placeholders: readonly JsonObject[], rest: readonly JsonObject[]): readonly JsonObject[] {
  if (placeholders.length === 0) return rest;
  const at = rest.findIndex((message) => message.role === 'user');
  const first = rest[at];
  if (first === undefined) return [{ role: 'user', content: placeholders }, ...rest];
  const { content } = first;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const joined = { ...first, content: [...placeholders, ...(Array.isArray(blocks) ? blocks : [])] };
  return rest.map((message, index) => (index === at ? joined : message));
}

/** Replaces ids of calls and results that the upstream does not accept, at their positions in each format. */
function normalizeBodyIds(
  format: FormatName,
  items: readonly unknown[],
  rule: IdRule,
  changes: RepairChange[],
): readonly unknown[] {
  const ids = new UpstreamIds(rule, changes);
  return renameIds(format, items, ({ id, call }) => (call === undefined ? ids.nameResult(id) : ids.nameCall(id)));
}

/** Gives each of several calls of a turn an id of its own. */
function separateBodyIds(format: FormatName, items: readonly unknown[], changes: RepairChange[]): readonly unknown[] {
  const uses: IdUse[] = [];
  renameIds(format, items, (use) => {
    uses.push(use);
    return use.id;
  });
  const names = separateIds(uses);
  if (names === undefined) return items;
  let at = 0;
  return renameIds(format, items, ({ id }) => {
    const name = names[at++] ?? id;
    if (name !== id) changes.push({ kind: 'shared-id', id });
    return name;
  });
}

/** Renames the ids of calls and results in order. */
function renameIds(format: FormatName, items: readonly unknown[], nameOf: (use: IdUse) => string): readonly unknown[] {
  const rename = (value: unknown, field: string, call?: (object: JsonObject) => unknown): unknown => {
    const object = objectOrEmpty(value);
    const id = object[field];
    if (typeof id !== 'string') return value;
    const name = nameOf(call === undefined ? { id } : { id, call: JSON.stringify(call(object)) ?? '' });
    return name === id ? value : { ...object, [field]: name };
  };
  return items.map((value) => {
    const item = objectOrEmpty(value);
    if (format === 'responses') {
      const call = ownEntry(CALL_OUTPUTS, String(item.type)) !== undefined;
      if (call) return rename(value, 'call_id', ({ name, arguments: text, input }) => [name, text, input]);
      return isCallOutput(item.type) ? rename(value, 'call_id') : value;
    }
    if (format === 'chat-completions') {
      if (item.role === 'tool') return rename(value, 'tool_call_id');
      return mapList(value, 'tool_calls', (call) => rename(call, 'id', (object) => object.function ?? object.custom));
    }
    return mapList(value, 'content', (block) => {
      const { type } = objectOrEmpty(block);
      if (type === 'tool_use') return rename(block, 'id', ({ name, input }) => [name, input]);
      return type === 'tool_result' ? rename(block, 'tool_use_id') : block;
    });
  });
}

function mapList(value: unknown, field: string, map: (item: unknown) => unknown): unknown {
  const object = objectOrEmpty(value);
  const list = object[field];
  if (!Array.isArray(list)) return value;
  const mapped = list.map(map);
  return mapped.every((item, index) => item === list[index]) ? value : { ...object, [field]: mapped };
}
