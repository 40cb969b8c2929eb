import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { ReceivedRequest } from '../upstream/upstream.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const CLIENTS = [
  { path: '/chat/completions', more: {}, field: 'messages' },
  { path: '/messages', more: { max_tokens: 50 }, field: 'messages' },
  { path: '/responses', more: {}, field: 'input' },
] as const;

/** Answers of the first model end with a reason; those of the second are complete. */
function answer(reason: string, text: string) {
  return ({ body, wire }: ReceivedRequest, response: ServerResponse) => {
    const first = body.model === 'up-m';
    const [said, end] = first ? [text, reason] : ['rescued', wire === 'messages' ? 'end_turn' : 'stop'];
    response.setHeader('content-type', body.stream === true ? 'text/event-stream' : 'application/json');
    if (wire === 'messages') {
      const content = said === '' ? [] : [{ type: 'text', text: said }];
      response.end(JSON.stringify({ type: 'message', content, stop_reason: end, usage: { input_tokens: 3 } }));
    } else if (body.stream === true) {
      const chunk = (delta: unknown, finish_reason: string | null) =>
        `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
      response.end(`${said === '' ? '' : chunk({ content: said }, null)}${chunk({}, end)}data: [DONE]\n\n`);
    } else {
      const message = { role: 'assistant', content: said };
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: end }] }));
    }
  };
}

describe('finish reasons through the gateway', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const { chat, messages } = providers(url);
        const other = (provider: unknown) => JSON.parse(JSON.stringify(provider).replace('"up-m"', '"other"'));
        return {
          provider: { chat, messages, 'chat-2': other(chat), 'messages-2': other(messages) },
          gateway: { fallback: { 'chat/m': ['chat-2/m'], 'messages/m': ['messages-2/m'] } },
        };
      },
    });
  });
  after(() => gateway.close());

  async function ask({ path, more, field }: (typeof CLIENTS)[number], model: string, stream: boolean) {
    const response = await gateway.post(path, { model, ...more, stream, [field]: [{ role: 'user', content: 'hi' }] });
    return { status: response.status, text: await response.text() };
  }

  for (const client of CLIENTS) {
    for (const reason of ['network_error', 'abort']) {
      it(`finish reasons: after ${reason} before any text, a fallback answers ${client.path}`, async () => {
        gateway.upstream.respond(answer(reason, ''));
        for (const stream of [false, true]) {
          const { status, text } = await ask(client, 'chat/m', stream);
          assert.equal(status, 200, text);
          assert.match(text, /rescued/);
        }
        assert.match((await ask(client, 'messages/m', false)).text, /rescued/);
      });
    }

    it(`finish reasons: a broken answer that has text is an error at the end of the stream: ${client.path}`, async () => {
      gateway.upstream.respond(answer('network_error', 'half'));
      const streamed = await ask(client, 'chat/m', true);
      assert.match(streamed.text, /half/);
      assert.match(streamed.text, /upstream|error/);
      assert.equal(/end_turn|response\.completed|\[DONE\]/.test(streamed.text), false, streamed.text);
      // A whole answer has not been sent yet.
      assert.match((await ask(client, 'chat/m', false)).text, /rescued/);
    });

    it(`finish reasons: a filtered or cut answer is not complete: ${client.path}`, async () => {
      for (const [reason, expected] of [
        ['sensitive', /content_filter|refusal|sensitive/],
        ['model_context_window_exceeded', /length|max_output_tokens|max_tokens|model_context_window_exceeded/],
        ['odd', /"odd"/],
      ] as const) {
        gateway.upstream.respond(answer(reason, 'half'));
        for (const stream of [false, true]) {
          const { text } = await ask(client, 'chat/m', stream);
          assert.match(text, expected);
          assert.equal(/end_turn|response\.completed|"created_at":\d+,"status":"completed"/.test(text), false, text);
        }
      }
    });
  }

  /** The first model sends chunks without output, then the end; the others are complete. */
  function afterRole(opening: readonly object[], end: string) {
    return (request: ReceivedRequest, response: ServerResponse) => {
      if (request.body.model !== 'up-m') return answer('stop', '')(request, response);
      const chunk = (delta: unknown, finish_reason: string | null) =>
        `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
      response.setHeader('content-type', 'text/event-stream');
      const frames = [...opening.map((delta) => chunk(delta, null)), end === '' ? '' : chunk({}, end)];
      const send = () => {
        const frame = frames.shift();
        if (frame === undefined) return void response.end(end === '' ? '' : 'data: [DONE]\n\n');
        response.write(frame, () => setImmediate(send));
      };
      send();
      return undefined;
    };
  }
  const ROLE = { role: 'assistant', content: '' };

  for (const client of CLIENTS) {
    for (const [what, opening, end] of [
      ['network_error after a chunk with the role', [ROLE], 'network_error'],
      ['network_error after empty chunks', [ROLE, { content: null, tool_calls: [] }, {}], 'network_error'],
      ['an unknown reason after a chunk with the role', [ROLE], 'peculiar'],
      ['the end of the connection after a chunk with the role', [ROLE], ''],
    ] as const) {
      it(`finish reasons: ${what}: a fallback answers ${client.path}`, async () => {
        gateway.upstream.respond(afterRole(opening, end));
        const { status, text } = await ask(client, 'chat/m', true);
        assert.deepEqual([status, text.includes('rescued')], [200, true], text);
        if (client.path === '/chat/completions') assert.doesNotMatch(text, /"role"/, 'nothing of the first answer');
      });
    }
  }

  it('finish reasons: an unknown reason of the same format is logged too', async () => {
    gateway.upstream.respond(answer('strange', 'half'));
    for (const stream of [false, true]) {
      await ask(CLIENTS[0], 'chat/m', stream);
      await ask(CLIENTS[1], 'messages/m', false);
    }
    for (const model of ['chat/m', 'messages/m']) {
      const lines = gateway.lines.filter((line) => line.includes(`"${model}"`) && line.includes('strange'));
      assert.equal(lines.length, 1, model);
    }
  });

  it('finish reasons: an unknown reason is logged once for each model', () => {
    const lines = gateway.lines.filter((line) => line.includes('reason that is not known') && line.includes('odd'));
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0] ?? '', /chat\/m.*odd/);
  });
});
