import assert from 'node:assert/strict';
import { objectOrEmpty } from '../../src/base/json.ts';
import { streamFrames, wholeBody } from '../upstream/answers.ts';
import { play } from '../upstream/scenarios.ts';
import { type Client, readStream, readWhole } from './client-answers.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const TEXT = ['<thi', 'nk>\nI think.\n</thin', 'k>\n\nThe ans', 'wer is 4.'];
const CLIENTS: Readonly<Record<Client, { readonly path: string; readonly request: object }>> = {
  chat: { path: '/v1/chat/completions', request: { messages: [{ role: 'user', content: 'q' }] } },
  responses: { path: '/v1/responses', request: { input: 'q' } },
  messages: { path: '/v1/messages', request: { max_tokens: 100, messages: [{ role: 'user', content: 'q' }] } },
};

describe('reasoning in the text of an upstream', () => {
  let gateway: TestGateway;
  before(async () => {
    const models = { m: {} };
    gateway = await startTestGateway({
      config: (url) => ({
        provider: {
          ollama: { options: { baseURL: `${url}/v1` }, models: { m: {}, 'gpt-oss:20b': {} } },
          on: { options: { baseURL: `${url}/v1`, reasoningTags: true }, models },
          off: { options: { baseURL: `${url}/v1`, reasoningTags: false }, models },
          plain: { options: { baseURL: `${url}/v1` }, models },
          family: { options: { baseURL: `${url}/v1` }, models: { 'deepseek-r1': {}, 'openai/gpt-oss-20b': {} } },
        },
      }),
    });
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  async function answer(client: Client, model: string, stream: boolean, text = TEXT): Promise<string> {
    gateway.upstream.respond((request, response) => {
      if (request.wire !== 'chat') return play(request, response);
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      response.end(
        stream ? `${streamFrames('chat', { text }).join('\n\n')}\n\n` : JSON.stringify(wholeBody('chat', { text })),
      );
      return undefined;
    });
    const { path, request } = CLIENTS[client];
    const response = await gateway.post(path, { model, stream, ...request });
    const body = await response.text();
    assert.equal(response.status, 200, body);
    return JSON.stringify(stream ? readStream(client, body) : readWhole(client, objectOrEmpty(JSON.parse(body))));
  }

  for (const client of ['chat', 'responses', 'messages'] as const) {
    for (const stream of [true, false]) {
      const how = `${client}, ${stream ? 'streamed' : 'whole'}`;
      it(`reasoning tags: ${how}: channels of gpt-oss without special tokens are reasoning, text of other models`, async () => {
        const text = ['ana', 'lysisI think.assistant', 'finalThe ans', 'wer is 4.'];
        for (const model of ['ollama/gpt-oss:20b', 'family/openai/gpt-oss-20b']) {
          const read = await answer(client, model, stream, text);
          assert.match(read, /(?:thinking|reasoning_content|text)":"I think\."/, model);
          assert.match(read, /(?:text|content)":"The answer is 4\."/, model);
        }
        assert.match(await answer(client, 'ollama/m', stream, text), /analysisI think\.assistantfinalThe/);
      });

      it(`reasoning tags: ${how}: it is reasoning for the client`, async () => {
        for (const model of ['ollama/m', 'on/m', 'family/deepseek-r1']) {
          const read = await answer(client, model, stream);
          assert.doesNotMatch(read, /think>/, model);
          assert.match(read, /(?:thinking|reasoning_content|text)":"I think\."/, model);
          assert.match(read, /(?:text|content)":"The answer is 4\."/, model);
        }
      });

      it(`reasoning tags: ${how}: it is text if that is turned off`, async () => {
        assert.match(await answer(client, 'off/m', stream), /"<think>\\nI think\.\\n<\/think>\\n\\nThe answer is 4\."/);
      });

      it(`reasoning tags: ${how}: a template that has the opening tag`, async () => {
        const read = await answer(client, 'family/deepseek-r1', stream, [
          'I think.\n',
          '</th',
          'ink>\n\nThe answer is 4.',
        ]);
        assert.match(read, /(?:thinking|reasoning_content|text)":"I think\."/);
        assert.match(read, /(?:text|content)":"The answer is 4\."/);
      });
    }
  }

  it('reasoning tags: an unknown server’s answer in its own format is forwarded as it is', async () => {
    assert.match(await answer('chat', 'plain/m', true), /<think>/);
    assert.doesNotMatch(await answer('messages', 'plain/m', true), /<think>/);
  });
});
