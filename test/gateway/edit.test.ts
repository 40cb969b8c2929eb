import assert from 'node:assert/strict';
import type { EditDialect, EditRequest } from '../../src/wire/edit/edit-request.ts';
import { writeInceptionEdit } from '../../src/wire/edit/inception-edit.ts';
import { startTestGateway, type TestGateway } from './gateway-under-test.ts';

const REGION = 'const a = 1;\nconst b = 2;\n';
const REQUEST: EditRequest = {
  path: 'a.ts',
  before: '// a file\n',
  region: REGION,
  after: 'export { a };\n',
  cursor: 5,
  startLine: 2,
  edits: [],
  snippets: [],
};
const NEXT = 'const a = 1;\nconst b = 3;\n';
const CONTENT = writeInceptionEdit(REQUEST).text;
const messages = [{ role: 'user', content: CONTENT }];

/** The model of each format, and its answer for `NEXT`. */
const MODELS: readonly (readonly [EditDialect, string, string, path: RegExp])[] = [
  ['inception-edit', 'mercury/mercury-edit-2', `\`\`\`\n${NEXT}\`\`\``, /\/edit\/completions$/],
  ['sweep-1', 'local/sweep-next-edit-1.5B', NEXT, /\/v1\/completions$/],
  // It continues the lines above the cursor.
  ['sweep-2', 'local/sweep-next-edit-v2-7B', NEXT, /\/v1\/completions$/],
  ['zeta-1', 'local/zeta', `<|editable_region_start|>\n${NEXT}<|editable_region_end|>\n`, /\/v1\/completions$/],
  ['zeta-2', 'local/zeta2', `${NEXT}>>>>>>> UPDATED`, /\/v1\/completions$/],
  ['zeta-2.1', 'local/zeta-2.1', `<|marker_1|>${NEXT}<|marker_2|>`, /\/v1\/completions$/],
  ['chat-patch', 'chat/m', `\`\`\`ts\n${NEXT}\`\`\``, /\/chat\/completions$/],
];

describe('next edits through the gateway', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({
      config: (url) => {
        const options = { baseURL: `${url}/v1`, apiKey: 'k' };
        const local = Object.fromEntries(
          MODELS.flatMap(([, ref]) => (ref.startsWith('local/') ? [[ref.slice(6), {}]] : [])),
        );
        return {
          provider: {
            mercury: {
              options,
              edit: 'inception-edit',
              models: { 'mercury-edit-2': { cost: { input: 1, output: 2 } } },
            },
            local: { options, models: local },
            chat: { options, models: { m: { edit: 'chat-patch' }, plain: {} } },
          },
        };
      },
    });
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  const usage = { prompt_tokens: 50, completion_tokens: 10 };
  /** Answers with a text in the form of the requested path. */
  const answer = (text: string) =>
    gateway.upstream.respond((request, response) => {
      const chat = request.path.endsWith('/chat/completions');
      if (request.path.endsWith('/edit/completions')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            id: 'x',
            choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
            usage,
          }),
        );
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const choice = chat ? { delta: { content: text } } : { text };
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice, finish_reason: null }] })}\n\n`);
      const last = chat ? { delta: {} } : { text: '' };
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, ...last, finish_reason: 'stop' }], usage })}\n\ndata: [DONE]\n\n`,
      );
    });
  const content = async (response: Response) => {
    const body = await response.text();
    assert.equal(response.status, 200, body);
    return JSON.parse(body).choices[0].message.content;
  };

  for (const [dialect, model, text, path] of MODELS) {
    it(`next edit: ${dialect} answers in the form of Mercury and is in the ledger`, async () => {
      answer(text);
      const rows = gateway.rows().length;
      const response = await gateway.post('/edit/completions', { model, messages, max_tokens: 200 });
      assert.equal(await content(response), `\`\`\`\n${NEXT}\`\`\``);
      const sent = gateway.upstream.requests.at(-1);
      assert.match(sent?.path ?? '', path);
      assert.equal(gateway.rows().length, rows + 1);
    });
  }

  it('next edit: streams if asked, and also below /v1', async () => {
    answer(NEXT);
    const response = await gateway.post('/v1/edit/completions', {
      model: 'local/sweep-next-edit-1.5B',
      messages,
      stream: true,
    });
    const text = await response.text();
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    assert.match(text, /const b = 3/);
    assert.match(text, /data: \[DONE\]/);
  });

  it('next edit: an answer that was cut, or that changes nothing, is None', async () => {
    answer(REGION);
    assert.equal(await content(await gateway.post('/edit/completions', { model: 'local/zeta2', messages })), 'None');
    gateway.upstream.respond((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, text: 'const a', finish_reason: 'length' }] })}\n\ndata: [DONE]\n\n`,
      );
    });
    assert.equal(await content(await gateway.post('/edit/completions', { model: 'local/zeta2', messages })), 'None');
  });

  for (const [name, body, expected] of [
    ['a model without a format', { model: 'chat/plain', messages }, /can't predict edits/],
    ['an unknown model', { model: 'local/nothing', messages }, /nothing/],
    ['two messages', { model: 'local/zeta2', messages: [...messages, ...messages] }, /one message of the user/],
    [
      'a message without a region',
      { model: 'local/zeta2', messages: [{ role: 'user', content: 'Hi' }] },
      /has no `<\|/,
    ],
    ['too many tokens', { model: 'local/zeta2', messages, max_tokens: 100_000 }, /1 to 8192/],
    [
      'reserved marks',
      { model: 'local/zeta2', messages: [{ role: 'user', content: CONTENT.replace('// a file', '>>>>>>> UPDATED') }] },
      /format uses itself/,
    ],
  ] as const) {
    it(`next edit: ${name} is refused before anything is sent`, async () => {
      const before = gateway.upstream.requests.length;
      const response = await gateway.post('/edit/completions', body);
      assert.ok(response.status >= 400 && response.status < 500, String(response.status));
      assert.match(await response.text(), expected);
      assert.equal(gateway.upstream.requests.length, before);
    });
  }
});
