import assert from 'node:assert/strict';
import { mediaAttachment } from '../../src/chat/attachment.ts';
import { patchSchema } from '../../src/chat/history/transcript-schema.ts';
import type { ChatSession } from '../../src/chat/session/session.ts';
import { applyPatch } from '../../src/chat/transcript.ts';
import { refusesMedia } from '../../src/wire/errors/media-refusal.ts';
import { vendorError } from '../../src/wire/errors/vendor-errors.ts';
import { type Responder, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { LABEL, modelAt, scripted, sessionAt } from './test-session.ts';

const PICTURE = mediaAttachment('a1', 'shop.png', 'image/png', 'aaaa');
const DOCUMENT = mediaAttachment('a2', 'plan.pdf', 'application/pdf', 'aaaa');
const WITH_MEDIA = { text: 'See', attachments: [PICTURE, DOCUMENT].flatMap((each) => each ?? []) };
const TEXT_ONLY = { modalities: { input: ['text'], output: ['text'] }, attachment: false } as const;

const REFUSALS: readonly [server: string, status: number, message: string, refuses: boolean][] = [
  ['vLLM', 400, 'Qwen/Qwen3-8B is not a multimodal model', true],
  ['vLLM', 400, 'At most 0 image(s) may be provided in one prompt.', true],
  [
    'llama.cpp',
    500,
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
    true,
  ],
  ['Ollama', 400, 'this model does not support image input (ref: b8bd630e)', true],
  ['Ollama', 500, 'Failed to create new sequence: this model is missing data required for image input', true],
  ['LM Studio', 400, 'Model does not support images. Please use a model that does.', true],
  ['OpenAI', 400, 'Invalid content type. image_url is only supported by certain models.', true],
  [
    'DeepSeek',
    400,
    'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text` at line 1 column 99',
    true,
  ],
  ['OpenRouter', 404, 'No endpoints found that support image input', true],
  ['Mistral', 400, 'Image input is not enabled for this model', true],
  ['xAI', 400, 'Image inputs are not supported by this model.', true],
  ['Bedrock', 400, "This model doesn't support documents.", true],
  ['FreeToken', 400, 'Unsupported content part type for text-only server: image_url', true],
  ['Groq', 400, "'messages.0.content' must be a string", true],
  ['OpenAI', 400, "Unsupported parameter: 'max_tokens' is not supported with this model.", false],
  ['OpenAI', 400, 'Invalid image: the file is not a valid PNG.', false],
  ['OpenRouter', 404, 'No endpoints found that support tool use', false],
  ['any', 401, 'This key does not support images.', false],
  ['any', 400, 'model not found', false],
];

/** Refuses requests with pictures or documents. */
const textServer =
  (seen: string[]): Responder =>
  (request, response) => {
    const body = JSON.stringify(request.body);
    const hasMedia = /image_url|"file"/.test(body);
    seen.push(hasMedia ? 'media' : 'text');
    if (!hasMedia) return scripted({ text: ['Fine.'] })(request, response);
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'large is not a multimodal model', type: 'BadRequestError' } }));
  };

const endings = (session: ChatSession) =>
  session.messages.filter(({ role }) => role === 'assistant').map(({ ending, omitted }) => [ending?.type, omitted]);

describe('attachments that a model does not accept', () => {
  let upstream: Upstream;
  beforeEach(async () => {
    upstream = await startUpstream(scripted({ text: ['Fine.'] }));
  });
  afterEach(() => upstream.close());

  it('attachments: a model without pictures gets a note instead, the user sees it once', async () => {
    let chosen = { model: modelAt(upstream), label: LABEL };
    const { session } = sessionAt(upstream, {}, { model: () => chosen });
    await session.send(WITH_MEDIA);
    const ref = 'up/small';
    chosen = { model: modelAt(upstream, { ref, ...TEXT_ONLY }), label: { ...LABEL, ref } };
    await session.send({ text: 'and now' });
    await session.send({ text: 'and then' });
    assert.deepEqual(endings(session), [
      ['finished', undefined],
      ['finished', ['shop.png', 'plan.pdf']],
      ['finished', undefined],
    ]);
    const first = JSON.stringify((await upstream.request(0)).body);
    assert.match(first, /image_url/);
    for (const at of [1, 2]) {
      const body = JSON.stringify((await upstream.request(at)).body);
      assert.match(body, /\[shop\.png is left out, because you cannot process it\.\].*\[plan\.pdf is left out/);
      assert.doesNotMatch(body, /image_url/);
    }
  });

  it('attachments: a server that refuses them gets the request again without, and later ones without', async () => {
    const seen: string[] = [];
    upstream.respond(textServer(seen));
    const { session, patches } = sessionAt(upstream);
    await session.send(WITH_MEDIA);
    await session.send({ text: 'and now' });
    assert.deepEqual(seen, ['media', 'text', 'text']);
    assert.deepEqual(endings(session), [
      ['finished', ['shop.png', 'plan.pdf']],
      ['finished', undefined],
    ]);
    // A new attachment is tried again, because the server may have been changed.
    await session.send(WITH_MEDIA);
    assert.deepEqual(seen.slice(3), ['media', 'text']);
    const noted = patches.find(({ type }) => type === 'omitted');
    assert.deepEqual(patchSchema.parse(JSON.parse(JSON.stringify(noted))), noted);
    assert.ok(noted && applyPatch(session.transcript, noted).messages.some(({ omitted }) => omitted?.length === 2));
  });

  it('attachments: the summary and the title of a conversation are requested without them', async () => {
    const seen: string[] = [];
    upstream.respond(textServer(seen));
    const { session } = sessionAt(upstream);
    await session.send(WITH_MEDIA);
    await session.compact();
    assert.deepEqual(seen, ['media', 'text', 'text']);
    const { ending } = session.messages.findLast(({ role }) => role === 'summary') ?? {};
    assert.equal(ending?.type, 'finished');
  });

  it('attachments: another refusal is shown, and the request is not sent again', async () => {
    upstream.respond((_request, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"Invalid image: the file is not a valid PNG."}}');
    });
    const { session } = sessionAt(upstream);
    await session.send(WITH_MEDIA);
    assert.equal(upstream.requests.length, 1);
    assert.deepEqual(endings(session), [['failed', undefined]]);
  });

  for (const [server, status, message, refuses] of REFUSALS) {
    it(`refusal of media: ${server}: ${message.slice(0, 60)}: ${refuses}`, () => {
      const bodyText = JSON.stringify({ error: { message } });
      assert.equal(refusesMedia(vendorError({ provider: 'up', status, bodyText, byok: true })), refuses);
    });
  }
});
