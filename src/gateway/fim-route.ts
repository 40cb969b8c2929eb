import { fill } from '../provider/fill.ts';
import type { Event } from '../wire/event.ts';
import { fimFamily, readFimRequest, unsupportedFimModel } from '../wire/fim.ts';
import { FimStreamWriter, writeFimAnswer } from '../wire/fim-answer.ts';
import { frameText } from '../wire/sse.ts';
import { requireKey } from './authentication.ts';
import type { Exchange } from './exchange.ts';
import { requestedModel } from './inference-routes.ts';
import type { GatewayParts } from './parts.ts';
import { STREAM_HEAD } from './relay.ts';
import { parseBody, readBody } from './request-body.ts';
import type { Route } from './router.ts';

/** `POST {fim_url}/completions`; `{fim_url}` is `/fim` beside the base path. */
export function fimRoute(parts: GatewayParts): Route {
  return { method: 'POST', path: '/fim/completions', handle: (exchange) => complete(parts, exchange) };
}

async function complete(parts: GatewayParts, exchange: Exchange): Promise<void> {
  requireKey(exchange, parts.keys);
  const body = parseBody(await readBody(exchange.request, parts.settings().gateway.maxBodyBytes));
  const { hole, stream } = readFimRequest(body);
  const model = requestedModel(parts, body);
  if (fimFamily(model.id) === undefined) throw unsupportedFimModel(hole.model);
  const gone = new AbortController();
  exchange.response.once('close', () => gone.abort());
  const { model: asked, ...rest } = hole;
  const events = fill(model, rest, { transport: parts.transport, signal: gone.signal, stream, byok: false });
  const context = { id: exchange.id, model: asked, created: Math.floor(Date.now() / 1000) };
  if (stream) await streamed(exchange, events, new FimStreamWriter(context));
  else exchange.sendJson(200, writeFimAnswer(context, await all(events)));
}

async function streamed(exchange: Exchange, events: AsyncIterable<Event>, writer: FimStreamWriter): Promise<void> {
  const { response } = exchange;
  for await (const event of events) {
    if (event.type === 'error' && !response.headersSent) throw event.error;
    const text = writer.write(event).map(frameText).join('');
    if (text === '' || event.type === 'start') continue;
    if (!response.headersSent) response.writeHead(200, STREAM_HEAD);
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  }
  response.end();
}

async function all(events: AsyncIterable<Event>): Promise<Event[]> {
  const list: Event[] = [];
  for await (const event of events) {
    if (event.type === 'error') throw event.error;
    list.push(event);
  }
  return list;
}
