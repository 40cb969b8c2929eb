import assert from 'node:assert/strict';
import { completeCode } from '../../src/provider/complete-code.ts';
import { converse } from '../../src/provider/converse.ts';
import { undiciTransport } from '../../src/provider/transport/undici-transport.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { ask, modelAt } from './test-model.ts';

describe('text that is cut within an emoji', () => {
  it('cut text: the request is valid for each server', async () => {
    const upstream = await startUpstream();
    const undici = undiciTransport();
    const options = { transport: undici, signal: new AbortController().signal };
    const half = 'Look: 👋'.slice(0, -1);
    try {
      for (const format of ['chat-completions', 'responses', 'messages'] as const) {
        const model = modelAt(`${upstream.url}/v1`, { format });
        for await (const _ of converse(model, ask(half), options));
      }
      const fimRequest = { model: 'm', prefix: half, suffix: '👋'.slice(1), maxTokens: 10 };
      for await (const _ of completeCode(modelAt(`${upstream.url}/v1`), fimRequest, { ...options, stream: false }));
      assert.equal(upstream.requests.length, 4);
      for (const { bytes, path } of upstream.requests) {
        assert.doesNotMatch(bytes.toString(), /\\ud[89a-f]/, path);
        assert.match(bytes.toString(), /Look: \ufffd/, path);
      }
    } finally {
      await undici.close();
      await upstream.close();
    }
  });
});
