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
            .map((match) => (match[1] ?? '').replaceAll(/req_\w+|"created(_at)?":\d+/g, ''))
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
    assert.equal(gateway.metrics.active, 0);
  });
});
