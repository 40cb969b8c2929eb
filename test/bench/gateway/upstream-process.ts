/**
 * The upstream of all contestants: bytes that were made before the first request, on bare sockets. A real upstream
 * is another machine; this one takes its time from the same cores, so it must take as little as can be.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net';

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(16);
const json = (value: unknown) => {
  const body = JSON.stringify(value);
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
};
const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const chunked = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const bytesOf = ({ first, frame, last }: { first: string; frame: string; last: string }) => ({
  first: Buffer.from(STREAM_HEAD + chunked(first)),
  frame: Buffer.from(chunked(frame)),
  last: Buffer.from(`${chunked(last)}0\r\n\r\n`),
});
const head = { id: 'chatcmpl-bench', object: 'chat.completion', created: 1_760_000_000, model: 'bench' };
const usage = { prompt_tokens: 900, completion_tokens: 180, total_tokens: 1080 };

const CHAT = json({
  ...head,
  choices: [{ index: 0, message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' }],
  usage,
});
const MESSAGES = json({
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench',
  content: [{ type: 'text', text: TEXT }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 900, output_tokens: 180 },
});

const chunk = (delta: unknown, finish: string | null) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', system_fingerprint: 'fp_44709d6fcb', choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;
const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;

const STREAMS = {
  chat: bytesOf({
    first: chunk({ role: 'assistant', content: '' }, null),
    frame: chunk({ content: ' seven' }, null),
    last: `${chunk({}, 'stop')}data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  }),
  messages: bytesOf({
    first:
      event({
        type: 'message_start',
        ...{
          message: {
            id: 'msg_bench',
            type: 'message',
            role: 'assistant',
            model: 'bench',
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 900, output_tokens: 1 },
          },
        },
      }) + event({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } }),
    frame: event({ type: 'content_block_delta', ...{ index: 0, delta: { type: 'text_delta', text: ' seven' } } }),
    last:
      event({ type: 'content_block_stop', ...{ index: 0 } }) +
      event({
        type: 'message_delta',
        ...{ delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 180 } },
      }) +
      event({ type: 'message_stop' }),
  }),
};

/** Frames leave one by one, as tokens do; how many, the prompt says: `frames:N`, or for ever with `hold:`. */
function stream(socket: Socket, wire: 'chat' | 'messages', request: Buffer): void {
  const { first, frame, last } = STREAMS[wire];
  const text = request.toString('latin1');
  const count = Number(/frames:(\d+)/.exec(text)?.[1] ?? 20);
  socket.write(first);
  if (text.includes('hold:')) return void socket.write(frame);
  let sent = 0;
  const next = () => {
    if (socket.destroyed) return;
    if (sent === count) return void socket.write(last);
    sent += 1;
    if (socket.write(frame)) setImmediate(next);
    else socket.once('drain', next);
  };
  next();
}

function answer(socket: Socket, request: Buffer): void {
  const wire = request.subarray(0, 64).includes('/messages') ? 'messages' : 'chat';
  if (request.includes('"stream":true')) stream(socket, wire, request);
  else socket.write(wire === 'chat' ? CHAT : MESSAGES);
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** Bytes of the request that `bytes` starts with; infinite while its head is not complete. */
function lengthOf(bytes: Buffer): number {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return Number.POSITIVE_INFINITY;
  const head = bytes.toString('latin1', 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return end + 4 + Number(length);
  const last = bytes.indexOf('\r\n0\r\n\r\n', end);
  return last < 0 ? Number.POSITIVE_INFINITY : last + 7;
}

const server = createServer({ noDelay: true }, (socket) => {
  let received: Buffer = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    for (let length = lengthOf(received); received.length >= length; length = lengthOf(received)) {
      answer(socket, received.subarray(0, length));
      received = received.subarray(length);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
