import type { ServerResponse } from 'node:http';
import { fill } from '../provider/fill.ts';
import type { Event, Usage } from '../wire/event.ts';
import { fimFamily, readFimRequest, unsupportedFimModel } from '../wire/fim.ts';
import { FimStreamWriter, writeFimAnswer } from '../wire/fim-answer.ts';
import { frameText } from '../wire/sse.ts';
import { charactersOf } from './answer-facts.ts';
import { admit, identify } from './caller.ts';
import type { Exchange } from './exchange.ts';
import { meter } from './metering.ts';
import { refuseOtherModels } from './model-fields.ts';
import { byokOf } from './organization.ts';
import type { GatewayParts } from './parts.ts';
import { parseBody, readBody } from './request-body.ts';
import { unknownModel } from './requested-model.ts';
import type { Route } from './router.ts';
import { noteFailure } from './serve-from.ts';
import { refuseWithheld } from './upstream-target.ts';

/** `POST {fim_url}/completions`; `{fim_url}` is `/fim` beside the base path. */
export function fimRoute(parts: GatewayParts): Route {
  return { method: 'POST', path: '/fim/completions', handle: (exchange) => complete(parts, exchange) };
}

async function complete(parts: GatewayParts, exchange: Exchange): Promise<void> {
  const caller = identify(parts, exchange);
  const settings = parts.settings();
  const raw = await readBody(exchange, settings.gateway.maxBodyBytes);
  const { value } = parseBody(raw);
  refuseOtherModels(value);
  const { hole, stream } = readFimRequest(value);
  const model = parts.registry().models.get(hole.model);
  if (fimFamily(model?.id ?? hole.model) === undefined) throw unsupportedFimModel(hole.model);
  if (model === undefined) throw unknownModel(hole.model);
  exchange.facts.model = model.ref;
  admit(parts, caller, model);
  refuseWithheld(model.endpoint);
  const credential = byokOf(caller.organization, model, settings);
  const byok = credential !== undefined;
  const gone = new AbortController();
  const leave = () => gone.abort();
  exchange.response.once('close', leave);
  const { model: asked, ...rest } = hole;
  const watch = new Watch();
  const apiKey = credential === undefined ? {} : { apiKey: credential.secret.reveal() };
  const events = fill(model, rest, { transport: parts.transport, signal: gone.signal, stream, byok, ...apiKey });
  const context = { id: exchange.id, model: asked, created: Math.floor(Date.now() / 1000) };
  try {
    if (stream) await streamed(exchange, watch.over(events), new FimStreamWriter(context));
    else exchange.sendJson(200, writeFimAnswer(context, await all(watch.over(events))));
  } finally {
    exchange.response.off('close', leave);
    if (watch.failure !== undefined && !gone.signal.aborted) noteFailure(parts, exchange, model, watch.failure, byok);
    if (gone.signal.aborted) exchange.facts.errorType = 'client_disconnect';
    const outcome = gone.signal.aborted ? 'client-gone' : watch.failure === undefined ? 'complete' : 'failed';
    const { usage, firstByteMs, characters, model: answeredBy } = watch;
    const sizes = { sent: raw.length, received: characters * MOST_BYTES_A_CHARACTER, characters };
    // What failed before its first word was not served.
    if (outcome === 'complete' || characters > 0) {
      meter(parts, exchange, caller, { model, byok, usage, outcome, firstByteMs, answeredBy, ...sizes });
    }
  }
}

/** In UTF-8. */
const MOST_BYTES_A_CHARACTER = 3;

/** What the events of an answer come to, for the ledger. */
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
      this.characters += charactersOf(event);
      if (event.type === 'error') this.failure = event.error;
      yield event;
    }
  }
}

async function streamed(exchange: Exchange, events: AsyncIterable<Event>, writer: FimStreamWriter): Promise<void> {
  const { response } = exchange;
  for await (const event of events) {
    if (event.type === 'error' && !response.headersSent) throw event.error;
    const text = writer.write(event).map(frameText).join('');
    if (text === '' || event.type === 'start' || response.destroyed) continue;
    if (!response.headersSent) exchange.writeStreamHead();
    if (!response.write(text)) await drained(response);
  }
  response.end();
}

/** Resolves when the client has read, or left. */
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
