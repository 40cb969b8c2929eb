import type { ServerResponse } from 'node:http';
import { defined } from '../../base/json.ts';
import type { CompleteCodeOptions } from '../../provider/complete-code.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import type { Event, Usage } from '../../wire/event.ts';
import { type CompletionObject, FimStreamWriter, writeFimAnswer } from '../../wire/fim/fim-answer.ts';
import { frameText } from '../../wire/stream/sse.ts';
import { clientGone } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import { countCharacters } from './answer-facts.ts';
import type { AttemptOptions, RelayedAnswer } from './relay-request.ts';

export interface EventAnswer {
  readonly deps: { readonly transport: Transport };
  /** The organization's own key. */
  readonly apiKey: string | undefined;
  readonly attempt: AttemptOptions;
  /** The client wants a stream. */
  readonly stream: boolean;
  /** The model as the client named it. */
  readonly model: string;
}

/** Answers with the text of events, streamed or whole. The client's disconnection ends them. */
export async function answerWithEvents(
  context: RequestContext,
  { deps, apiKey, attempt, stream, model }: EventAnswer,
  object: CompletionObject,
  ask: (options: CompleteCodeOptions) => AsyncIterable<Event>,
): Promise<Omit<RelayedAnswer, 'sent'>> {
  const clientAbort = new AbortController();
  const leave = () => clientAbort.abort();
  context.response.once('close', leave);
  const watch = new Watch();
  const own = defined({ apiKey });
  const transport = withHeaders(deps.transport, attempt.headers);
  const events = watch.over(ask({ transport, signal: clientAbort.signal, stream, byok: apiKey !== undefined, ...own }));
  const answer = { id: context.id, model, created: Math.floor(Date.now() / 1000), object };
  try {
    if (stream) await streamed(context, events, new FimStreamWriter(answer), attempt.begun);
    else context.sendJson(200, writeFimAnswer(answer, await all(events)));
  } catch (thrown) {
    if (!clientAbort.signal.aborted) throw thrown;
  } finally {
    context.response.off('close', leave);
  }
  const { usage, firstByteMs, characters, model: answeredBy } = watch;
  // An answer that ended before its first character was not served.
  if (clientAbort.signal.aborted && characters === 0) throw clientGone();
  const error = clientAbort.signal.aborted ? undefined : watch.failure;
  const outcome = clientAbort.signal.aborted ? 'client-gone' : error === undefined ? 'complete' : 'failed';
  const received = characters * MAX_BYTES_PER_CHARACTER;
  return { usage, outcome, error, firstByteMs, received, characters, answeredBy };
}

function withHeaders(transport: Transport, headers: AttemptOptions['headers']): Transport {
  if (headers === undefined) return transport;
  return { send: (request) => transport.send({ ...request, headers: { ...request.headers, ...headers } }) };
}

/** UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Collects usage and length of an answer for the ledger. */
class Watch {
  usage: Usage | undefined;
  failure: Extract<Event, { type: 'error' }>['error'] | undefined;
  characters = 0;
  /** The model that the answer names. */
  model: string | undefined;
  firstByteMs = 0;

  async *over(events: AsyncIterable<Event>): AsyncGenerator<Event> {
    const startedAt = performance.now();
    for await (const event of events) {
      if (this.firstByteMs === 0) this.firstByteMs = performance.now() - startedAt;
      if (event.type === 'usage') this.usage = event.usage;
      if (event.type === 'start') this.model = event.model;
      this.characters += countCharacters(event);
      if (event.type === 'error') this.failure = event.error;
      yield event;
    }
  }
}

async function streamed(
  context: RequestContext,
  events: AsyncIterable<Event>,
  writer: FimStreamWriter,
  begun: AttemptOptions['begun'],
): Promise<void> {
  const { response } = context;
  for await (const event of events) {
    if (event.type === 'error' && !context.answerBegun) throw event.error;
    const text = writer.write(event).map(frameText).join('');
    if (text === '' || event.type === 'start' || response.destroyed) continue;
    if (!context.answerBegun) {
      begun?.();
      context.writeStreamHead();
    }
    context.touchHeartbeat();
    if (!response.write(text)) await drained(response);
  }
  response.end();
}

/** Resolves when the client has read the data or disconnected. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}

async function all(events: AsyncIterable<Event>): Promise<Event[]> {
  const list: Event[] = [];
  for await (const event of events) {
    if (event.type === 'error') throw event.error;
    list.push(event);
  }
  return list;
}
