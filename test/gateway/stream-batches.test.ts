import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { streamFrames } from '../upstream/answers.ts';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { FORMATS, UPSTREAMS } from './many-providers.ts';
import { until } from './until.ts';

const HEAD = { 'content-type': 'text/event-stream' };
const joined = (frames: readonly string[]) => frames.map((frame) => `${frame}\n\n`).join('');

/** The content of an answer, without ids and times. */
const normal = (text: string) =>
  text.replaceAll(/(?:req|resp|msg|fc|call|rs)_\w+|"(?:created(?:_at)?|completed_at|sequence_number)":\d+,?/g, '');

/** Edge cases of frames that arrive in one read and are forwarded together. */
describe('several frames in one read', () => {
  let gateway: TestGateway;

  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());
  afterEach(() => {
    gateway.upstream.respond(undefined);
    assert.equal(gateway.active, 0);
  });

  /** A stream of `up/m` whose upstream sends the frames with `answer`. */
  async function ask(
    { path, body }: (typeof FORMATS)[number],
    up: string,
    answer: (response: ServerResponse, frames: readonly string[]) => unknown,
  ) {
    gateway.upstream.respond((request, response) => {
      const text = ['One', ' twö', ' thrée 👋', '.'];
      response.writeHead(200, HEAD);
      void answer(response, streamFrames(request.wire, { text }));
    });
    const answered = await gateway.post(path, { model: `${up}/m`, ...body, stream: true });
    return { status: answered.status, text: await answered.text() };
  }

  /** Resolves when the reader in this process has read everything. */
  async function read(response: ServerResponse): Promise<void> {
    await new Promise((resolve) => response.write('', resolve));
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  }

  for (const format of FORMATS) {
    for (const up of UPSTREAMS) {
      it(`frame batches: ${format.own} over ${up}: the answer is the same for any split into reads`, async () => {
        const whole = await ask(format, up, (response, frames) => response.end(joined(frames)));
        assert.equal(whole.status, 200);
        const expected = normal(whole.text);
        assert.match(expected, /👋/);
        const bytes = Buffer.from(joined(streamFrames(wireOf(up), { text: ['One', ' twö', ' thrée 👋', '.'] })));
        // One format is split at each byte, the others around blank lines and multibyte characters.
        const everywhere = format.own === 'chat' && up === 'chat';
        for (let at = 1; at < bytes.length; at += 1) {
          if (!everywhere && !bytes.subarray(Math.max(0, at - 2), at + 2).some((byte) => byte === 10 || byte > 127))
            continue;
          const { status, text } = await ask(format, up, async (response) => {
            response.write(bytes.subarray(0, at));
            await read(response);
            response.end(bytes.subarray(at));
          });
          assert.equal(status, 200);
          assert.equal(normal(text), expected, `cut behind byte ${at}`);
        }
      });

      it(`frame batches: ${format.own} over ${up}: an error among the frames follows the text before it and is last`, async () => {
        const error = { type: 'overloaded_error', message: 'Simulated overload.' };
        const frame = `data: ${JSON.stringify({ type: 'error', error })}`;
        for (const place of ['after the text', 'first'] as const) {
          const { status, text } = await ask(format, up, (response, frames) => {
            const at = place === 'first' ? 0 : frames.findIndex((each) => each.includes('twö')) + 1;
            response.end(joined([...frames.slice(0, at), frame, ...(format.own === up ? [] : frames.slice(at))]));
          });
          if (place === 'first') {
            assert.deepEqual([status, JSON.parse(text).error_type], [503, 'temporarily_unavailable']);
            continue;
          }
          assert.equal(status, 200);
          assert.ok(text.indexOf('twö') > 0 && text.indexOf('twö') < text.indexOf('Simulated overload.'), text);
          assert.ok(!text.includes('thrée') && !text.includes('[DONE]') && !text.includes('message_stop'), text);
        }
      });

      it(`frame batches: ${format.own} over ${up}: no frame is lost if the connection breaks immediately after`, async () => {
        const breaks = {
          'its end': (response: ServerResponse) => response.socket?.destroySoon(),
          'a chunk that is none': (response: ServerResponse) => response.socket?.write('no chunk\r\n'),
        };
        for (const [how, breakOff] of Object.entries(breaks)) {
          const { status, text } = await ask(format, up, (response, frames) => {
            response.socket?.cork();
            response.write(joined(frames.slice(0, frames.findIndex((each) => each.includes('twö')) + 1)));
            breakOff(response);
            response.socket?.uncork();
          });
          assert.equal(status, 200, how);
          assert.match(text, /twö/, how);
          assert.match(text.trim().split('\n\n').at(-1) ?? '', /"error_type":"upstream_disconnect"|response\.failed/);
        }
      });

      it(`frame batches: ${format.own} over ${up}: the last frame needs no blank line`, async () => {
        const expected = await ask(format, up, (response, frames) => response.end(joined(frames)));
        for (const end of ['', '\n', '\r', '\r\n']) {
          const { text } = await ask(format, up, (response, frames) => response.end(frames.join('\n\n') + end));
          const frames = (said: string) => normal(said).split(/[\r\n]{2,}/);
          assert.deepEqual(frames(text), frames(expected.text), JSON.stringify(end));
        }
      });
    }
  }

  /** A stream of many frames, how many of them the upstream could write so far, and how many it will. */
  function flood(total: number, text = '') {
    const flooded = { written: 0, total };
    gateway.upstream.respond(async (_request, response) => {
      response.writeHead(200, HEAD);
      const gone = once(response, 'close').then(() => false);
      while (flooded.written < flooded.total && !response.destroyed) {
        let batch = '';
        for (let n = 0; n < 500 && flooded.written < flooded.total; n += 1) {
          const delta = { content: `<${flooded.written++}>${text}` };
          batch += `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
        }
        if (!response.write(batch)) await Promise.race([once(response, 'drain').then(() => true), gone]);
      }
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    });
    return flooded;
  }

  async function open(model: string): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${KEY}` };
    const client = httpRequest(`${gateway.url}/chat/completions`, { method: 'POST', headers });
    client.on('error', () => undefined);
    client.end(JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'x' }] }));
    const [response] = await once(client, 'response');
    response.on('error', () => undefined);
    return response;
  }

  it('frame batches: wait for a slow client, and arrive completely and in order', async () => {
    // More than the buffers of two connections hold.
    const most = 200_000;
    const flooded = flood(most, 'x'.repeat(2_000));
    const response = await open('chat/m');
    response.pause();
    // The upstream is paused if it has not written for many turns of the event loop.
    for (let before = -1, turns = 0; turns < 200 && flooded.written < most; turns += 1) {
      if (flooded.written !== before) turns = 0;
      before = flooded.written;
      await new Promise(setImmediate);
    }
    if (flooded.written >= most) response.destroy();
    assert.ok(flooded.written < most, 'all of it was taken for a client that reads nothing');
    flooded.total = flooded.written;
    let next = 0;
    response.setEncoding('utf8');
    let rest = '';
    for await (const text of response) {
      rest += text;
      for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
        const number = /<(\d+)>/.exec(rest.slice(0, end))?.[1];
        if (number !== undefined) assert.equal(Number(number), next++);
        rest = rest.slice(end + 2);
      }
    }
    assert.deepEqual([next, rest], [flooded.total, '']);
  });

  for (const up of UPSTREAMS) {
    it(`frame batches: a disconnected client stops the ${up} upstream at any time, and each request is counted once`, async () => {
      const rows = gateway.rows().length;
      const at = gateway.upstream.requests.length;
      const clients = 30;
      for (let n = 0; n < clients; n += 1) {
        if (up === 'chat') flood(Number.POSITIVE_INFINITY);
        else {
          gateway.upstream.respond(async (request, answer) => {
            answer.writeHead(200, HEAD);
            const frames = streamFrames(request.wire, { text: ['One', ' more'] });
            const delta = frames.find((frame) => frame.includes('One')) ?? '';
            answer.write(joined(frames.slice(0, frames.indexOf(delta))));
            while (!answer.destroyed) {
              answer.write(joined(Array(50).fill(delta)));
              await new Promise(setImmediate);
            }
          });
        }
        const response = await open(`${up}/m`);
        // A little later each time, at different moments of the stream.
        for (let chunks = n % 7; chunks > 0; chunks -= 1) await once(response, 'data');
        response.destroy();
        assert.equal(await (await gateway.upstream.request(at + n)).closed, true);
      }
      await until('no request is active', () => gateway.active === 0);
      const outcomes = gateway
        .rows()
        .slice(rows)
        .map(({ outcome }) => outcome);
      assert.deepEqual(outcomes, Array(clients).fill('client-gone'));
    });
  }
});

function wireOf(up: string): 'chat' | 'messages' | 'responses' {
  return up === 'messages' || up === 'responses' ? up : 'chat';
}
