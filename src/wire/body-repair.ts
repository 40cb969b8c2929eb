import { append, isObject, type JsonObject, nonEmptyString, objectOrEmpty } from '../base/json.ts';
import type { FormatName } from './format-name.ts';
import { type IdRule, PLACEHOLDER_RESULT, type RepairChange } from './tool-call-repair.ts';

export interface RepairedBody {
  /** The repaired body, or the same object if nothing changed. */
  readonly body: JsonObject;
  readonly changes: readonly RepairChange[];
}

/**
 * Tool-call repair (spec 4.2) on an unparsed request body that is passed on in its own format. Unknown fields are kept,
 * and valid items do not change. Ids are normalized last, so that calls and results are matched by the client's ids.
 */
export function repairBody(format: FormatName, body: JsonObject, rule?: IdRule): RepairedBody {
  const field = format === 'responses' ? 'input' : 'messages';
  const items = body[field];
  if (!Array.isArray(items) || !items.some(ofTools)) return { body, changes: [] };
  const repair = new BodyRepair();
  const paired = repair.pair(format, items);
  const named = rule ? normalizeBodyIds(format, paired, rule, repair.changes) : paired;
  return repair.changes.length === 0
    ? { body, changes: [] }
    : { body: { ...body, [field]: named }, changes: repair.changes };
}

/** Whether the item may contain a call or a result of any format. Most conversations have none. */
function ofTools(value: unknown): boolean {
  const { role, tool_calls, content, type } = objectOrEmpty(value);
  if (type === 'function_call' || type === 'function_call_output') return true;
  return role === 'tool' || tool_calls !== undefined || Array.isArray(content);
}

/** The calls of one assistant turn, and those with a result. */
interface Calls {
  readonly open: Set<string>;
  readonly answered: Set<string>;
}

class BodyRepair {
  readonly changes: RepairChange[] = [];

  pair(format: FormatName, items: readonly unknown[]): readonly unknown[] {
    if (format === 'responses') return this.#responses(items);
    return this.#turns(items, format === 'messages' ? this.#messagesTurn : this.#chatTurn, format === 'messages');
  }

  /** Splits the items into assistant turns with their following items, and joins the repaired turns. */
  #turns(
    items: readonly unknown[],
    turn: (assistant: readonly unknown[], rest: readonly unknown[]) => readonly unknown[],
    merged: boolean,
  ): readonly unknown[] {
    const result: unknown[] = [];
    let at = 0;
    while (at < items.length) {
      let rest = at;
      while (rest < items.length && isAssistant(items[rest]) && (merged || rest === at)) rest++;
      let end = rest;
      while (end < items.length && !isAssistant(items[end])) end++;
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

  /**
   * Responses matches a call and its result by `call_id`; the result can be anywhere after its call. A placeholder is
   * inserted directly after the group of assistant items that contains the call.
   */
  #responses(items: readonly unknown[]): readonly unknown[] {
    const calls: Calls = { open: new Set(), answered: new Set() };
    const kept: unknown[] = [];
    /** The index in `kept` of the last call with each id. */
    const placed = new Map<string, number>();
    for (const value of items) {
      const item = objectOrEmpty(value);
      const id = nonEmptyString(item.call_id);
      if (item.type === 'function_call') {
        if (id !== undefined && calls.answered.has(id)) {
          // The same id in a later turn is a new call.
          calls.open.delete(id);
          calls.answered.delete(id);
        }
        if (!this.#keepCall(id, calls)) continue;
        if (id !== undefined) placed.set(id, kept.length);
      } else if (item.type === 'function_call_output' && !this.#keepResult(id, calls)) continue;
      kept.push(value);
    }
    const missing = new Set(this.#missing(calls));
    if (missing.size === 0) return kept;
    const result: unknown[] = [];
    let row: JsonObject[] = [];
    kept.forEach((value, index) => {
      result.push(value);
      const { type, call_id } = objectOrEmpty(value);
      const id = type === 'function_call' ? nonEmptyString(call_id) : undefined;
      if (id !== undefined && missing.has(id) && placed.get(id) === index) {
        row.push({ type: 'function_call_output', call_id: id, output: PLACEHOLDER_RESULT });
      }
      if (row.length === 0 || isAssistantItem(kept[index + 1])) return;
      append(result, row);
      row = [];
    });
    return result;
  }
}

function isAssistant(value: unknown): boolean {
  return isObject(value) && value.role === 'assistant';
}

function isAssistantItem(value: unknown): boolean {
  const item = objectOrEmpty(value);
  return item.type === 'function_call' || item.type === 'reasoning' || item.role === 'assistant';
}

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

/** Replaces invalid ids of calls and results at their positions in each format. */
function normalizeBodyIds(
  format: FormatName,
  items: readonly unknown[],
  rule: IdRule,
  changes: RepairChange[],
): readonly unknown[] {
  const rename = (value: unknown, field: string, call: boolean): unknown => {
    const object = objectOrEmpty(value);
    const id = object[field];
    if (typeof id !== 'string' || rule.valid.test(id)) return value;
    if (call) changes.push({ kind: 'normalized-id', id });
    return { ...object, [field]: rule.make(id) };
  };
  return items.map((value) => {
    const item = objectOrEmpty(value);
    if (format === 'responses') {
      const paired = item.type === 'function_call' || item.type === 'function_call_output';
      return paired ? rename(value, 'call_id', item.type === 'function_call') : value;
    }
    if (format === 'chat-completions') {
      if (item.role === 'tool') return rename(value, 'tool_call_id', false);
      return mapList(value, 'tool_calls', (call) => rename(call, 'id', true));
    }
    return mapList(value, 'content', (block) => {
      const { type } = objectOrEmpty(block);
      if (type === 'tool_use') return rename(block, 'id', true);
      return type === 'tool_result' ? rename(block, 'tool_use_id', false) : block;
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
