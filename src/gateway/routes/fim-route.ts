import type { ServerResponse } from 'node:http';
import type { Model } from '../../catalog/model.ts';
import { completeCode } from '../../provider/complete-code.ts';
import type { Event, Usage } from '../../wire/event.ts';
import { FimStreamWriter, writeFimAnswer } from '../../wire/fim/fim-answer.ts';
import { fimFamily, readFimRequest, unsupportedFimModel } from '../../wire/fim/fim-http-request.ts';
import { frameText } from '../../wire/stream/sse.ts';
import { type Candidate, inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { unknownModel } from '../dispatch/requested-model.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { clientGone } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import { countCharacters } from '../relay/answer-facts.ts';
import type { RelayedAnswer } from '../relay/relay-request.ts';

/** `POST {fim_url}/completions`, where `{fim_url}` is `/fim`, next to the base path. */
export function fimRoute(deps: GatewayDeps): Route {
  return inferenceRoute<Model>(deps, {
    path: '/fim/completions',
    read: async (context) => {
      const { bytes, value } = await readJsonBody(deps, context);
      const asked = readFimRequest(value);
      return {
        model: () => requestedFimModel(deps, asked.fimRequest.model),
        // `completeCode` repeats it.
        repeatable: false,
        send: async (candidate, credential) => {
          const answer = await complete(deps, context, candidate, asked, credential?.secret.reveal());
          return { ...answer, sent: bytes.length };
        },
      };
    },
  });
}

function requestedFimModel(deps: GatewayDeps, ref: string): Candidate {
  const model = deps.registry().models.get(ref);
  if (fimFamily(model?.id ?? ref) === undefined) throw unsupportedFimModel(ref);
  if (model === undefined) throw unknownModel(ref);
  return { model, variant: undefined };
}

async function complete(
  { transport }: GatewayDeps,
  context: RequestContext,
  { model }: Candidate,
  { fimRequest, stream }: ReturnType<typeof readFimRequest>,
  apiKey: string | undefined,
): Promise<Omit<RelayedAnswer, 'sent'>> {
  const clientAbort = new AbortController();
  const leave = () => clientAbort.abort();
  context.response.once('close', leave);
  const { model: asked, ...rest } = fimRequest;
  const watch = new Watch();
  const credential = apiKey === undefined ? {} : { apiKey };
  const options = { transport, signal: clientAbort.signal, stream, byok: apiKey !== undefined, ...credential };
  const events = watch.over(completeCode(model, rest, options));
  const answer = { id: context.id, model: asked, created: Math.floor(Date.now() / 1000) };
  try {
    if (stream) await streamed(context, events, new FimStreamWriter(answer));
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

async function streamed(context: RequestContext, events: AsyncIterable<Event>, writer: FimStreamWriter): Promise<void> {
  const { response } = context;
  for await (const event of events) {
    if (event.type === 'error' && !response.headersSent) throw event.error;
    const text = writer.write(event).map(frameText).join('');
    if (text === '' || event.type === 'start' || response.destroyed) continue;
    if (!response.headersSent) context.writeStreamHead();
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
