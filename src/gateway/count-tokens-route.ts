import { upstreamTarget } from '../provider/upstream-target.ts';
import { GatewayError } from '../wire/errors.ts';
import { isObject, type JsonObject, textOf } from '../wire/json.ts';
import { limitItems, requiredList } from '../wire/request-fields.ts';
import { spliceBody } from './json-splice.ts';
import type { GatewayParts } from './parts.ts';
import { inferenceRoute, readJsonBody } from './pipeline.ts';
import { PlainTap } from './plain-tap.ts';
import { relay } from './relay.ts';
import { requestedModel } from './requested-model.ts';
import type { Route } from './router.ts';

const PATH = '/messages/count_tokens';

/** `POST /messages/count_tokens`: the upstream's own count where it has one, else an estimate. Costs nothing. */
export function countTokensRoute(parts: GatewayParts): Route {
  return inferenceRoute(parts, {
    path: PATH,
    format: 'messages',
    read: async (exchange) => {
      const received = await readJsonBody(parts, exchange);
      const { value } = received;
      return {
        model: () => requestedModel(parts, value),
        check: () => {
          requiredList(value, 'messages');
          limitItems(value);
        },
        repeatable: true,
        send: async ({ model }, credential) => {
          if (model.endpoint.format === 'messages') {
            const byok = credential !== undefined;
            const target = upstreamTarget(model.endpoint, PATH, 'messages', credential?.secret.reveal());
            const tap = new PlainTap(model.provider, byok);
            const body = spliceBody(received, model.id);
            try {
              await relay(parts.dispatcher, exchange, { target, model, body, tap, byok, stream: false });
              return undefined;
            } catch (thrown) {
              if (!isUnknownPath(thrown)) throw thrown;
            }
          }
          exchange.sendJson(200, { input_tokens: estimate(value) });
          return undefined;
        },
      };
    },
  });
}

/** Servers that support Messages need not count tokens. */
function isUnknownPath(thrown: unknown): boolean {
  return thrown instanceof GatewayError && (thrown.upstreamStatus === 404 || thrown.upstreamStatus === 405);
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
