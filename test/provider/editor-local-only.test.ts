import assert from 'node:assert/strict';
import { EditorTransport } from '../../src/extension/editor-transport.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';

/** An address for documentation (RFC 5737): nobody answers there. */
const FAR = 'http://203.0.113.7:9/v1/chat/completions';

describe('localOnly in the editor', () => {
  const { fetch } = globalThis;
  let upstream: Upstream;
  let editor: EditorTransport;
  let sent: [host: string, purpose: string][];
  let fetched: string[];

  beforeEach(async () => {
    upstream = await startUpstream();
    sent = [];
    fetched = [];
    editor = new EditorTransport({ add: (host: string, purpose: string) => sent.push([host, purpose]) } as never);
    globalThis.fetch = async (input) => {
      fetched.push(`${input}`);
      return new Response('{}');
    };
  });
  afterEach(async () => {
    globalThis.fetch = fetch;
    editor.dispose();
    await upstream.close();
  });

  async function send(url: string): Promise<number> {
    const request = { method: 'POST' as const, url, headers: {}, body: '{}', signal: new AbortController().signal };
    const response = await editor.for('chat').send(request);
    for await (const _ of response.body);
    return response.status;
  }

  it('localOnly in the editor: from the moment it is set, no request uses the proxy of VS Code or leaves the machine', async () => {
    // Not awaited: a request may follow in the same moment.
    void editor.restrict({ networks: [] });
    await assert.rejects(send(FAR), /localOnly/);
    assert.equal(await send(`${upstream.url}/v1/chat/completions`), 200);
    upstream.respond((_request, response) => void response.writeHead(307, { location: FAR }).end());
    await assert.rejects(send(`${upstream.url}/v1/chat/completions`), /redirect/);
    assert.deepEqual(fetched, []);
    assert.deepEqual([...new Set(sent.map(([host]) => host))], [new URL(upstream.url).host]);
  });

  it('localOnly in the editor: another value and its end hold for the next request', async () => {
    await editor.restrict({ networks: ['203.0.113.0/24'] });
    await editor.restrict({ networks: [] });
    await assert.rejects(send(FAR), /localOnly/);
    await editor.restrict(undefined);
    await send(FAR);
    assert.deepEqual(fetched, [FAR]);
  });
});
