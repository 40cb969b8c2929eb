import { invalidRequest } from '../wire/errors.ts';
import { optionalCount } from '../wire/request-fields.ts';
import { admit, identify } from './caller.ts';
import type { Exchange } from './exchange.ts';
import { spliceBody } from './json-splice.ts';
import { meter } from './metering.ts';
import { refuseOtherModels } from './model-fields.ts';
import { byokOf } from './organization.ts';
import type { GatewayParts } from './parts.ts';
import { PlainTap } from './plain-tap.ts';
import { relay } from './relay.ts';
import { parseBody, readBody } from './request-body.ts';
import { requestedRef } from './requested-model.ts';
import type { Route } from './router.ts';
import { countingFailures } from './serve-from.ts';
import { requireOpenAI, specialModel } from './special-model.ts';
import { upstreamTarget } from './upstream-target.ts';

/** `POST /embeddings` in OpenAI's shape, `float` and `base64`, with `dimensions`. */
export function embeddingsRoute(parts: GatewayParts): Route {
  return { method: 'POST', path: '/embeddings', handle: (exchange) => embed(parts, exchange) };
}

async function embed(parts: GatewayParts, exchange: Exchange): Promise<void> {
  const caller = identify(parts, exchange);
  const settings = parts.settings();
  const received = parseBody(await readBody(exchange, settings.gateway.maxBodyBytes));
  const { value } = received;
  refuseOtherModels(value);
  const model = specialModel(parts, requestedRef(value), settings.gateway.embeddingModels);
  exchange.facts.model = model.ref;
  admit(parts, caller, model);
  requireOpenAI(model);
  if (value.input === undefined || value.input === null || value.input === '') {
    throw invalidRequest('input', '`input` is required: a text or a list of texts.');
  }
  optionalCount(value, 'dimensions');
  const byok = byokOf(caller.organization, model, settings);
  const target = upstreamTarget(model.endpoint, '/embeddings', undefined, byok);
  const body = spliceBody(received, model.id);
  const tap = new PlainTap(model.provider, byok !== undefined);
  const outcome = await countingFailures(parts, exchange, model, byok !== undefined, () =>
    relay(exchange, {
      ...target,
      dispatcher: parts.dispatcher,
      body,
      tap,
      provider: model.provider,
      byok: byok !== undefined,
      stream: false,
      timeout: model.endpoint.timeout,
    }),
  );
  const { ended, model: answeredBy, ...answer } = outcome;
  // Vectors are not output that is counted.
  const estimate = { input: Math.ceil(body.length / 4), output: 0 };
  const of = { model, byok: byok !== undefined, sent: body.length, outcome: ended, answeredBy };
  meter(parts, exchange, caller, { ...answer, ...of, estimate });
}
