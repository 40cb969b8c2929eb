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

  it('finish reasons: an unknown reason is logged once for each model', () => {
    const lines = gateway.lines.filter((line) => line.includes('reason that is not known'));
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0] ?? '', /chat\/m.*odd/);
  });
});
