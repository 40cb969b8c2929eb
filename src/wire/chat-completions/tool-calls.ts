import { finiteNumber, isObject, type JsonObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';
import type { SvcError } from '../errors/svc-error.ts';
import { namelessCall } from '../errors/upstream-errors.ts';
import type { Event } from '../event.ts';
import { JsonNesting } from '../json-nesting.ts';
import { readThoughtSignature, sealOfThought } from './thought-signature.ts';

interface Call {
  readonly index: number | undefined;
  id: string | undefined;
  name: string | undefined;
  part: number | undefined;
  /** A call of a custom tool: its arguments are plain text. */
  custom: boolean;
  /** Gemini's signature of the thoughts before the call. */
  thought: string | undefined;
  /** Arguments that arrived before the name. */
  held: string;
  /** All arguments so far. */
  arguments: string;
  readonly nesting: JsonNesting;
  /** Whether the arguments are JSON, once their nesting has ended. */
  valid: boolean | undefined;
}

/** Maximum length of arguments that are neither an object nor a list. */
const MAX_PLAIN_CHARACTERS = 100;

/**
 * Joins the tool-call fragments of a Chat Completions stream. Vendors differ: complete calls in one chunk, no `index`,
 * no `type`, the name after the id, id and name repeated in each chunk, index 0 for every call, indexes that start at
 * 1, a new id in each fragment.
 */
export class ChatToolCalls {
  readonly #calls: Call[] = [];
  /** The last call with each id and with each index. A provider may send any number of them. */
  readonly #byId = new Map<string, Call>();
  readonly #byIndex = new Map<number, Call>();
  readonly #nextPart: () => number;

  constructor(nextPart: () => number) {
    this.#nextPart = nextPart;
  }

  get count(): number {
    return this.#calls.length;
  }

  /** Whether the arguments of all calls are complete. */
  get whole(): boolean {
    return this.#calls.every((call) => call.custom || call.arguments === '' || parseJson(call.arguments) !== undefined);
  }

  read(fragments: readonly unknown[], events: Event[]): void {
    fragments.forEach((value, position) => {
      const fragment = objectOrEmpty(value);
      const definition = objectOrEmpty(fragment.custom ?? fragment.function);
      const call = this.#find(fragment, definition, position);
      if (call.id === undefined) this.#name(call, nonEmptyString(fragment.id));
      call.name ??= nonEmptyString(definition.name);
      call.custom ||= isObject(fragment.custom);
      call.thought ??= readThoughtSignature(fragment);
      this.#add(call, argumentText(definition.input ?? definition.arguments), events);
    });
  }

  /** Ends the stream. Returns an error if a call has no name, because it can't be run. */
  close(events: Event[]): SvcError | undefined {
    for (const call of this.#calls) {
      if (call.name === undefined) return namelessCall();
      this.#begin(call, events);
    }
    return undefined;
  }

  #name(call: Call, id: string | undefined): void {
    call.id = id;
    if (id !== undefined) this.#byId.set(id, call);
  }

  #add(call: Call, json: string, events: Event[]): void {
    call.arguments += json;
    call.nesting.push(json);
    // A later fragment may still contain the id, as long as no event of the call was sent.
    const ready = call.name !== undefined && (call.id !== undefined || json !== '');
    if (call.part === undefined && !ready) {
      call.held += json;
      return;
    }
    this.#begin(call, events);
    if (json !== '' && call.part !== undefined) events.push({ type: 'tool-arguments', part: call.part, json });
  }

  #begin(call: Call, events: Event[]): void {
    if (call.part !== undefined || call.name === undefined) return;
    if (call.thought !== undefined) {
      events.push({ type: 'reasoning-seal', part: this.#nextPart(), seal: sealOfThought(call.thought, 'call') });
    }
    call.part = this.#nextPart();
    call.id ??= `call_${crypto.randomUUID().replaceAll('-', '')}`;
    const custom = call.custom ? ({ custom: true } as const) : {};
    events.push({ type: 'tool-call', part: call.part, id: call.id, name: call.name, ...custom });
    if (call.held !== '') events.push({ type: 'tool-arguments', part: call.part, json: call.held });
    call.held = '';
  }

  #find(fragment: JsonObject, definition: JsonObject, position: number): Call {
    const id = nonEmptyString(fragment.id);
    const name = nonEmptyString(definition.name);
    const index = finiteNumber(fragment.index);
    const byId = id === undefined ? undefined : this.#byId.get(id);
    if (byId && (index === undefined || byId.index === undefined || byId.index === index)) return byId;
    const last = index === undefined ? this.#calls.at(-1) : this.#byIndex.get(index);
    if (last === undefined || (index === undefined && position > 0)) return this.#make(index);
    if (id !== undefined && last.id !== undefined && name !== undefined) return this.#make(index);
    // A fragment with a name but without id and index is a new call if the previous call is complete.
    if (id === undefined && index === undefined && name !== undefined && last.name !== undefined) {
      return last.name !== name || hasCompleteArguments(last) ? this.#make(index) : last;
    }
    return last;
  }

  #make(index: number | undefined): Call {
    const call: Call = {
      index,
      id: undefined,
      name: undefined,
      part: undefined,
      custom: false,
      thought: undefined,
      held: '',
      arguments: '',
      nesting: new JsonNesting(),
      valid: undefined,
    };
    this.#calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }
}

/**
 * Whether the call's arguments are complete JSON. They are parsed only once, after their brackets are closed, because
 * this is checked for each fragment.
 */
function hasCompleteArguments(call: Call): boolean {
  const { nesting } = call;
  if (nesting.ended === undefined) {
    return call.arguments.length <= MAX_PLAIN_CHARACTERS && parseJson(call.arguments) !== undefined;
  }
  if (!nesting.ended || nesting.trailing) return false;
  call.valid ??= parseJson(call.arguments) !== undefined;
  return call.valid;
}

function argumentText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}
