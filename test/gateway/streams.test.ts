import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { streamFrames } from '../upstream/answers.ts';
import { KEY, type TestGateway } from './gateway-under-test.ts';
import { FORMATS, gatewayOfManyProviders, UPSTREAMS } from './many-providers.ts';

/** A connection that has not drained after so many turns of the event loop is paused by its reader. */
async function manyTurns(): Promise<false> {
  for (let turns = 0; turns < 5_000; turns += 1) await new Promise(setImmediate);
  return false;
}

describe('streams', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await gatewayOfManyProviders();
  });
  after(() => gateway.close());

  for (const { path, own, body } of FORMATS) {
    for (const up of UPSTREAMS) {
      const stream = async (scenario: string) => {
        const response = await gateway.post(path, { model: `${up}/m`, ...body, stream: true }, { 'x-s': '1' });
        await response.body?.cancel();
        const asked = JSON.parse(JSON.stringify(body).replace('"Hi"', `"[[scenario:${scenario}]]"`));
        const answer = await gateway.post(path, { model: `${up}/m`, ...asked, stream: true });
        return { status: answer.status, text: await answer.text() };
      };
      it(`stream: ${own} over ${up}: split bytes, CR, CRLF, BOM, comments, gzip and a missing type give the same answer`, async () => {
        const normal = (text: string) =>
          [...text.replaceAll(/\r\n?/g, '\n').matchAll(/^data: (.*)$/gm)]
            // A Messages stream begins with the probable input, and the scenario is in the request.
            .map((match) =>
              (match[1] ?? '').replaceAll(/req_\w+|"created(_at)?":\d+|(?<="message_start".*"input_tokens":)\d+/g, ''),
            )
            .join('\n');
        const expected = normal((await stream('text')).text);
        assert.ok(expected.includes('wörld'));
        for (const scenario of [
          'split-bytes',
          'crlf',
          'cr',
          'comments',
          'gzip',
          'no-content-type',
          'no-last-blank-line',
        ]) {
          const { status, text } = await stream(scenario);
          assert.equal(status, 200, scenario);
          assert.equal(normal(text), expected, scenario);
        }
      });

      it(`stream: ${own} over ${up}: an error at the start is an HTTP error, a later one ends the stream`, async () => {
        const early: [string, number, string][] = [
          ['status-500', 503, 'upstream_error'],
          ['status-529', 503, 'temporarily_unavailable'],
          ['status-429-retry-after-3', 429, 'rate_limit_exceeded'],
          ['reset-before-headers', 503, 'network_error'],
          ['reset-after-headers', 503, 'upstream_disconnect'],
          ['html', 503, 'upstream_invalid_response'],
        ];
        for (const [scenario, status, type] of early) {
          const answer = await stream(scenario);
          assert.deepEqual([answer.status, JSON.parse(answer.text).error_type], [status, type], scenario);
        }
        for (const scenario of ['reset-mid-stream', 'reset-mid-frame', 'reset-mid-character', 'no-terminator']) {
          const { status, text } = await stream(scenario);
          // An answer that is cut before its first text is an error.
          if (scenario === 'no-terminator' && status === 503) continue;
          assert.equal(status, 200, scenario);
          const last = text.trim().split('\n\n').at(-1) ?? '';
          assert.match(last, own === 'responses' ? /event: response\.failed/ : /"error"/, scenario);
          assert.ok(!text.includes('[DONE]') && !text.includes('message_stop'), scenario);
        }
      });
    }
  }

  for (const { path, own, body } of FORMATS) {
    it(`stream: ${own}: text that quotes the last event of its format does not end the answer`, async () => {
      const text = 'then {"type":"message_stop"} or "response.completed", "finish_reason":"stop", [DONE]';
      gateway.upstream.respond((request, response) => {
        const frames = streamFrames(request.wire, { text: [text, 'message_stop', 'response.completed', '[DONE]'] });
        const upTo = frames.findLastIndex((frame) => /delta.*\[DONE\]/.test(frame));
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end(`${frames.slice(0, upTo).join('\n\n')}\n\n`);
      });
      try {
        const said = await (await gateway.post(path, { model: `${own}/m`, ...body, stream: true })).text();
        assert.match(said, /response\.completed/);
        assert.match(said.trim().split('\n\n').at(-1) ?? '', /upstream_disconnect/);
      } finally {
        gateway.upstream.respond(undefined);
      }
    });
  }

  for (const { path, own, body } of FORMATS) {
    it(`stream: ${own}: one that was not requested becomes a whole answer`, async () => {
      for (const up of UPSTREAMS) {
        let cut = false;
        gateway.upstream.respond((request, response) => {
          const frames = streamFrames(request.wire, { text: ['Hello ', 'there.'] });
          const sent = cut ? frames.slice(0, -3) : frames;
          response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`${sent.join('\n\n')}\n\n`);
        });
        try {
          const whole = await gateway.post(path, { model: `${up}/m`, ...body });
          assert.match(String(whole.headers.get('content-type')), /^application\/json/);
          assert.match(JSON.stringify(await whole.json()), /"Hello there\."/);
          cut = true;
          const half = await gateway.post(path, { model: `${up}/m`, ...body });
          assert.equal(half.status, 503, await half.text());
        } finally {
          gateway.upstream.respond(undefined);
        }
      }
    });
  }

  describe('chunks of Chat Completions', () => {
    afterEach(() => gateway.upstream.respond(undefined));

    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
      choices: [{ index: 0, delta, finish_reason }],
    });
    const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
    const DONE = 'data: [DONE]\n\n';
    /** What the client gets if the upstream sends these pieces in one go. */
    const passed = async (...pieces: readonly string[]) => {
      gateway.upstream.respond((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(pieces.join(''));
      });
      const answer = await gateway.post('/chat/completions', { model: 'chat/m', stream: true, ...FORMATS[0].body });
      return { status: answer.status, text: await answer.text() };
    };

    const errors: readonly (readonly [name: string, chunk: object])[] = [
      ['vLLM', { error: { message: 'EngineCore died', type: 'InternalServerError', code: 500 } }],
      ['OpenRouter', { ...chunk({ content: '' }, 'error'), error: { code: 502, message: 'EngineCore died' } }],
    ];
    for (const [name, error] of errors) {
      it(`stream: an error within it, as ${name} sends it, is its last event`, async () => {
        const { status, text } = await passed(data(chunk({ content: 'Hel' })), data(error), DONE);
        assert.equal(status, 200);
        assert.match(text, /"Hel"/);
        assert.match(text.trim().split('\n\n').at(-1) ?? '', /"error":.*EngineCore died.*"upstream_error"/);
        assert.doesNotMatch(text, /"finish_reason":"|DONE/);
        assert.equal(gateway.rows().at(-1)?.outcome, 'failed');
      });
    }

    it('stream: `"error": null` is no error', async () => {
      const { text } = await passed(data({ ...chunk({ content: 'Hi' }), error: null }), data(chunk({}, 'stop')), DONE);
      assert.match(text, /"Hi"/);
      assert.match(text, /DONE/);
    });

    it('stream: an error after a comment is an HTTP error, and another account’s funds are not told', async () => {
      const { status, text } = await passed(
        ': OPENROUTER PROCESSING\n\n',
        data({ error: { code: 402, message: 'acct_1' } }),
      );
      assert.equal(status, 503);
      assert.doesNotMatch(text, /acct_1/);
    });

    it('stream: a chunk without a reason after the one with it changes nothing', async () => {
      const filter = { ...chunk({}), choices: [{ index: 0, finish_reason: null, content_filter_results: {} }] };
      const usage = { ...chunk({}), choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
      for (const end of [[data(usage), DONE], [data(usage)]]) {
        const { text } = await passed(data(chunk({ content: 'Hi' })), data(chunk({}, 'length')), data(filter), ...end);
        assert.deepEqual(text.match(/"finish_reason":"\w+"/g), ['"finish_reason":"length"']);
        assert.match(text, /"total_tokens":2/);
        assert.ok(text.trim().endsWith('data: [DONE]'));
      }
    });
  });

  it('stream: is ended if the upstream stalls, with or without pings, before the first byte or later', async () => {
    for (const scenario of ['stall-before-headers', 'stall-after-headers']) {
      const answer = await gateway.post('/chat/completions', ask(scenario));
      assert.equal(answer.status, 503, scenario);
      assert.equal(JSON.parse(await answer.text()).error_type, 'upstream_timeout');
    }
    for (const scenario of ['stall-mid-stream', 'stall-mid-stream-with-pings']) {
      const at = gateway.upstream.requests.length;
      const answer = await gateway.post('/chat/completions', ask(scenario));
      const text = await answer.text();
      assert.match(text, /"error_type":"upstream_timeout"/);
      // One in ten milliseconds: each that put the end off by 600 would let many more through.
      assert.ok(text.split(': ping').length < 200);
      assert.equal(await (await gateway.upstream.request(at)).closed, true);
    }
    function ask(scenario: string) {
      return { model: 'hasty/m', stream: true, messages: [{ role: 'user', content: `[[scenario:${scenario}]]` }] };
    }
  });

  for (const up of UPSTREAMS) {
    it(`stream: a disconnected client stops the ${up} upstream, and the request is counted`, async () => {
      const at = gateway.upstream.requests.length;
      const rows = gateway.rows().length;
      const gone = new AbortController();
      const answer = await fetch(`${gateway.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
        body: JSON.stringify({
          model: `${up}/m`,
          stream: true,
          messages: [{ role: 'user', content: '[[scenario:stall-mid-stream]]' }],
        }),
        signal: gone.signal,
      });
      await answer.body?.getReader().read();
      gone.abort();
      const request = await gateway.upstream.request(at);
      assert.equal(await request.closed, true);
      const row = gateway.rows().slice(rows).at(-1);
      assert.deepEqual([row?.outcome, row?.estimated], ['client-gone', 1]);
      assert.ok(Number(row?.cost) > 0);
    });
  }

  it('stream: a slow client slows its upstream down', async () => {
    const frame = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'x'.repeat(16_000) }, finish_reason: null }] })}\n\n`;
    let written = 0;
    let stuck: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => (stuck = resolve));
    gateway.upstream.respond(async (request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      let open = true;
      void request.closed.then(() => (open = false));
      while (open && written < 400_000_000) {
        written += frame.length;
        if (!response.write(frame)) {
          const drained = once(response, 'drain').then(() => true);
          if (!(await Promise.race([drained, manyTurns(), request.closed.then(() => false)]))) break;
        }
      }
      stuck();
      await request.closed;
    });
    try {
      const client = httpRequest(`${gateway.url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
      });
      client.end(JSON.stringify({ model: 'chat/m', stream: true, messages: [{ role: 'user', content: 'x' }] }));
      const [response] = await once(client, 'response');
      response.pause();
      await blocked;
      assert.ok(written < 50_000_000, `${written} bytes were taken for a client that reads none`);
      client.destroy();
    } finally {
      gateway.upstream.respond(undefined);
    }
  });

  it('stream: no connection remains open', async () => {
    await gateway.get('/healthz');
    assert.equal(gateway.active, 0);
  });
});
