import { isObject, type JsonObject, nonEmptyString } from '../../base/json.ts';
import { upstreamTarget } from '../../provider/upstream-target.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { limitItems, requiredList } from '../../wire/request-fields.ts';
import { inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { requestedModel } from '../dispatch/requested-model.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import { spliceBody } from '../http/json-splice.ts';
import type { Route } from '../http/router.ts';
import { relay } from '../relay/relay.ts';
import { WholeBodyTransform } from '../relay/whole-body-transform.ts';

const PATH = '/messages/count_tokens';

/** `POST /messages/count_tokens`: the upstream's count if it provides one, else an estimate. Free of charge. */
export function countTokensRoute(deps: GatewayDeps): Route {
  return inferenceRoute(deps, {
    path: PATH,
    format: 'messages',
    read: async (context) => {
      const received = await readJsonBody(deps, context);
      const { value } = received;
      return {
        model: () => requestedModel(deps, value),
        check: () => {
          requiredList(value, 'messages');
          limitItems(value);
        },
        repeatable: true,
        send: async ({ model }, credential) => {
          if (model.endpoint.format === 'messages') {
            const byok = credential !== undefined;
            const target = upstreamTarget(model.endpoint, PATH, 'messages', credential?.secret.reveal());
            const transform = new WholeBodyTransform(model.provider, byok);
            const body = spliceBody(received, model.id);
            try {
              await relay(deps.dispatcher, context, { target, model, body, transform, byok, stream: false });
              return undefined;
            } catch (thrown) {
              if (!isUnknownPath(thrown)) throw thrown;
            }
          }
          context.sendJson(200, { input_tokens: estimate(value) });
          return undefined;
        },
      };
    },
  });
}

/** Some servers that support Messages do not count tokens. */
function isUnknownPath(thrown: unknown): boolean {
  return thrown instanceof SvcError && (thrown.upstreamStatus === 404 || thrown.upstreamStatus === 405);
}

/** Characters of text per token, as vendors state it for English. Other content counts as a fixed number. */
const CHARACTERS_A_TOKEN = 4;
const TOKENS_AN_IMAGE = 1_600;

function estimate(body: JsonObject): number {
  let characters = 0;
  let media = 0;
  const visit = (value: unknown): void => {
    if (typeof value === 'string') characters += value.length;
    else if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) {
      if (nonEmptyString(value.type) === 'image' || nonEmptyString(value.type) === 'document') media += 1;
      else for (const inner of Object.values(value)) visit(inner);
    }
  };
  for (const field of ['system', 'messages', 'tools']) visit(body[field]);
  return Math.max(1, Math.ceil(characters / CHARACTERS_A_TOKEN) + media * TOKENS_AN_IMAGE);
}
