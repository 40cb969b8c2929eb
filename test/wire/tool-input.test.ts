import assert from 'node:assert/strict';
import { parseBody } from '../../src/gateway/http/request-body.ts';
import { TranslatingTransform } from '../../src/gateway/relay/translating-transform.ts';
import { converse } from '../../src/provider/converse.ts';
import { fetchTransport } from '../../src/provider/transport/fetch-transport.ts';
import type { Event } from '../../src/wire/event.ts';
import { foldEvents } from '../../src/wire/fold.ts';
import type { FormatName } from '../../src/wire/format-name.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { restoreToolInputs, toolInput } from '../../src/wire/messages/tool-input.ts';
import { assertLinear } from '../linear-time.ts';
import { ask, modelAt } from '../provider/test-model.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { CONTEXT, readEvents } from './format-pairs.ts';

const INPUT = '{"id":1234567890123456789}';
const TEXT = JSON.stringify(INPUT);
const BLOCK = `{"type":"tool_use","id":"c","name":"f","input":${INPUT}}`;
const MESSAGES_ANSWER = `{"type":"message","role":"assistant","content":[${BLOCK}],"stop_reason":"tool_use"}`;
const CHAT_CALLS = `"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${TEXT}}}]`;
const CHAT_ANSWER = `{"choices":[{"index":0,"message":{"role":"assistant",${CHAT_CALLS}},"finish_reason":"tool_calls"}]}`;
const RESPONSES_CALL = `{"type":"function_call","call_id":"c","name":"f","arguments":${TEXT}}`;

const REQUESTS: Readonly<Record<FormatName, string>> = {
  'chat-completions': `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant",${CHAT_CALLS}}]}`,
  responses: `{"model":"m","input":[{"role":"user","content":"q"},${RESPONSES_CALL}]}`,
  messages: `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","content":[${BLOCK}]}]}`,
};

const ANSWERS: Readonly<Record<FormatName, string>> = {
  'chat-completions': CHAT_ANSWER,
  responses: `{"status":"completed","output":[${RESPONSES_CALL}]}`,
  messages: MESSAGES_ANSWER,
};

/** The call as JSON in each format. */
const CALLS: Readonly<Record<FormatName, string>> = {
  'chat-completions': `"arguments":${TEXT}`,
  responses: `"arguments":${TEXT}`,
  messages: `"input":${INPUT}`,
};

function assertIncludes(text: string, part: string): void {
  assert.ok(text.includes(part), text);
}

describe('numbers of many digits in the input of a tool', () => {
  const unchanged = [
    '{"a":1234567890123456789}',
    '{"a":-9007199254740993,"b":[0.1234567890123456789,{"c":[[],1.00000000000000000001]}]}',
    '{"a":"1234567890123456789, \\"{[","b\\"":12345678901234567890}',
    '{"__proto__":{"a":1234567890123456789}}',
    '{"a":123456789012345678901234567890e-5,"b":9007199254740991,"c":0.1,"d":true,"e":null}',
  ];
  for (const json of unchanged) {
    it(`tool input: ${json} does not change`, () => assert.equal(JSON.stringify(toolInput(json)), json));
  }

  it('tool input: of two members with one name, the second counts', () => {
    const json = '{"a":[1234567890123456789],"a":{"b":1},"c":1234567890123456789,"c":5}';
    assert.equal(JSON.stringify(toolInput(json)), '{"a":{"b":1},"c":5}');
  });

  it('tool input: numbers outside of an input remain numbers', () => {
    const json = `{"seed":1234567890123456789,"messages":[{"role":"assistant","content":[${BLOCK}]}]}`;
    const body = JSON.parse(json);
    restoreToolInputs(body, json);
    assert.equal(typeof body.seed, 'number');
    assert.deepEqual(Object.keys(body.messages[0].content[0]), ['type', 'id', 'name', 'input']);
  });

  for (const from of Object.values(FORMATS)) {
    for (const to of Object.values(FORMATS)) {
      if (from.name !== 'messages' && to.name !== 'messages') continue;
      it(`tool input: keeps long numbers of a request from ${from.name} to ${to.name}`, () => {
        const { value } = parseBody(Buffer.from(REQUESTS[from.name]));
        assertIncludes(JSON.stringify(to.writeRequest(from.readRequest(value))), CALLS[to.name]);
      });

      it(`tool input: keeps long numbers of a whole answer from ${from.name} to ${to.name}`, () => {
        const transform = new TranslatingTransform(from, to, CONTEXT, true);
        assertIncludes(transform.whole(Buffer.from(ANSWERS[from.name])).toString(), CALLS[to.name]);
      });
    }
  }

  it('tool input: keeps long numbers in the start of a streamed block', () => {
    const events = readEvents(FORMATS.messages, [
      'data: {"type":"message_start","message":{"id":"m"}}',
      `data: {"type":"content_block_start","index":0,"content_block":${BLOCK}}`,
      'data: {"type":"content_block_stop","index":0}',
      'data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
    ]);
    assert.deepEqual(foldEvents(events).parts, [{ type: 'tool-call', id: 'c', name: 'f', arguments: INPUT }]);
  });

  it('tool input: keeps long numbers of an answer that a provider does not stream', async () => {
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(MESSAGES_ANSWER);
    });
    const events: Event[] = [];
    const options = { transport: fetchTransport(fetch), signal: new AbortController().signal };
    const model = modelAt(`${upstream.url}/v1`, { format: 'messages', kind: 'anthropic' });
    for await (const event of converse(model, ask('q'), options)) events.push(event);
    await upstream.close();
    assert.deepEqual(foldEvents(events).parts, [{ type: 'tool-call', id: 'c', name: 'f', arguments: INPUT }]);
  });

  it('tool input: thousands of long numbers take linear time', () =>
    assertLinear(
      20_000,
      (size) => `{"a":[${Array.from({ length: size }, () => '{"b":1234567890123456789}').join()}]}`,
      toolInput,
    ));
});
