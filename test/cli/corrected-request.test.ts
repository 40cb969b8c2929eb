import assert from 'node:assert/strict';
import { ProjectFolder } from '../config/project-folder.ts';
import { streamFrames } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { svc } from './run-svc.ts';

/** Sources: NousResearch/hermes-agent#89339, ogx-ai/ogx#4534, vllm-project/vllm#20409. */
describe('a request that a server refuses for a reason that it names', () => {
  let folder: ProjectFolder;
  let upstream: Upstream;
  let refuse: (path: string, body: Record<string, unknown>) => { status: number; message: string } | undefined;
  beforeEach(async () => {
    folder = new ProjectFolder();
    upstream = await startUpstream(({ path, body }, response) => {
      const refused = refuse(path, body instanceof Object ? { ...body } : {});
      if (refused !== undefined) {
        response.writeHead(refused.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: refused.message } }));
        return;
      }
      response.setHeader('content-type', 'text/event-stream');
      response.end(
        streamFrames('chat', { text: ['ok'] })
          .map((frame) => `${frame}\n\n`)
          .join(''),
      );
    });
  });
  afterEach(async () => {
    await upstream.close();
    folder[Symbol.dispose]();
  });
  const chat = async (baseURL: string, model: object = {}) => {
    folder.global({ provider: { corp: { options: { baseURL }, models: { m: model } } } });
    return svc(folder, ['chat', '-m', 'corp/m', 'hello']);
  };
  const paths = () => upstream.requests.map(({ path }) => path);
  const limits = () =>
    upstream.requests.map(({ body }) => (body instanceof Object && 'max_tokens' in body ? body.max_tokens : 0));

  it('corrected request: an address without /v1 is tried with it, and remembered', async () => {
    refuse = (path) => (path.startsWith('/v1/') ? undefined : { status: 404, message: 'Not Found' });
    const address = upstream.url.replace('127.0.0.1', 'localhost');
    assert.equal((await chat(address)).out, 'ok\n');
    assert.deepEqual(paths(), ['/chat/completions', '/v1/chat/completions']);
    assert.equal((await chat(address)).out, 'ok\n');
    assert.deepEqual(paths().slice(2), ['/v1/chat/completions']);
  });

  it('corrected request: a model that the server lacks is reported in its own words', async () => {
    refuse = (path) => ({
      status: 404,
      message: path.startsWith('/v1/') ? 'Nothing here' : 'The model m does not exist',
    });
    const { code, err } = await chat(upstream.url);
    assert.equal(code, 1);
    assert.match(err, /The model m does not exist/);
    assert.deepEqual(paths(), ['/chat/completions', '/v1/chat/completions']);
    await chat(`${upstream.url}/api`);
    assert.deepEqual(paths().slice(2), ['/api/chat/completions']);
  });

  const words: Record<string, string> = {
    vLLM: "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 8192 tokens and your request has 25 input tokens (32000 > 8192 - 25).",
    OpenAI:
      'max_tokens is too large: 32000. This model supports at most 8167 completion tokens, whereas you provided 32000.',
    'OpenAI, of the window':
      "This model's maximum context length is 8192 tokens. However, you requested 32025 tokens (25 in the messages, 32000 in the completion). Please reduce the length of the messages or completion.",
    Anthropic: 'max_tokens: 32000 > 8167, which is the maximum allowed number of output tokens for m',
    DeepSeek: 'Invalid max_tokens value, the valid range of max_tokens is [1, 8167]',
    Groq: '`max_tokens` must be less than or equal to `8167`, the maximum value for `max_tokens` is less than the `context_window` for this model',
  };
  for (const [vendor, message] of Object.entries(words)) {
    it(`corrected request: too many output tokens in the words of ${vendor} are lowered once`, async () => {
      refuse = (_path, body) => (Number(body.max_tokens) > 8167 ? { status: 400, message } : undefined);
      assert.deepEqual(await chat(`${upstream.url}/v1`), { code: 0, out: 'ok\n', err: '' });
      assert.deepEqual(limits(), [32_000, 8_167]);
    });
  }

  it('corrected request: is sent once, and a prompt that is too long is not shortened', async () => {
    const refusals: readonly string[] = [
      'max_tokens is too large: 32000. This model supports at most 8000 completion tokens, whereas you provided 32000.',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    ];
    const sent: number[] = [];
    for (const message of refusals) {
      const before = upstream.requests.length;
      refuse = () => ({ status: 400, message });
      const { code, err } = await chat(`${upstream.url}/v1`);
      assert.equal(code, 1, err);
      sent.push(upstream.requests.length - before);
    }
    assert.deepEqual(sent, [2, 1]);
  });
});
