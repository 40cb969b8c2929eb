import { GatewayError } from '../wire/errors.ts';
import { isObject, type JsonObject, textOf } from '../wire/json.ts';
import { limitItems, requiredList } from '../wire/request-fields.ts';
import { admit, identify } from './caller.ts';
import type { Exchange } from './exchange.ts';
import { spliceBody } from './json-splice.ts';
import { refuseOtherModels } from './model-fields.ts';
import { byokOf } from './organization.ts';
import type { GatewayParts } from './parts.ts';
import { PlainTap } from './plain-tap.ts';
import { relay } from './relay.ts';
import { parseBody, readBody } from './request-body.ts';
import { requestedModel } from './requested-model.ts';
import type { Route } from './router.ts';
import { upstreamTarget } from './upstream-target.ts';

/** `POST /messages/count_tokens`: the upstream's own count where it has one, else an estimate. */
export function countTokensRoute(parts: GatewayParts): Route {
  return {
    method: 'POST',
    path: '/messages/count_tokens',
    format: 'messages',
    handle: (exchange) => count(parts, exchange),
  };
}

async function count(parts: GatewayParts, exchange: Exchange): Promise<void> {
  const caller = identify(parts, exchange);
  const settings = parts.settings();
  const received = parseBody(await readBody(exchange, settings.gateway.maxBodyBytes));
  const { value } = received;
  refuseOtherModels(value);
  const { model } = await requestedModel(parts, value);
  exchange.facts.model = model.ref;
  admit(parts, caller, { ...model, ref: model.ref });
  requiredList(value, 'messages');
  limitItems(value);
  if (model.endpoint.format === 'messages') {
    const byok = byokOf(caller.organization, model, settings);
    const target = upstreamTarget(model.endpoint, '/messages/count_tokens', 'messages', byok);
    try {
      await relay(exchange, {
        ...target,
        dispatcher: parts.dispatcher,
        body: spliceBody(received, model.id),
        tap: new PlainTap(model.provider, byok !== undefined),
        provider: model.provider,
        byok: byok !== undefined,
        stream: false,
        timeout: model.endpoint.timeout,
      });
      return;
    } catch (thrown) {
      // Servers that speak Messages need not count.
      if (!(thrown instanceof GatewayError) || (thrown.upstreamStatus !== 404 && thrown.upstreamStatus !== 405)) {
        throw thrown;
      }
    }
  }
  exchange.sendJson(200, { input_tokens: estimate(value) });
}

/** Characters of text in a token, as vendors put it for English; other content counts by a flat guess. */
const CHARACTERS_A_TOKEN = 4;
const TOKENS_AN_IMAGE = 1_600;

function estimate(body: JsonObject): number {
  let characters = 0;
  let media = 0;
  const visit = (value: unknown): void => {
    if (typeof value === 'string') characters += value.length;
    else if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) {
      if (textOf(value.type) === 'image' || textOf(value.type) === 'document') media += 1;
      else for (const inner of Object.values(value)) visit(inner);
    }
  };
  for (const field of ['system', 'messages', 'tools']) visit(body[field]);
  return Math.max(1, Math.ceil(characters / CHARACTERS_A_TOKEN) + media * TOKENS_AN_IMAGE);
}
