import assert from 'node:assert/strict';
import type { Conversation } from '../../src/wire/conversation.ts';
import { FORMATS } from '../../src/wire/formats.ts';
import { estimateTokens, mostTokens, textTokens } from '../../src/wire/prompt-size.ts';

const IMAGE = `${'iVBORw0KGgo'}${'A'.repeat(400_000)}`;

/** The same prompt, with an image, as bodies of the three formats. */
const BODIES: Readonly<Record<keyof typeof FORMATS, Record<string, unknown>>> = {
  'chat-completions': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x'.repeat(4_000) },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${IMAGE}` } },
        ],
      },
    ],
  },
  messages: {
    max_tokens: 10,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x'.repeat(4_000) },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } },
        ],
      },
    ],
  },
  responses: {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'x'.repeat(4_000) },
          { type: 'input_image', image_url: `data:image/png;base64,${IMAGE}` },
        ],
      },
    ],
  },
};

const parts = ({ system, turns, tools }: Conversation) => [system, turns, tools];

describe('estimated tokens of a prompt', () => {
  for (const format of Object.values(FORMATS)) {
    it(`prompt size: a body and its conversation have the same tokens, images as images (${format.name})`, () => {
      const body = BODIES[format.name];
      const request = format.readRequest({ model: 'm', ...body });
      const ofBody = estimateTokens([body.messages ?? body.input]);
      const ofConversation = estimateTokens(parts(request));
      for (const tokens of [ofBody, ofConversation]) assert.ok(tokens >= 2_600 && tokens < 2_620, String(tokens));
      const most = mostTokens(parts(request));
      assert.ok(most > ofConversation && most < 3_100, String(most));
    });
  }

  it('prompt size: the high estimate counts the names in a schema', () => {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`property_${index}`, {}]));
    const tools = [{ name: 'f', parameters: { type: 'object', properties } }];
    assert.ok(mostTokens([tools]) >= JSON.stringify(tools).length / 4, String(mostTokens([tools])));
  });

  it('prompt size: media by address, id, and of unknown kinds have the tokens of their kind', () => {
    for (const [part, least, most] of [
      [{ type: 'image', media: { kind: 'url', url: 'https://a.example/x.png' } }, 1_600, 1_610],
      [{ type: 'file', media: { kind: 'id', id: 'file_1' } }, 3_000, 3_010],
      [
        { type: 'audio', format: 'wav', media: { kind: 'data', mediaType: 'audio/wav', base64: 'A'.repeat(32_000) } },
        96,
        110,
      ],
      [{ type: 'file', media: { kind: 'data', mediaType: 'text/plain', base64: 'A'.repeat(4_000) } }, 750, 760],
    ] as const) {
      const tokens = mostTokens([part]);
      assert.ok(tokens >= least && tokens <= most, `${JSON.stringify(part).slice(0, 80)}: ${tokens}`);
    }
    assert.deepEqual([textTokens(0), textTokens(1), textTokens(8)], [0, 1, 2]);
  });
});
