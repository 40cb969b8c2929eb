import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty, parseJson } from '../../../../src/base/json.ts';
import { Refusal } from '../refusal.ts';

/** What a vendor knows of a request beside its body. */
export interface VendorContext {
  /** Opaque reasoning that the vendor has issued to this account. */
  readonly seals: ReadonlySet<string>;
  /** The model reasons unless the request turns it off. */
  readonly reasons: boolean;
  /** The model's limit of output tokens. */
  readonly maxOutput: number;
}

export const CONTEXT: VendorContext = { seals: new Set(['own']), reasons: true, maxOutput: 8192 };

/** One thing that a vendor refuses with 400, with a request that shows it. */
export interface VendorRefusal {
  readonly what: string;
  /** A page of the vendor, or a thread with the words of the refusal. */
  readonly source: string;
  /** The vendor's message, if it refuses the body. */
  readonly refuses: (body: JsonObject, context: VendorContext) => string | undefined;
  /** A body that is refused for this reason only. */
  readonly example: JsonObject;
}

export interface StrictVendor {
  readonly name: string;
  readonly format: 'chat' | 'messages' | 'responses';
  /** The rules of the format itself. @throws Refusal */
  readonly base?: (body: JsonObject, context: VendorContext) => void;
  readonly refusals: readonly VendorRefusal[];
}

/** Marks an example that is refused only for a model that does not reason. */
export const NOT_REASONING = 'x-not-reasoning';

/** An example as it is sent, and what the vendor knows of it. */
export function readExample(example: JsonObject): { readonly body: JsonObject; readonly context: VendorContext } {
  const { [NOT_REASONING]: plain, ...body } = example;
  return { body, context: { ...CONTEXT, reasons: plain === undefined } };
}

/** @throws Refusal with the message of the first rule that the body breaks. */
export function checkVendor({ name, base, refusals }: StrictVendor, body: JsonObject, context: VendorContext): void {
  base?.(body, context);
  for (const { what, refuses } of refusals) {
    const message = refuses(body, context);
    if (message !== undefined) throw new Refusal(`${name}: ${what}: ${message}`);
  }
}

export const USER = { role: 'user', content: 'Hi' };
export const CHAT = { model: 'm', messages: [USER] };
export const FUNCTION = { name: 'f', parameters: { type: 'object', properties: {} } };
export const CALL = { id: 'callabc01', type: 'function', function: { name: 'f', arguments: '{}' } };
const RESULT = { role: 'tool', tool_call_id: 'callabc01', content: 'r' };

export const chat = (more: JsonObject): JsonObject => ({ ...CHAT, ...more });
export const withTool = (parameters: JsonObject, more: JsonObject = {}): JsonObject =>
  chat({ tools: [{ type: 'function', function: { ...FUNCTION, parameters, ...more } }] });
export const property = (schema: JsonObject): JsonObject => ({ type: 'object', properties: { a: schema } });
export const withCall = (call: JsonObject = {}, message: JsonObject = {}, result: JsonObject = {}): JsonObject =>
  chat({
    messages: [
      USER,
      { role: 'assistant', content: 'c', tool_calls: [{ ...CALL, ...call }], ...message },
      { ...RESULT, ...result },
    ],
  });

export function messagesOf(body: JsonObject): JsonObject[] {
  return arrayOrEmpty(body.messages).map(objectOrEmpty);
}

export function callsOf(message: JsonObject): JsonObject[] {
  return arrayOrEmpty(message.tool_calls).map(objectOrEmpty);
}

/** The schemas of all tools with all schemas inside, each with its path. */
export function* schemasOf(body: JsonObject): Generator<readonly [path: string, schema: JsonObject]> {
  for (const tool of arrayOrEmpty(body.tools).map(objectOrEmpty)) {
    const { parameters, input_schema } = { ...tool, ...objectOrEmpty(tool.function) };
    const schema = parameters ?? input_schema;
    if (isObject(schema)) yield* inside('root', schema);
  }
}

function* inside(path: string, schema: JsonObject): Generator<readonly [path: string, schema: JsonObject]> {
  yield [path, schema];
  for (const [key, value] of Object.entries(schema)) {
    const named = key === 'properties' || key === '$defs' || key === 'definitions';
    if (key === 'enum' || key === 'const' || key === 'default' || key === 'required') continue;
    const inner = named ? Object.entries(objectOrEmpty(value)) : [[key, value] as const];
    for (const [name, each] of inner) {
      for (const one of Array.isArray(each) ? each : [each]) if (isObject(one)) yield* inside(`${path}.${name}`, one);
    }
  }
}

/** Refuses a field of the body. One refusal for each field. */
export function fields(list: string, source: string, words: (name: string) => string): VendorRefusal[] {
  return list.split(/\s+/).map((name) => ({
    what: `the field ${name}`,
    source,
    refuses: (body) => (body[name] === undefined ? undefined : words(name)),
    example: chat({ [name]: EXAMPLES[name] ?? 1 }),
  }));
}

const EXAMPLES: JsonObject = {
  metadata: { a: 'b' },
  stream_options: { include_usage: true },
  user: 'u',
  service_tier: 'flex',
  stop: ['x'],
  store: true,
};

/** Refuses a member of messages. */
export function members(list: string, source: string, words: (name: string) => string): VendorRefusal[] {
  return list.split(/\s+/).map((name) => ({
    what: `${name} of a message`,
    source,
    refuses: (body) => (messagesOf(body).some((message) => message[name] !== undefined) ? words(name) : undefined),
    example: chat({ messages: [USER, { role: 'assistant', content: 'a', [name]: 'x' }, USER] }),
  }));
}

/** Refuses a schema in which a schema of any depth is refused. */
export function schema(
  what: string,
  source: string,
  refuses: (schema: JsonObject) => string | undefined | false,
  example: JsonObject,
): VendorRefusal {
  return {
    what,
    source,
    refuses: (body) => {
      for (const [path, each] of schemasOf(body)) {
        const words = refuses(each);
        if (words) return `At path '${path}': ${words}`;
      }
      return undefined;
    },
    example: withTool(example),
  };
}

/** Rules that each vendor has, because JSON Schema itself says so. */
export function schemaNulls(source: string): VendorRefusal[] {
  return [
    schema('required: null', source, (each) => each.required === null && 'None is not of type array', {
      type: 'object',
      properties: {},
      required: null,
    }),
    schema(
      'properties: null',
      source,
      (each) => each.properties === null && 'None is not of type object',
      property({ type: 'object', properties: null }),
    ),
    schema(
      'a list in items',
      source,
      (each) => Array.isArray(each.items) && 'items is not of type object, boolean',
      property({ type: 'array', items: [{ type: 'string' }] }),
    ),
  ];
}

export function markAnywhere(source: string, words: string): VendorRefusal {
  return {
    what: 'cache_control',
    source,
    refuses: (body) => (JSON.stringify(body).includes('"cache_control"') ? words : undefined),
    example: chat({
      messages: [{ role: 'user', content: [{ type: 'text', text: 't', cache_control: { type: 'ephemeral' } }] }],
    }),
  };
}

export function calls(
  what: string,
  source: string,
  refuses: (call: JsonObject, message: JsonObject, context: VendorContext) => string | undefined | false,
  example: JsonObject,
): VendorRefusal {
  return {
    what,
    source,
    refuses: (body, context) => {
      for (const message of messagesOf(body)) {
        for (const call of callsOf(message)) {
          const words = refuses(call, message, context);
          if (words) return words;
        }
      }
      return undefined;
    },
    example,
  };
}

/** Arguments of the history that the server parses. */
export function parsedArguments(source: string, words: string): VendorRefusal {
  return calls(
    'arguments that are no JSON object',
    source,
    ({ function: definition }) => !isObject(parseJson(String(objectOrEmpty(definition).arguments))) && words,
    withCall({ function: { name: 'f', arguments: '{"a' } }),
  );
}

export function lateSystem(source: string): VendorRefusal {
  return {
    what: 'a system message after the first message',
    source,
    refuses: (body) =>
      messagesOf(body).some(({ role }, index) => index > 0 && (role === 'system' || role === 'developer'))
        ? 'System message must be at the beginning.'
        : undefined,
    example: chat({ messages: [USER, { role: 'assistant', content: 'a' }, { role: 'system', content: 's' }, USER] }),
  };
}

export function alternation(source: string): VendorRefusal {
  return {
    what: 'two user messages in a row',
    source,
    refuses: (body) =>
      messagesOf(body).some(({ role }, index, all) => role === 'user' && all[index - 1]?.role === 'user')
        ? 'Conversation roles must alternate user/assistant/user/assistant/...'
        : undefined,
    example: chat({ messages: [USER, USER] }),
  };
}

export function lastFromUser(source: string, words: string): VendorRefusal {
  return {
    what: 'a conversation that ends with the assistant',
    source,
    refuses: (body) => (messagesOf(body).at(-1)?.role === 'assistant' ? words : undefined),
    example: chat({ messages: [USER, { role: 'assistant', content: 'a' }] }),
  };
}

export function emptyAssistant(source: string, words: string): VendorRefusal {
  return {
    what: 'an assistant message without content',
    source,
    refuses: (body) =>
      messagesOf(body).some((message) => {
        const text = typeof message.content === 'string' ? message.content : JSON.stringify(message.content ?? '');
        return (
          message.role === 'assistant' &&
          callsOf(message).length === 0 &&
          (text.trim() === '' || text === '[]' || text === '""')
        );
      })
        ? words
        : undefined,
    example: chat({ messages: [USER, { role: 'assistant', content: ' ' }, USER] }),
  };
}

/** A limit above the model's. */
export function outputLimit(source: string, field: string): VendorRefusal {
  return {
    what: `${field} above the model’s limit`,
    source,
    refuses: (body, { maxOutput }) =>
      Number(body[field] ?? 0) > maxOutput
        ? `${field} is too large: ${String(body[field])}. This model supports at most ${maxOutput} completion tokens.`
        : undefined,
    example: chat({ [field]: 32_000 }),
  };
}

export function efforts(levels: string, source: string): VendorRefusal {
  const known = levels.split(' ');
  return {
    what: 'an effort that the model does not have',
    source,
    refuses: (body) =>
      body.reasoning_effort === undefined || known.includes(String(body.reasoning_effort))
        ? undefined
        : `Unsupported value: '${String(body.reasoning_effort)}' is not supported with this model.`,
    example: chat({ reasoning_effort: 'max' }),
  };
}

/** Pairs of calls and results. */
export function pairs(source: string): VendorRefusal {
  return {
    what: 'a call without a result, or the reverse',
    source,
    refuses: (body) => {
      let open = new Set<unknown>();
      for (const message of messagesOf(body)) {
        if (message.role === 'tool') {
          if (!open.delete(message.tool_call_id)) return `No call for the result ${String(message.tool_call_id)}`;
          continue;
        }
        if (open.size > 0) return `No result for ${[...open].join(', ')}`;
        open = new Set(callsOf(message).map(({ id }) => id));
      }
      return open.size > 0 ? `No result for ${[...open].join(', ')}` : undefined;
    },
    example: chat({ messages: [USER, { role: 'assistant', content: 'c', tool_calls: [CALL] }, USER] }),
  };
}
