import type { Model } from '../catalog/model.ts';
import { upstreamHeaders } from '../provider/headers.ts';
import { conversationRequest } from '../provider/request.ts';
import { upstreamURL } from '../provider/url.ts';
import { GatewayError, invalidRequest } from '../wire/errors.ts';
import type { Format } from '../wire/format.ts';
import { FORMATS } from '../wire/formats.ts';
import type { JsonObject } from '../wire/json.ts';
import { requireKey } from './authentication.ts';
import type { Exchange } from './exchange.ts';
import { spliceBody } from './json-splice.ts';
import type { GatewayParts } from './parts.ts';
import { relay } from './relay.ts';
import { parseBody, readBody } from './request-body.ts';
import type { Route } from './router.ts';
import { StreamTap } from './stream-tap.ts';
import { TranslatingTap } from './translating-tap.ts';

/** The three request formats, each to any upstream (spec 4.1). */
export function inferenceRoutes(parts: GatewayParts): Route[] {
  return Object.values(FORMATS).map((format) => ({
    method: 'POST',
    path: format.path,
    format: format.name,
    handle: (exchange) => infer(parts, exchange, format),
  }));
}

async function infer(parts: GatewayParts, exchange: Exchange, format: Format): Promise<void> {
  requireKey(exchange, parts.keys);
  const raw = await readBody(exchange.request, parts.settings().gateway.maxBodyBytes);
  const body = parseBody(raw);
  const model = requestedModel(parts, body);
  const upstream =
    model.endpoint.format === format.name ? sameFormat(model, body, raw) : translated(model, body, format, exchange);
  const { origin, pathname, search } = new URL(upstream.url);
  await relay(exchange, {
    dispatcher: parts.dispatcher,
    origin,
    path: pathname + search,
    headers: upstream.headers,
    body: upstream.body,
    tap: upstream.tap,
    provider: model.provider,
    byok: false,
    timeout: model.endpoint.timeout,
    ...(model.endpoint.chunkTimeout === undefined ? {} : { chunkTimeout: model.endpoint.chunkTimeout }),
  });
}

function sameFormat(model: Model, body: JsonObject, raw: Buffer) {
  const { endpoint } = model;
  const wantsUsage = endpoint.format === 'chat-completions' && body.stream === true && endpoint.kind !== 'mistral';
  return {
    url: upstreamURL(endpoint, FORMATS[endpoint.format].path),
    headers: upstreamHeaders(endpoint, endpoint.format),
    body: spliceBody(raw, body, model.id, wantsUsage ? INCLUDE_USAGE : {}),
    tap: new StreamTap(endpoint.format, model.provider, false),
  };
}

const INCLUDE_USAGE = { stream_options: { include_usage: true } };

function translated(model: Model, body: JsonObject, client: Format, exchange: Exchange) {
  const conversation = client.readRequest(body);
  const request = conversationRequest(model, conversation);
  const context = {
    id: exchange.id,
    model: conversation.model,
    created: Math.floor(Date.now() / 1000),
    request: conversation,
  };
  return {
    url: request.url,
    headers: request.headers,
    body: Buffer.from(JSON.stringify(request.body)),
    tap: new TranslatingTap(request.format, client, context),
  };
}

/** @throws GatewayError 400 invalid_request or model_not_found. */
export function requestedModel(parts: GatewayParts, body: JsonObject): Model {
  const ref = body.model;
  if (typeof ref !== 'string' || ref === '') {
    throw invalidRequest('model', 'The field “model” must be a string such as "vendor/model".');
  }
  const model = parts.registry().models.get(ref);
  if (model) return model;
  throw new GatewayError({
    status: 400,
    errorType: 'model_not_found',
    message: `There is no model “${ref.slice(0, 200)}” at this gateway.`,
    action: 'GET /models lists what there is.',
    param: 'model',
  });
}
