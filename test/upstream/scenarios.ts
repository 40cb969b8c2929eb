import type { ServerResponse } from 'node:http';
import { createGzip } from 'node:zlib';
import { type Script, streamFrames, type Wire, wholeBody } from './answers.ts';
import { CONTEXT_ERRORS } from './error-bodies.ts';
import type { ReceivedRequest } from './received-request.ts';

const TEXT: Script = { text: ['Hello', ', wörld ', '👋', '.'] };
const TOOLS: Script = {
  tools: [
    { id: 'call_1', name: 'weather', arguments: ['{"city":', '"Oslo"}'] },
    { id: 'call_2', name: 'clock', arguments: ['{}'] },
  ],
};

/** The content by scenario. */
const SCRIPTS: Readonly<Record<string, Script>> = {
  text: TEXT,
  tools: TOOLS,
  'text-and-tools': { ...TEXT, ...TOOLS },
  json: { text: ['{"city":', ' "Oslo"}'] },
  'tool-no-arguments': { tools: [{ id: 'call_1', name: 'clock', arguments: [] }] },
  reasoning: { ...TEXT, reasoning: ['Let me ', 'think.'] },
  'reasoning-only': { reasoning: ['Let me ', 'think.'], finish: 'length' },
  'reasoning-tools': { ...TOOLS, reasoning: ['Let me ', 'think.'] },
  length: { ...TEXT, finish: 'length' },
  filter: { ...TEXT, finish: 'filter' },
  cached: { ...TEXT, usage: { input: 1000, output: 5, cached: 900 } },
  'no-usage': { ...TEXT, usage: null },
  'negative-usage': { ...TEXT, usage: { input: -1, output: -5 } },
};

type Delivery = (response: ServerResponse, frames: readonly string[], request: ReceivedRequest) => unknown;

/** Faults during the delivery of the text answer, by scenario. */
const DELIVERIES: Readonly<Record<string, Delivery>> = {
  'split-bytes': async (response, frames) => {
    const bytes = Buffer.from(joined(frames));
    open(response);
    for (const byte of bytes) {
      response.write(Uint8Array.of(byte));
      // Sends each byte separately.
      await new Promise(setImmediate);
    }
    response.end();
  },
  crlf: (response, frames) => open(response).end(joined(frames).replaceAll('\n', '\r\n')),
  cr: (response, frames) => open(response).end(joined(frames).replaceAll('\n', '\r')),
  bom: (response, frames) => open(response).end(`\ufeff${joined(frames)}`),
  comments: (response, frames) =>
    open(response).end(frames.map((frame) => `: PROCESSING\n\n${frame}\n: x\n\n`).join('')),
  'no-content-type': (response, frames) => {
    response.removeHeader('content-type');
    response.end(joined(frames));
  },
  'no-terminator': (response, frames) => open(response).end(joined(frames.slice(0, 3))),
  'no-last-blank-line': (response, frames) => open(response).end(joined(frames).trimEnd()),
  'invalid-json': (response, frames) => {
    open(response).end(joined([...frames.slice(0, 3), 'data: {"broken":', ...frames.slice(3)]));
  },
  gzip: (response, frames) => {
    const zip = createGzip();
    zip.pipe(open(response, { 'content-encoding': 'gzip' }));
    zip.end(joined(frames));
  },
  html: sendPage,
  empty: (response) => void open(response).end(),
  'stall-before-headers': () => undefined,
  'stall-after-headers': (response) => open(response).flushHeaders(),
  'stall-after-comments': (response) => void open(response).write(': waiting\n\n'),
  'stall-mid-stream': (response, frames) => void open(response).write(joined(frames.slice(0, midway(frames)))),
  'stall-after-finish': (response, frames) => {
    const last = frames.at(-1)?.includes('[DONE]') ? -2 : frames.length;
    open(response).write(joined(frames.slice(0, last)));
  },
  'stall-mid-stream-with-pings': async (response, frames, request) => {
    open(response).write(joined(frames.slice(0, midway(frames))));
    const timer = setInterval(() => response.write(': ping\n\nevent: ping\ndata: {"type":"ping"}\n\n'), 10);
    await request.closed;
    clearInterval(timer);
  },
  'reset-before-headers': (response) => void response.socket?.resetAndDestroy(),
  'reset-after-headers': async (response, _frames, request) => {
    open(response).flushHeaders();
    await resetAfter(response, request, '');
  },
  'reset-mid-stream': (response, frames, request) =>
    resetAfter(open(response), request, joined(frames.slice(0, midway(frames)))),
  'reset-mid-frame': (response, frames, request) => {
    const text = joined(frames);
    return resetAfter(open(response), request, text.slice(0, text.indexOf('wörld') - 3));
  },
  'reset-mid-character': (response, frames, request) => {
    const bytes = Buffer.from(joined(frames));
    return resetAfter(open(response), request, bytes.subarray(0, bytes.indexOf(Buffer.from('👋')) + 2));
  },
};

/** Faults that come first, `N-times` as in `stall-2-times`: the answer comes after them. */
function passing(scenario: string, occurrence: number): string {
  const match = /^(.*)-(\d+)-times$/.exec(scenario);
  return match?.[1] === undefined ? scenario : occurrence > Number(match[2]) ? 'text' : match[1];
}

/** Every name that `play` knows, for tables of tests. */
export const DELIVERY_NAMES = Object.keys(DELIVERIES);

/** Answers a request according to its scenario. */
export async function play(request: ReceivedRequest, response: ServerResponse): Promise<void> {
  const path = request.path.split('?')[0] ?? '';
  const scenario = passing(request.scenario, request.occurrence);
  const status = /^status-(\d{3})(?:-retry-after-(.+))?$/.exec(scenario);
  if (status?.[1] !== undefined) return sendStatus(response, Number(status[1]), status[2], request.wire);
  const wait = /^named-wait-(.+)$/.exec(scenario)?.[1];
  if (wait !== undefined) {
    const message = `Rate limit reached. Please try again in ${wait}.`;
    return sendJson(response, 429, { error: { message, type: 'requests', code: 'rate_limit_exceeded' } });
  }
  const context = /^context-(.+)$/.exec(scenario)?.[1];
  if (context !== undefined) {
    const error = CONTEXT_ERRORS[context.replaceAll('-', ' ')] ?? CONTEXT_ERRORS.openai;
    return sendJson(response, error?.status ?? 400, error?.body);
  }
  if (path.endsWith('/models')) return sendJson(response, 200, MODELS);
  if (path.endsWith('/embeddings')) return sendJson(response, 200, embeddings(request.body));
  if (path.endsWith('/audio/transcriptions')) return sendJson(response, 200, { text: 'Hello from the recording.' });
  const redirect = /^redirect-(.+)$/.exec(scenario)?.[1];
  if (redirect !== undefined && !request.path.includes('redirected')) {
    const location = redirect === 'same' ? `${path}?redirected=1` : Buffer.from(redirect, 'base64url').toString();
    response.writeHead(307, { location }).end();
    return;
  }
  const script = SCRIPTS[scenario] ?? TEXT;
  if (request.body.stream !== true && !(request.wire === 'ollama' && request.body.stream === undefined)) {
    const delivery = WHOLE[scenario];
    if (delivery) {
      await delivery(response, request, script);
      return;
    }
    return sendJson(response, 200, wholeBody(request.wire, script));
  }
  const frames = streamFrames(request.wire, script);
  await (DELIVERIES[scenario] ?? deliver)(response, frames, request);
}

type WholeDelivery = (response: ServerResponse, request: ReceivedRequest, script: Script) => void | Promise<void>;

/** Faults of an answer that is not streamed. */
const WHOLE: Readonly<Record<string, WholeDelivery>> = {
  html: sendPage,
  empty: (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(),
  'invalid-json': (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{"id": '),
  'stall-before-headers': () => undefined,
  'stall-after-headers': (response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(),
  'stall-mid-body': (response, { wire }, script) => {
    const text = JSON.stringify(wholeBody(wire, script));
    response.writeHead(200, { 'content-type': 'application/json' }).write(text.slice(0, text.length / 2));
  },
  'reset-before-headers': (response) => void response.socket?.resetAndDestroy(),
  'reset-mid-stream': async (response, request, script) => {
    const text = JSON.stringify(wholeBody(request.wire, script));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    await resetAfter(response, request, text.slice(0, text.length / 2));
  },
};

function deliver(response: ServerResponse, frames: readonly string[], request: ReceivedRequest): void {
  if (request.wire === 'ollama')
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(`${frames.join('\n')}\n`);
  else open(response).end(joined(frames));
}

function open(response: ServerResponse, headers: Record<string, string> = {}): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...headers });
}

function joined(frames: readonly string[]): string {
  return frames.map((frame) => `${frame}\n\n`).join('');
}

/** After the second piece of text, whichever format. */
function midway(frames: readonly string[]): number {
  return frames.findIndex((frame) => frame.includes('wörld')) + 1;
}

/** Writes a part of the body and resets the socket once the client has read it: a reset discards unread data. */
async function resetAfter(
  response: ServerResponse,
  request: ReceivedRequest,
  part: string | Uint8Array,
): Promise<void> {
  if (part.length > 0) response.write(part);
  await request.clientHasRead(Buffer.byteLength(part));
  response.socket?.resetAndDestroy();
}

function sendPage(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>');
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendStatus(response: ServerResponse, status: number, retryAfter: string | undefined, wire: Wire): void {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter.replaceAll('_', ' ') };
  const error = { type: 'simulated_error', message: `Simulated status ${status}.` };
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(wire === 'messages' ? { type: 'error', error } : { error }));
}

const MODELS = {
  object: 'list',
  data: [
    { id: 'up-small', object: 'model', created: 1, owned_by: 'up' },
    { id: 'up-large', object: 'model', created: 2, owned_by: 'up', name: 'Up Large', context_length: 128_000 },
  ],
};

function embeddings(body: Record<string, unknown>): Record<string, unknown> {
  const inputs = Array.isArray(body.input) ? body.input : [body.input];
  const dimensions = typeof body.dimensions === 'number' ? body.dimensions : 4;
  const vector = Array.from({ length: dimensions }, (_, index) => (index + 1) / dimensions);
  const embedding =
    body.encoding_format === 'base64' ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector;
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding }));
  const usage = { prompt_tokens: inputs.length * 3, total_tokens: inputs.length * 3 };
  return { object: 'list', model: body.model, data, usage };
}
