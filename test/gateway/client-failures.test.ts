import assert from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic from '@anthropic-ai/sdk';
import { type LanguageModel, streamText } from 'ai';
import OpenAI from 'openai';
import { streamFrames, type Wire } from '../upstream/answers.ts';
import type { ReceivedRequest } from '../upstream/upstream.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const UPSTREAMS = ['chat', 'messages', 'responses'] as const;

interface Question {
  readonly gateway: TestGateway;
  readonly model: string;
  readonly prompt: string;
  /** Called with each piece of text that the client shows. */
  readonly show: (text: string) => void;
}
/** The finish reason that the client reports. @throws the error of the client or of its error callback. */
type Client = (question: Question) => Promise<unknown>;

const options = ({ gateway }: Question, path = '/v1') => ({ baseURL: gateway.url + path, apiKey: KEY, maxRetries: 0 });

const aiSdk =
  (face: (question: Question) => LanguageModel): Client =>
  async (question) => {
    const errors: unknown[] = [];
    const onError = ({ error }: { error: unknown }) => void errors.push(error);
    const { prompt, show } = question;
    const answer = streamText({ model: face(question), prompt, maxOutputTokens: 100, maxRetries: 0, onError });
    for await (const piece of answer.textStream) show(piece);
    if (errors.length === 0) return answer.finishReason;
    assert.equal(await answer.finishReason, 'error');
    throw errors[0];
  };

const CLIENTS: Readonly<Record<string, Client>> = {
  'openai, Chat Completions': async (question) => {
    const { model, prompt, show } = question;
    const messages = [{ role: 'user' as const, content: prompt }];
    const stream = new OpenAI(options(question)).chat.completions.stream({ model, messages });
    stream.on('content', show);
    return (await stream.finalChatCompletion()).choices[0]?.finish_reason;
  },
  'openai, Responses': async (question) => {
    const { model, prompt, show } = question;
    const stream = new OpenAI(options(question)).responses.stream({ model, input: prompt });
    stream.on('response.output_text.delta', ({ delta }) => show(delta));
    return (await stream.finalResponse()).status;
  },
  '@anthropic-ai/sdk': async (question) => {
    const { model, prompt, show } = question;
    const messages = [{ role: 'user' as const, content: prompt }];
    const stream = new Anthropic(options(question, '')).messages.stream({ model, max_tokens: 100, messages });
    stream.on('text', show);
    return (await stream.finalMessage()).stop_reason;
  },
  '@ai-sdk/openai, chat': aiSdk((question) => createOpenAI(options(question)).chat(question.model)),
  '@ai-sdk/openai, responses': aiSdk((question) => createOpenAI(options(question)).responses(question.model)),
  '@ai-sdk/openai-compatible': aiSdk((question) =>
    createOpenAICompatible({ name: 'svc', ...options(question) })(question.model),
  ),
  '@ai-sdk/anthropic': aiSdk((question) => createAnthropic(options(question))(question.model)),
};

/** The error events of the vendors within a stream. */
const ERROR_FRAME: Readonly<Record<string, string>> = {
  chat: 'data: {"error":{"message":"The engine overheated.","type":"server_error","code":"overheated"}}',
  messages:
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"The engine overheated."}}',
  responses:
    'event: error\ndata: {"type":"error","code":"server_error","message":"The engine overheated.","param":null,"sequence_number":9}',
};

/** The fault of the upstream after its first text, and the expected error text. */
const FAULTS = {
  'sends an error': /The engine overheated\./,
  'resets the connection': /closed the connection before the answer was complete/,
  'ends the connection': /closed the connection before the answer was complete/,
  'sends nothing more': /sent nothing for 1 s/,
} as const;

const begun = (wire: Wire) => {
  const frames = streamFrames(wire, { text: ['Hello', ', wörld ', '👋.'] });
  return joined(frames.slice(0, frames.findIndex((frame) => frame.includes('wörld')) + 1));
};
const joined = (frames: readonly string[]) => frames.map((frame) => `${frame}\n\n`).join('');

describe('interrupted answers in each client', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const hasty = Object.entries(providers(url)).map(([id, provider]) => {
          const { options: own, ...rest } = JSON.parse(JSON.stringify(provider));
          return [`hasty-${id}`, { ...rest, options: { ...own, chunkTimeout: 1_000 } }];
        });
        return { provider: { ...providers(url), ...Object.fromEntries(hasty) } };
      },
    });
  });
  after(() => gateway.close());

  /** The text and the error of one client. `shown` is called when it has shown the first text. */
  async function ask(name: string, model: string, shown?: (name: string) => void) {
    let text = '';
    const show = (piece: string) => {
      text += piece;
      if (text.includes('wörld')) shown?.(name);
    };
    const client = CLIENTS[name] ?? assert.fail(name);
    try {
      const finish = await client({ gateway, model, prompt: `Hi [[client:${name}]]`, show });
      return { text, finish, error: undefined };
    } catch (error) {
      return { text, finish: undefined, error };
    }
  }
  const clientOf = ({ bytes }: ReceivedRequest) => /\[\[client:([^\]]+)\]\]/.exec(bytes.toString('utf8'))?.[1] ?? '';

  for (const up of UPSTREAMS) {
    for (const [fault, words] of Object.entries(FAULTS)) {
      it(`interrupted answer: clients show the received text and the reason if a ${up} upstream ${fault}`, async () => {
        const waits = new Map(Object.keys(CLIENTS).map((name) => [name, Promise.withResolvers<void>()]));
        gateway.upstream.respond(async (request, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun(request.wire));
          if (fault === 'sends an error') response.end(`${ERROR_FRAME[request.wire]}\n\n`);
          if (fault === 'ends the connection') response.end();
          if (fault !== 'resets the connection') return;
          // A reset discards unread data.
          await waits.get(clientOf(request))?.promise;
          response.socket?.resetAndDestroy();
        });
        const model = `${fault === 'sends nothing more' ? 'hasty-' : ''}${up}/m`;
        const check = async (name: string) => {
          const { text, finish, error } = await ask(name, model, () => waits.get(name)?.resolve());
          assert.deepEqual([text, finish], ['Hello, wörld ', undefined], name);
          assert.match(messageOf(error), words, name);
        };
        await Promise.all(Object.keys(CLIENTS).map(check));
      });
    }
  }

  it('ending: an answer with [DONE] but without a finish reason is complete in each client', async () => {
    gateway.upstream.respond(({ wire }, response) => {
      assert.equal(wire, 'chat');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`${begun(wire)}data: [DONE]\n\n`);
    });
    for (const name of Object.keys(CLIENTS)) {
      const { text, finish, error } = await ask(name, 'chat/m');
      assert.deepEqual([text, error], ['Hello, wörld ', undefined], name);
      assert.match(String(finish), /^(?:stop|completed|end_turn)$/, name);
    }
  });

  // As Python writes JSON, with spaces.
  for (const [what, deltas, expected] of [
    ['text with a null', ['{"content": "Hi", "tool_calls": null}'], 'stop'],
    ['text with an empty list', ['{"content": "Hi", "tool_calls": [ ]}'], 'stop'],
    [
      'a call',
      ['{"tool_calls": [ {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]}'],
      'tool_calls',
    ],
  ] as const) {
    it(`ending: clients receive a finish reason that a chat upstream omits: ${what}`, async () => {
      gateway.upstream.respond((_request, response) => {
        const chunks = deltas.map((delta) => `{"id": "x", "choices": [{"index": 0, "delta": ${delta}}]}`);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(joined([...chunks, '[DONE]'].map((data) => `data: ${data}`)));
      });
      const answer = await gateway.post('/chat/completions', {
        model: 'chat/m',
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      });
      const frames = (await answer.text()).trim().split('\n\n');
      assert.equal(frames.length, deltas.length + 2);
      const { id, choices } = JSON.parse(frames.at(-2)?.slice(6) ?? '');
      assert.deepEqual([id, choices], ['x', [{ index: 0, delta: {}, finish_reason: expected }]]);
    });
  }
});

/** The AI SDK and, for a vendor's own event, openai pass a plain object. */
function messageOf(error: unknown): string {
  assert.ok(typeof error === 'object' && error !== null && 'message' in error, String(error));
  return String(error.message);
}
