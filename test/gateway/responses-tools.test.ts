import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { streamFrames, type Wire, wholeBody } from '../upstream/answers.ts';
import type { Responder } from '../upstream/upstream.ts';
import { readError } from './chat-request.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const PATCH = '*** Begin Patch\n*** Update File: a.ts\n-"old\\n"\n+"näw 👋"\n*** End Patch\n';
const GRAMMAR = 'start: begin_patch hunk+ end_patch';
const EMPTY = { type: 'object', properties: {} };

const shell = { type: 'function', name: 'shell', parameters: EMPTY, strict: false };
const applyPatch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: GRAMMAR },
};
const calendar = {
  type: 'namespace',
  name: 'calendar',
  description: 'Appointments.',
  tools: [{ type: 'function', name: 'create', parameters: EMPTY }],
};
const TOOLS = [
  shell,
  applyPatch,
  calendar,
  { type: 'web_search' },
  { type: 'tool_search' },
  { type: 'image_generation' },
];
const added = {
  type: 'additional_tools',
  role: 'developer',
  tools: [{ type: 'function', name: 'later', parameters: EMPTY }],
};

/** Answers with calls of all three kinds, by the names of the functions that it was sent. */
const callAll: Responder = ({ body, wire }, response) => {
  const tools = [
    { id: 'call_1', name: 'shell', arguments: ['{}'] },
    { id: 'call_2', name: 'apply_patch', arguments: pieces(JSON.stringify({ input: PATCH })) },
    { id: 'call_3', name: 'calendar__create', arguments: ['{"day":', '1}'] },
  ];
  answer(wire, { tools }, body.stream === true, response);
};

function answer(wire: Wire, script: object, stream: boolean, response: Parameters<Responder>[1]): void {
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(wholeBody(wire, script)));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const frame of streamFrames(wire, script)) response.write(`${frame}\n\n`);
  response.end();
}

/** The text in pieces that split escape sequences. */
function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}

describe('tools that only Responses has', () => {
  let gateway: TestGateway;
  let client: OpenAI;

  before(async () => {
    gateway = await startTestGateway();
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  });
  after(() => gateway.close());
  beforeEach(() => {
    gateway.upstream.respond(callAll);
    gateway.upstream.forget();
  });

  const post = (model: string, over: object = {}) =>
    gateway.post('/v1/responses', { model, input: [added, { role: 'user', content: 'q' }], tools: TOOLS, ...over });
  const sentTools = async () => {
    const { body } = await gateway.upstream.request(0);
    const tools = Array.isArray(body.tools) ? body.tools : assert.fail();
    return new Map(tools.map((tool) => [tool.function?.name ?? tool.name, tool.function ?? tool]));
  };

  for (const model of ['chat/m', 'messages/m']) {
    it(`Responses tools: ${model}: namespaces, custom tools and additional tools are sent as functions`, async () => {
      assert.equal((await post(model)).status, 200);
      const tools = await sentTools();
      assert.deepEqual([...tools.keys()], ['shell', 'apply_patch', 'calendar__create', 'later']);
      const patch = tools.get('apply_patch');
      const schema = patch.parameters ?? patch.input_schema;
      assert.deepEqual(schema.properties, { input: { type: 'string' } });
      assert.match(patch.description, /^Edits files\.[\s\S]*lark[\s\S]*start: begin_patch/);
    });

    it(`Responses tools: ${model}: tools of the vendor are left out with a Warning header`, async () => {
      const response = await post(model);
      assert.equal(
        response.headers.get('warning'),
        '299 svc "Not sent to this model, because only their vendor runs them: web_search, tool_search, image_generation"',
      );
      assert.equal((await post(model, { tools: [shell] })).headers.get('warning'), null);
    });

    it(`Responses tools: ${model}: a choice that demands a tool of the vendor is refused`, async () => {
      const search = [{ type: 'web_search' }];
      for (const [over, param] of [
        [{ tool_choice: { type: 'web_search' } }, 'tool_choice'],
        [{ tool_choice: 'required', tools: search, input: 'q' }, 'tools.0.type'],
        [{ tool_choice: { type: 'allowed_tools', mode: 'required', tools: search } }, 'tool_choice'],
      ] as const) {
        const response = await post(model, over);
        const { error, error_type } = await readError(response);
        assert.deepEqual([response.status, error_type, error.param], [400, 'unsupported_field', param]);
      }
    });

    for (const stream of [false, true]) {
      it(`Responses tools: ${model}: calls come back as the client's own, stream ${stream}`, async () => {
        const request = { model, input: 'q', tools: TOOLS as OpenAI.Responses.Tool[] };
        const seen: Record<string, string> = {};
        const response = stream
          ? await client.responses
              .stream(request)
              .on('event', (event) => {
                if (event.type !== 'response.custom_tool_call_input.delta') return;
                seen[event.item_id] = (seen[event.item_id] ?? '') + event.delta;
              })
              .finalResponse()
          : await client.responses.create(request);
        const calls = response.output.map((item) => {
          if (item.type === 'custom_tool_call') return [item.type, item.call_id, item.name, item.input];
          assert.ok(item.type === 'function_call');
          return [item.type, item.call_id, item.namespace, item.name, item.arguments];
        });
        assert.deepEqual(calls, [
          ['function_call', 'call_1', undefined, 'shell', '{}'],
          ['custom_tool_call', 'call_2', 'apply_patch', PATCH],
          ['function_call', 'call_3', 'calendar', 'create', '{"day":1}'],
        ]);
        if (stream) assert.deepEqual(Object.values(seen), [PATCH]);
      });
    }

    it(`Responses tools: ${model}: the history of the calls is sent as calls of the functions`, async () => {
      const input = [
        { role: 'user', content: 'q' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'custom_tool_call', call_id: 'call_2', name: 'apply_patch', input: PATCH },
        { type: 'function_call', call_id: 'call_3', namespace: 'calendar', name: 'create', arguments: '{"day":1}' },
        { type: 'custom_tool_call_output', call_id: 'call_2', output: 'Done' },
        { type: 'function_call_output', call_id: 'call_3', output: 'Made' },
      ];
      assert.equal((await post(model, { input })).status, 200);
      const { body } = await gateway.upstream.request(0);
      const messages = Array.isArray(body.messages) ? body.messages : assert.fail();
      const calls = messages.flatMap((message): unknown[] => [
        ...(message.tool_calls ?? []).map((call: { function: { name: string; arguments: string } }) => [
          call.function.name,
          JSON.parse(call.function.arguments),
        ]),
        ...(message.role === 'assistant' && Array.isArray(message.content) ? message.content : [])
          .filter((block: { type: string }) => block.type === 'tool_use')
          .map((block: { name: string; input: unknown }) => [block.name, block.input]),
      ]);
      assert.deepEqual(calls, [
        ['apply_patch', { input: PATCH }],
        ['calendar__create', { day: 1 }],
      ]);
      assert.ok(JSON.stringify(messages).includes('Done'));
    });

    it(`Responses tools: ${model}: a choice between some of the tools sends only these`, async () => {
      const tools = [
        { type: 'function', name: 'shell' },
        { type: 'custom', name: 'apply_patch' },
      ];
      const tool_choice = { type: 'allowed_tools', mode: 'required', tools };
      assert.equal((await post(model, { tool_choice })).status, 200);
      assert.deepEqual([...(await sentTools()).keys()], ['shell', 'apply_patch']);
      const { body } = await gateway.upstream.request(0);
      assert.deepEqual(body.tool_choice, model === 'chat/m' ? 'required' : { type: 'any' });
    });
  }

  it('Responses tools: a Responses upstream receives all of them unchanged', async () => {
    const response = await post('responses/m');
    const { body } = await gateway.upstream.request(0);
    assert.deepEqual(body.tools, TOOLS);
    assert.equal(response.headers.get('warning'), null);
  });

  it('vendor tools of Messages: are left out with a Warning header, and refused if the choice demands them', async () => {
    const request = { max_tokens: 50, messages: [{ role: 'user', content: 'q' }] };
    const tools = [
      { type: 'web_search_20250305', name: 'web_search' },
      { name: 'f', input_schema: EMPTY },
    ];
    for (const model of ['chat/m', 'responses/m']) {
      gateway.upstream.forget();
      const response = await gateway.post('/v1/messages', { ...request, model, tools });
      assert.match(response.headers.get('warning') ?? '', /^299 svc ".*: web_search_20250305"$/);
      assert.deepEqual([...(await sentTools()).keys()], ['f']);
      const tool_choice = { type: 'tool', name: 'web_search' };
      const refused = await gateway.post('/v1/messages', { ...request, model, tools, tool_choice });
      assert.equal((await readError(refused)).error_type, 'unsupported_field');
    }
  });

  it('Warning header: contains no characters of a tool’s type that end a header', async () => {
    const response = await post('chat/m', { tools: [shell, { type: 'a"\r\nx: y\u2028\\b' }] });
    assert.match(response.headers.get('warning') ?? '', /: ax: yb"$/);
  });

  describe('custom tools of Chat Completions', () => {
    const custom = {
      type: 'custom',
      custom: { name: 'apply_patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: GRAMMAR } } },
    };
    const history = [
      { role: 'user', content: 'q' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_9', type: 'custom', custom: { name: 'apply_patch', input: PATCH } }],
      },
      { role: 'tool', tool_call_id: 'call_9', content: 'Done' },
    ];

    it('custom tools: Chat Completions to Responses: tool, choice, call and result are custom there too', async () => {
      const tool_choice = { type: 'custom', custom: { name: 'apply_patch' } };
      await gateway.post('/v1/chat/completions', {
        model: 'responses/m',
        messages: history,
        tools: [custom],
        tool_choice,
      });
      const { body } = await gateway.upstream.request(0);
      assert.deepEqual(body.tools, [
        { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: GRAMMAR } },
      ]);
      assert.deepEqual(body.tool_choice, { type: 'custom', name: 'apply_patch' });
      assert.deepEqual(Array.isArray(body.input) && body.input.slice(1), [
        { type: 'custom_tool_call', call_id: 'call_9', name: 'apply_patch', input: PATCH },
        { type: 'custom_tool_call_output', call_id: 'call_9', output: 'Done' },
      ]);
    });

    it('custom tools: Chat Completions to Responses: some of the tools are allowed there too', async () => {
      const tools = [{ type: 'custom', custom: { name: 'apply_patch' } }];
      const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } };
      await gateway.post('/v1/chat/completions', {
        model: 'responses/m',
        messages: history,
        tools: [custom],
        tool_choice,
      });
      const { body } = await gateway.upstream.request(0);
      const allowed = [{ type: 'custom', name: 'apply_patch' }];
      assert.deepEqual(body.tool_choice, { type: 'allowed_tools', mode: 'auto', tools: allowed });
    });

    for (const model of ['responses/m', 'messages/m']) {
      for (const stream of [false, true]) {
        it(`custom tools: ${model} to Chat Completions: calls are custom, stream ${stream}`, async () => {
          gateway.upstream.respond(({ wire }, response) => {
            const call = { id: 'call_2', name: 'apply_patch', arguments: pieces(JSON.stringify({ input: PATCH })) };
            if (wire === 'messages') return answer(wire, { tools: [call] }, stream, response);
            return answerCustom(stream, response);
          });
          const response = await gateway.post('/v1/chat/completions', {
            model,
            stream,
            messages: [{ role: 'user', content: 'q' }],
            tools: [custom],
          });
          const text = await response.text();
          const expected = { id: 'call_2', type: 'custom', name: 'apply_patch', input: PATCH };
          if (!stream) {
            const [{ message, finish_reason }] = JSON.parse(text).choices;
            const [{ id, type, custom: made }] = message.tool_calls;
            assert.deepEqual({ id, type, ...made }, expected);
            assert.equal(finish_reason, 'tool_calls');
            return;
          }
          const deltas = [...text.matchAll(/^data: (\{.*)$/gm)].flatMap(
            ([, json = '']) => JSON.parse(json).choices[0]?.delta?.tool_calls ?? [],
          );
          const [{ id, type, custom: first }] = deltas;
          const input = deltas.map((delta) => delta.custom.input).join('');
          assert.deepEqual({ id, type, name: first.name, input }, expected);
        });
      }
    }
  });
});

function answerCustom(stream: boolean, response: Parameters<Responder>[1]): void {
  const item = { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_2', name: 'apply_patch', input: PATCH };
  const whole = { id: 'resp_1', status: 'completed', output: [item] };
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    return;
  }
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
    ...pieces(PATCH).map((delta) => ({ type: 'response.custom_tool_call_input.delta', output_index: 0, delta })),
    { type: 'response.custom_tool_call_input.done', output_index: 0, input: PATCH },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}
