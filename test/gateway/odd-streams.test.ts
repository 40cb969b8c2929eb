import assert from 'node:assert/strict';
import { type Script, streamFrames, wholeBody } from '../upstream/answers.ts';
import { play } from '../upstream/scenarios.ts';
import { providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { FORMATS, UPSTREAMS } from './many-providers.ts';

const ANSWER: Script = { text: ['Hel', 'lo'] };
const VENDOR_TOOLS = {
  '/chat/completions': { type: 'web_search' },
  '/responses': { type: 'web_search' },
  '/messages': { type: 'web_search_20250305', name: 'web_search' },
} as const;
const FUNCTIONS = {
  '/chat/completions': { type: 'function', function: { name: 'f', parameters: { type: 'object' } } },
  '/responses': { type: 'function', name: 'f', parameters: { type: 'object' } },
  '/messages': { name: 'f', input_schema: { type: 'object' } },
} as const;

describe('odd streams and tools', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: providers(url),
        gateway: { fallback: { 'responses/m': ['chat/m'], 'chat/m': ['messages/m'], 'messages/m': ['chat/m'] } },
      }),
    });
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  async function ask(path: string, model: string, body: object) {
    const response = await gateway.post(path, { model, ...body });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  }
  const said = (text: string) => text.replaceAll(/[^A-Za-z]/g, '').includes('Hello') || /Hel[\s\S]*lo/.test(text);

  for (const upstream of UPSTREAMS) {
    for (const { path, body } of FORMATS) {
      it(`odd streams: ${path} over ${upstream}: stream or whole is known by the body, not by its content type`, async () => {
        for (const asked of [true, false]) {
          for (const sent of ['stream', 'whole']) {
            for (const type of ['application/json', 'text/event-stream', 'text/plain', undefined]) {
              gateway.upstream.respond(({ wire }, response) => {
                if (type !== undefined) response.setHeader('content-type', type);
                const frames = streamFrames(wire, ANSWER).join('\n\n').concat('\n\n');
                response.end(sent === 'stream' ? frames : JSON.stringify(wholeBody(wire, ANSWER)));
              });
              const what = `asked for ${asked ? 'a stream' : 'a whole answer'}, sent ${sent} as ${type}`;
              const answer = await ask(path, `${upstream}/m`, { ...body, stream: asked });
              assert.equal(answer.status, 200, `${what}: ${answer.text}`);
              assert.equal(answer.type?.startsWith(asked ? 'text/event-stream' : 'application/json'), true, what);
              assert.ok(said(answer.text), `${what}: ${answer.text}`);
            }
          }
        }
      });

      it(`odd streams: ${path} over ${upstream}: tools that are no list are refused`, async () => {
        for (const tools of ['x', { type: 'function' }, 1, ['x'], [null]]) {
          const { status, text } = await ask(path, `${upstream}/m`, { ...body, tools });
          assert.equal(status, 400, text);
          assert.match(text, /`tools/);
        }
        assert.equal((await ask(path, `${upstream}/m`, { ...body, tools: null })).status, 200);
      });

      it(`odd streams: ${path} over ${upstream}: a tool of the vendor alone is refused by its name`, async () => {
        const own = FORMATS.find((format) => format.path === path)?.own === upstream;
        const vendor = VENDOR_TOOLS[path];
        const alone = await ask(path, `${upstream}/m`, { ...body, tools: [vendor] });
        assert.equal(alone.status, own ? 200 : 400, alone.text);
        if (!own) assert.match(alone.text, new RegExp(`\\b${vendor.type}\\b`));
        const beside = await ask(path, `${upstream}/m`, { ...body, tools: [vendor, FUNCTIONS[path]] });
        assert.equal(beside.status, 200, beside.text);
      });

      it(`odd streams: ${path} over ${upstream}: the usage of a fallback reaches the client`, async () => {
        for (const stream of [true, false]) {
          let first = true;
          gateway.upstream.respond((request, response) => {
            if (!first) return play(request, response);
            first = false;
            response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}');
            return undefined;
          });
          const { text } = await ask(path, `${upstream}/m`, { ...body, stream });
          assert.match(text, /"(prompt|input)_tokens":11\b/);
          assert.match(text, /"(completion|output)_tokens":7\b/);
        }
      });
    }
  }

  for (const { path, body } of FORMATS) {
    it(`odd streams: ${path}: a Messages stream without content_block_start keeps its text and its thinking`, async () => {
      const frames = (deltas: readonly object[]) => [
        { type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } },
        ...deltas.map((delta, index) => ({ type: 'content_block_delta', index, delta })),
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ];
      const send = (deltas: readonly object[]) =>
        gateway.upstream.respond((_, response) => {
          response.setHeader('content-type', 'text/event-stream');
          response.end(
            frames(deltas)
              .map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`)
              .join(''),
          );
        });
      send([
        { type: 'thinking_delta', thinking: 'hmm' },
        { type: 'text_delta', text: 'Hello' },
      ]);
      const kept = await ask(path, 'messages/free', { ...body, stream: true });
      assert.match(kept.text, /Hello/);
      assert.match(kept.text, /hmm/);
      if (path === '/messages') return;
      send([{ type: 'input_json_delta', partial_json: '{"a":1}' }]);
      const nameless = await ask(path, 'messages/free', { ...body, stream: true });
      assert.match(nameless.text, /tool call without a name/);
    });
  }
});
