import { type JsonObject, requestJson } from '../../src/base/json.ts';
import { chatCompletions } from '../../src/wire/chat-completions/format.ts';
import type { Conversation } from '../../src/wire/conversation.ts';
import type { Format } from '../../src/wire/format.ts';
import { messages } from '../../src/wire/messages/format.ts';
import { responses } from '../../src/wire/responses/format.ts';
import { NdjsonDecoder } from '../../src/wire/stream/ndjson.ts';
import { SseDecoder } from '../../src/wire/stream/sse.ts';
import { bridgeTools } from '../../src/wire/tools/tool-bridge.ts';
import { assertLinear } from '../linear-time.ts';
import { type Body, bodyOf, carry } from './carry.ts';
import { CONTEXT, FORMAT_LIST, REQUEST, writeFrames } from './format-pairs.ts';

const list = <T>(size: number, make: (index: number) => T): T[] => Array.from({ length: size }, (_, at) => make(at));
const flat = <T>(size: number, make: (index: number) => T[]): T[] => list(size, make).flat();

const call = (at: number) => ({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' });
const output = (at: number) => ({ type: 'function_call_output', call_id: `c${at}`, output: 'r' });
const toolCall = (at: number) => ({ id: `c${at}`, type: 'function', function: { name: 'f', arguments: '{}' } });
const toolMessage = (at: number) => ({ role: 'tool', tool_call_id: `c${at}`, content: 'r' });
const toolUse = (at: number) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} });
const toolResult = (at: number) => ({ type: 'tool_result', tool_use_id: `c${at}`, content: 'r' });
const text = { type: 'text', text: 't' };
const user = { role: 'user', content: 'u' };

/** Histories of a size that a client may send, valid or not. */
const REQUESTS: readonly (readonly [what: string, format: Format, make: (size: number) => unknown[]])[] = [
  ['calls without outputs', responses, (size) => list(size, call)],
  ['calls of one id', responses, (size) => list(size, () => call(1))],
  ['outputs without calls', responses, (size) => list(size, output)],
  ['outputs after all calls', responses, (size) => [...list(size, call), ...list(size, output)]],
  ['outputs after a later turn', responses, (size) => [...flat(size, (at) => [call(at), user]), ...list(size, output)]],
  [
    'late outputs of one turn',
    responses,
    (size) => [...list(size, call), user, { role: 'assistant', content: 'a' }, ...list(size, output)],
  ],
  ['calls and outputs by turns', responses, (size) => flat(size, (at) => [call(at), output(at), user])],
  ['reasoning', responses, (size) => list(size, (at) => ({ type: 'reasoning', id: `r${at}`, encrypted_content: 'e' }))],
  [
    'calls of one turn without results',
    chatCompletions,
    (size) => [user, { role: 'assistant', tool_calls: list(size, toolCall) }],
  ],
  ['results without calls', chatCompletions, (size) => [user, ...list(size, toolMessage)]],
  [
    'results with messages in between',
    chatCompletions,
    (size) => [
      { role: 'assistant', tool_calls: list(size, toolCall) },
      ...flat(size, (at): Body[] => [user, toolMessage(at)]),
    ],
  ],
  [
    'calls and results by turns',
    chatCompletions,
    (size) => flat(size, (at): Body[] => [{ role: 'assistant', tool_calls: [toolCall(at)] }, toolMessage(at)]),
  ],
  ['system messages', chatCompletions, (size) => list(size, () => ({ role: 'system', content: [text, text] }))],
  [
    'details of reasoning',
    chatCompletions,
    (size) => [
      {
        role: 'assistant',
        content: 'a',
        reasoning_details: list(size, (at) => ({
          ...{ type: 'reasoning.text', format: 'anthropic-claude-v1', text: 't', signature: `s${at}` },
        })),
      },
    ],
  ],
  [
    'messages of the assistant in a row',
    messages,
    (size) => list(size, (at) => ({ role: 'assistant', content: [text, toolUse(at)] })),
  ],
  [
    'messages of the user in a row',
    messages,
    (size) => [user, ...list(size, (at) => ({ role: 'user', content: [toolResult(at)] }))],
  ],
  [
    'results with texts in between',
    messages,
    (size) => [
      { role: 'assistant', content: list(size, toolUse) },
      ...flat(size, (at): Body[] => [user, { role: 'user', content: [toolResult(at)] }]),
    ],
  ],
  ['parts of one message', messages, (size) => [{ role: 'user', content: list(size, () => text) }]],
];

const reference = { $ref: '#/$defs/A' };
const properties = (size: number): Body => Object.fromEntries(list(size, (at) => [`p${at}`, {}]));
const definition = (size: number): Body => ({
  $defs: { A: { properties: properties(size), required: Object.keys(properties(size)) } },
});

/** Schemas whose alternatives repeat a definition. */
const SCHEMAS: readonly (readonly [what: string, make: (size: number) => JsonObject])[] = [
  ['references to one definition', (size) => ({ anyOf: list(size, () => reference), ...definition(size) })],
  [
    'alternatives with a reference to one definition',
    (size) => ({ oneOf: list(size, () => ({ allOf: [reference] })), ...definition(size) }),
  ],
  [
    'nested alternatives with a reference to one definition',
    (size) => ({
      ...list(size, () => 0).reduce<JsonObject>((inner) => ({ anyOf: [reference, inner] }), {}),
      ...definition(size),
    }),
  ],
  [
    'references to a definition with a long description',
    (size) => ({
      anyOf: list(size, () => reference),
      $defs: { A: { properties: { a: { description: big(size * 10) } } } },
    }),
  ],
];

const chunk = (delta: Body) => JSON.stringify({ id: 'x', choices: [{ index: 0, delta }] });
const chat = (...tool_calls: Body[]) => chunk({ tool_calls });
const start = JSON.stringify({ type: 'message_start', message: { id: 'x' } });
const block = (index: number, content_block: Body) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, value: Body) => ({ type: 'content_block_delta', index, delta: value });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const item = (type: string, output_index: number, value: Body) => ({
  type: `response.${type}`,
  output_index,
  ...value,
});
const big = (size: number) => 'x'.repeat(size * 100);

/** Streams of a size that a provider may send, each frame's data. */
const STREAMS: readonly (readonly [what: string, format: Format, make: (size: number) => string[]])[] = [
  [
    'tool calls',
    chatCompletions,
    (size) => list(size, (index) => chat({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } })),
  ],
  [
    'tool calls of which each goes on after all have begun',
    chatCompletions,
    (size) =>
      [0, 1].flatMap((piece) =>
        list(size, (index) => chat({ index, id: `c${index}`, function: { name: 'f', arguments: piece ? '}' : '{' } })),
      ),
  ],
  [
    'pieces of arguments with the name in each and no index',
    chatCompletions,
    (size) => list(size, (at) => chat({ function: { name: 'f', arguments: at === 0 ? '[' : '{},' } })),
  ],
  [
    'pieces of broken arguments with the name in each and no index',
    chatCompletions,
    (size) =>
      ['[', ']', '{}', 'x'].flatMap((piece) => list(size, () => chat({ function: { name: 'f', arguments: piece } }))),
  ],
  [
    'details of reasoning',
    chatCompletions,
    (size) => list(size * 4, (index) => chunk({ reasoning_details: [{ type: 'reasoning.text', index, text: 't' }] })),
  ],
  [
    'reasoning, text and calls by turns',
    chatCompletions,
    (size) =>
      flat(size, (index) => [
        chunk({ reasoning: 'r', reasoning_details: [{ type: 'reasoning.text', text: 'r' }] }),
        chunk({ content: 't' }),
        chat({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } }),
      ]),
  ],
  [
    'blocks of calls that begin before the first one ends',
    messages,
    (size) => [
      start,
      ...[...list(size, (at) => block(at, toolUse(at))), ...list(size, stop)].map((value) => JSON.stringify(value)),
    ],
  ],
  [
    'ends of one block of a call',
    messages,
    (size) =>
      [block(0, { ...toolUse(0), input: { a: big(size) } }), ...list(size, () => stop(0))].map((value) =>
        JSON.stringify(value),
      ),
  ],
  [
    'signatures of one block',
    messages,
    (size) =>
      [
        block(0, { type: 'thinking', thinking: big(size) }),
        ...list(size, () => delta(0, { type: 'signature_delta', signature: 's' })),
      ].map((value) => JSON.stringify(value)),
  ],
  [
    'usage with another member each time',
    messages,
    (size) =>
      list(size, (at) =>
        JSON.stringify({ type: 'message_delta', delta: {}, usage: { output_tokens: 1, [`x${at}`]: 1 } }),
      ),
  ],
  [
    'items of calls that are never done',
    responses,
    (size) =>
      flat(size, (at) => [
        JSON.stringify(item('output_item.added', at, { item: call(at) })),
        JSON.stringify(item('function_call_arguments.delta', at, { delta: '{}' })),
      ]),
  ],
  [
    'items in an answer at the end',
    responses,
    (size) => [JSON.stringify({ type: 'response.completed', response: { id: 'x', output: list(size, call) } })],
  ],
  [
    'annotations',
    responses,
    (size) =>
      list(size, (at) =>
        JSON.stringify(item('output_text.annotation.added', 0, { annotation: { cited_text: `${at}` } })),
      ),
  ],
];

/** Forwards a stream like the gateway, to a client of each format. */
function translate(format: Format, frames: readonly string[]): void {
  const reader = format.streamReader();
  const events = [...frames.flatMap((data) => reader.read({ data })), ...reader.end()];
  for (const client of FORMAT_LIST) {
    writeFrames(client, events);
    // As a whole answer; an unfinished one is rejected.
    client.writeAnswer(CONTEXT, [
      ...events.filter(({ type }) => type !== 'finish'),
      { type: 'finish', reason: 'stop' },
    ]);
  }
}

describe('time of a request', () => {
  for (const [what, format, make] of REQUESTS) {
    it(`request: takes linear time in its number of ${what} (${format.name})`, () =>
      assertLinear(
        2_000,
        (size) => bodyOf(format, make(size)),
        (body) => carry(format, body),
      ));
  }

  for (const [what, make] of SCHEMAS) {
    it(`tool schemas: ten tools take linear time in their number of ${what}`, () =>
      assertLinear(
        100,
        (size): Conversation => ({ ...REQUEST, tools: list(10, (at) => ({ name: `f${at}`, parameters: make(size) })) }),
        (conversation) => bridgeTools(conversation, messages, false),
      ));
  }

  it('requestJson: takes linear time in the number of backslashes', () =>
    assertLinear(
      40_000,
      (size) => ({ text: `${'\\'.repeat(size)}\ud83d` }),
      (value) => requestJson(value),
    ));
});

describe('time of an answer', () => {
  for (const [what, format, make] of STREAMS) {
    it(`answer: takes linear time in its number of ${what} (${format.name})`, () =>
      assertLinear(2_000, make, (frames) => translate(format, frames)));
  }

  for (const end of ['\r', '\n', '\r\n']) {
    const lines = (size: number) => Buffer.from(`data: a${end}`.repeat(size));
    it(`answer: takes linear time in its number of lines that end with ${JSON.stringify(end)}`, () =>
      assertLinear(50_000, lines, (bytes) => [new SseDecoder().push(bytes), new NdjsonDecoder().push(bytes)]));
  }
});
