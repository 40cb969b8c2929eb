import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

const VECTOR = [0.5, -0.25, 0.125, 1, 2, 3, 4, 5];
const BASE64 = Buffer.from(Float32Array.from(VECTOR).buffer).toString('base64');

describe('embeddings', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());
  afterEach(() => gateway.upstream.respond(undefined));

  /** The upstream sends these vectors, whatever the request says. `space`: JSON with blanks. */
  function sends(embeddings: readonly unknown[], space = 0): void {
    gateway.upstream.respond((_request, response) => {
      const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }));
      const body = { object: 'list', model: 'up', data, usage: { prompt_tokens: 3, total_tokens: 3 } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body, null, space));
    });
  }

  async function ask(more: Record<string, unknown>) {
    const answer = await gateway.post('/embeddings', { model: 'chat/m', input: ['a', 'b'], ...more });
    const body = (await answer.json()) as { data?: { embedding: unknown; index: number }[]; usage?: unknown };
    return { status: answer.status, vectors: body.data?.map(({ embedding }) => embedding), usage: body.usage };
  }

  const FORMS: readonly (readonly [asked: Record<string, unknown>, expected: unknown])[] = [
    [{}, VECTOR],
    [{ encoding_format: null }, VECTOR],
    [{ encoding_format: 'float' }, VECTOR],
    [{ encoding_format: 'base64' }, BASE64],
    [{ encoding_format: 'base64', output_dtype: 'float' }, BASE64],
  ];
  for (const [asked, expected] of FORMS) {
    for (const [name, sent] of [
      ['numbers', VECTOR],
      ['base64', BASE64],
    ] as const) {
      for (const space of [0, 2]) {
        it(`embeddings: ${JSON.stringify(asked)} gets its form of ${name}, indented by ${space}`, async () => {
          sends([sent, sent], space);
          const { vectors, usage } = await ask(asked);
          assert.deepEqual(vectors, [expected, expected]);
          assert.deepEqual(usage, { prompt_tokens: 3, total_tokens: 3 });
        });
      }
    }
  }

  it('embeddings: one vector of the other form among others is converted too', async () => {
    sends([VECTOR, BASE64]);
    assert.deepEqual((await ask({})).vectors, [VECTOR, VECTOR]);
  });

  it('embeddings: types and forms that only the vendor knows are passed on', async () => {
    for (const asked of [{ encoding_format: 'base64', output_dtype: 'int8' }, { encoding_format: 'ubinary' }]) {
      sends([[1, 2, 3], 'AQID']);
      assert.deepEqual((await ask(asked)).vectors, [[1, 2, 3], 'AQID']);
    }
  });

  it('embeddings: a vector that can’t be converted is an error of the provider', async () => {
    for (const [sent, encoding_format] of [
      ['AQID', 'float'],
      ['', 'float'],
      [[1, 'x'], 'base64'],
    ] as const) {
      sends([sent]);
      assert.equal((await ask({ encoding_format })).status, 503, JSON.stringify(sent));
    }
  });

  it('embeddings: the official SDK, which requests base64 by itself, gets the numbers of a server that ignores it', async () => {
    const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
    sends([VECTOR]);
    for (const more of [{}, { encoding_format: 'float' as const }]) {
      const { data } = await openai.embeddings.create({ model: 'chat/m', input: 'a', ...more });
      assert.deepEqual(data[0]?.embedding, VECTOR);
    }
  });
});
