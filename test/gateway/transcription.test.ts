import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import OpenAI, { toFile } from 'openai';
import { KEY, startTestGateway, type TestGateway } from './gateway-under-test.ts';

describe('transcription', () => {
  let gateway: TestGateway;
  let openai: OpenAI;

  before(async () => {
    gateway = await startTestGateway();
    openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
  });
  after(() => gateway.close());

  it('transcription: the file may be before or after the model', async () => {
    const bytes = Buffer.alloc(300_000, 7);
    for (const order of ['file first', 'model first']) {
      const file = await toFile(bytes, 'talk.wav', { type: 'audio/wav' });
      const at = gateway.upstream.requests.length;
      const request = { model: 'chat/m', language: 'en' };
      const answer = await openai.audio.transcriptions.create(
        order === 'file first' ? { file, ...request } : { ...request, file },
      );
      assert.equal(answer.text, 'Hello from the recording.');
      const { bytes: sent, headers } = await gateway.upstream.request(at);
      assert.match(String(headers['content-type']), /^multipart\/form-data; boundary=/);
      assert.ok(sent.includes(bytes), order);
      assert.ok(sent.includes('\r\n\r\nup-m\r\n'), 'the upstream’s own name of the model');
      assert.ok(!sent.includes('chat/m'));
    }
  });

  it('transcription: a form that can only be forwarded in part is rejected', async () => {
    const file = new File([Buffer.alloc(1_000)], 'talk.wav', { type: 'audio/wav' });
    const cases: readonly (readonly [string, (form: FormData) => void, number])[] = [
      ['a field that is too long', (form) => form.append('prompt', 'x'.repeat(100_001)), 413],
      ['a second file', (form) => form.append('other', file), 400],
      ['too many fields', (form) => Array.from({ length: 101 }, () => form.append('a[]', 'b')), 400],
    ];
    for (const [what, add, status] of cases) {
      for (const late of [true, false]) {
        const form = new FormData();
        if (!late) add(form);
        form.append('model', 'chat/m');
        form.append('file', file);
        if (late) add(form);
        const headers = { authorization: `Bearer ${KEY}` };
        const answer = await fetch(`${gateway.url}/audio/transcriptions`, { method: 'POST', headers, body: form });
        assert.equal(answer.status, status, `${what}, ${late ? 'behind' : 'before'} the model: ${await answer.text()}`);
      }
    }
  });

  it('transcription: the gateway continues if a client disconnects during its form', async () => {
    const { port } = new URL(gateway.url);
    const part = (name: string, more = '') => `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const form = `${part('model')}chat/m\r\n${part('file', '; filename="a.wav"')}${'x'.repeat(50_000)}`;
    const head = [
      ...['POST /audio/transcriptions HTTP/1.1', `host: 127.0.0.1:${port}`, `authorization: Bearer ${KEY}`],
      ...['content-type: multipart/form-data; boundary=b', 'content-length: 900000', '', ''],
    ];
    for (let n = 0; n < 20; n += 1) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(head.join('\r\n') + form, () => socket.destroy());
      await once(socket, 'close');
    }
    assert.equal((await gateway.get('/healthz')).status, 200);
  });

  it('transcription: accepts JSON with input_audio', async () => {
    const at = gateway.upstream.requests.length;
    const input_audio = { data: Buffer.from('sound').toString('base64'), format: 'wav' };
    const answer = await gateway.post('/audio/transcriptions', { model: 'chat/m', input_audio, language: 'en' });
    assert.deepEqual(await answer.json(), { text: 'Hello from the recording.' });
    assert.ok((await gateway.upstream.request(at)).bytes.includes('filename="audio.wav"'));
  });
});
