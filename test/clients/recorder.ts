import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type JsonObject } from '../../src/base/json.ts';

/** A request of a client as it arrived at the gateway. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** The gateway's answer to the request. */
  status: number;
}

export interface Recorder {
  readonly url: string;
  readonly requests: RecordedRequest[];
  close(): Promise<void>;
}

/** Headers of clients that select a shape of the answer. */
const KEPT = ['anthropic-version', 'anthropic-beta', 'user-agent', 'openai-beta'];

/** Forwards each request to the gateway unchanged and keeps its body. */
export async function startRecorder(gateway: string): Promise<Recorder> {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const headers = Object.fromEntries(
      KEPT.flatMap((name) => {
        const value = incoming.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const record = { method: incoming.method ?? '', path: incoming.url ?? '', headers, body: parse(bytes), status: 0 };
    requests.push(record);
    const { host: _, ...forwarded } = incoming.headers;
    const upstream = request(gateway + record.path, { method: record.method, headers: forwarded }, (answer) => {
      record.status = answer.statusCode ?? 0;
      response.writeHead(record.status, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('error', () => upstream.destroy());
    response.on('close', () => upstream.destroy());
    upstream.end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function parse(bytes: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
