import type { JsonObject } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { estimateTokens } from '../../wire/prompt-size.ts';
import { limitItems, requiredList } from '../../wire/request-fields.ts';
import { refuseStatefulResponses } from '../../wire/responses/read-request.ts';
import { type Inference, inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { requestedModel } from '../dispatch/requested-model.ts';
import { spliceBody } from '../http/json-splice.ts';
import type { Route } from '../http/router.ts';
import { relay } from '../relay/relay.ts';
import { WholeBodyTransform } from '../relay/whole-body-transform.ts';
import { fitOwnFormat, issuerOf, ownFormatTarget } from './own-format-body.ts';

interface Counting {
  readonly format: 'messages' | 'responses';
  readonly path: string;
  /** Checks the body. @throws SvcError 400. */
  check(body: JsonObject): void;
  /** The fields with the prompt. */
  readonly fields: readonly string[];
  write(tokens: number): Record<string, unknown>;
}

const COUNTINGS: readonly Counting[] = [
  {
    format: 'messages',
    path: '/messages/count_tokens',
    check: (body) => void requiredList(body, 'messages'),
    fields: ['system', 'messages', 'tools'],
    write: (input_tokens) => ({ input_tokens }),
  },
  {
    format: 'responses',
    path: '/responses/input_tokens',
    check: refuseStatefulResponses,
    fields: ['instructions', 'input', 'tools'],
    write: (input_tokens) => ({ object: 'response.input_tokens', input_tokens }),
  },
];

/** The tokens of a request: the upstream's count if it provides one, else an estimate. Free of charge. */
export function countTokensRoutes(deps: Inference): Route[] {
  return COUNTINGS.map((counting) => countTokensRoute(deps, counting));
}

function countTokensRoute(deps: Inference, { format, path, check, fields, write }: Counting): Route {
  return inferenceRoute<Model>(deps, {
    path,
    format,
    read: async (context, caller) => {
      const received = await readJsonBody(deps, context);
      const { value } = received;
      return {
        model: () => requestedModel(deps, value, caller.organization),
        check: () => {
          check(value);
          limitItems(value);
        },
        repeatable: true,
        send: async ({ model }, credential, attempt) => {
          if (model.endpoint.format === format) {
            const byok = credential !== undefined;
            const target = ownFormatTarget(context, model.endpoint, { path, format }, credential);
            const transform = new WholeBodyTransform(model.provider, byok);
            const { body: fitted } = fitOwnFormat(model, value, issuerOf(model, caller, credential));
            const body =
              fitted === value
                ? spliceBody(received, model.id)
                : Buffer.from(JSON.stringify({ ...fitted, model: model.id }));
            try {
              await relay(deps.dispatcher, context, { target, model, body, transform, byok, stream: false, attempt });
              return undefined;
            } catch (thrown) {
              if (!isUnknownPath(thrown)) throw thrown;
            }
          }
          context.sendJson(200, write(estimateTokens(fields.map((field) => value[field]))));
          return undefined;
        },
      };
    },
  });
}

/** Some servers that support a format do not have all of its endpoints. */
export function isUnknownPath(thrown: unknown): boolean {
  return thrown instanceof SvcError && (thrown.upstreamStatus === 404 || thrown.upstreamStatus === 405);
}
