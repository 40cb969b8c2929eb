/** The upstream of all contestants: canned answers, as fast as a plain server gives them. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(16);
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
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
  chat: {
    first: chunk({ role: 'assistant', content: '' }, null),
    frame: chunk({ content: ' seven' }, null),
    last: `${chunk({}, 'stop')}data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`,
  },
  messages: {
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
  },
};

/** Frames leave one by one, as tokens do; how many, the prompt says: `frames:N`, or for ever with `hold`. */
function stream(response: ServerResponse, wire: 'chat' | 'messages', body: string): void {
  const { first, frame, last } = STREAMS[wire];
  const count = Number(/frames:(\d+)/.exec(body)?.[1] ?? 20);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(first);
  if (body.includes('hold:')) return void response.write(frame);
  let sent = 0;
  const next = () => {
    if (response.destroyed) return;
    if (sent === count) return void response.end(last);
    sent += 1;
    if (response.write(frame)) setImmediate(next);
    else response.once('drain', next);
  };
  next();
}

const server = createServer((request, response) => {
  const wire = request.url?.includes('/messages') ? 'messages' : 'chat';
  const chunks: Buffer[] = [];
  request.on('data', (bytes: Buffer) => chunks.push(bytes));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    if (body.includes('"stream":true')) return stream(response, wire, body.toString('latin1'));
    const answer = wire === 'chat' ? CHAT : MESSAGES;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
