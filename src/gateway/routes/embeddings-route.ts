import type { JsonObject } from '../../base/json.ts';
import { upstreamTarget } from '../../provider/upstream-target.ts';
import { invalidRequest } from '../../wire/errors/svc-error.ts';
import { textTokens } from '../../wire/prompt-size.ts';
import { optionalCount } from '../../wire/request-fields.ts';
import { type Inference, inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { requestedRef } from '../dispatch/requested-model.ts';
import { requireOpenAI, specialModel } from '../dispatch/special-model.ts';
import { spliceBody } from '../http/json-splice.ts';
import type { Route } from '../http/router.ts';
import { EmbeddingsTransform, requestedForm } from '../relay/embeddings-transform.ts';
import { relayBody } from '../relay/relay.ts';

/** `POST /embeddings` in OpenAI's format: `float` and `base64`, with `dimensions`. The client gets the form that it requested. */
export function embeddingsRoute(deps: Inference): Route {
  return inferenceRoute(deps, {
    path: '/embeddings',
    read: async (context, caller) => {
      const received = await readJsonBody(deps, context);
      return {
        model: () =>
          specialModel(
            deps,
            requestedRef(received.value),
            deps.settings().gateway.embeddingModels,
            caller.organization,
          ),
        check: (model) => {
          requireOpenAI(model);
          checkBody(received.value);
        },
        repeatable: true,
        send: async ({ model }, credential, attempt) => {
          const byok = credential !== undefined;
          const target = upstreamTarget(model.endpoint, '/embeddings', undefined, credential?.secret.reveal());
          const body = spliceBody(received, model.id);
          const transform = new EmbeddingsTransform(model.provider, byok, requestedForm(received.value));
          const answer = await relayBody(deps.dispatcher, context, {
            target,
            model,
            body,
            transform,
            byok,
            stream: false,
            attempt,
          });
          // Vectors do not count as output.
          return { ...answer, estimate: { input: textTokens(body.length), output: 0 } };
        },
      };
    },
  });
}

/** A text, a list of texts, the tokens of a text, or a list of those (OpenAI, "Create embeddings"). */
function isEmbeddingInput(input: unknown): boolean {
  if (typeof input === 'string') return true;
  if (!Array.isArray(input) || input.length === 0) return false;
  const [first] = input;
  if (Array.isArray(first)) return input.every((tokens) => Array.isArray(tokens) && tokens.every(Number.isInteger));
  return typeof first === 'string' ? input.every((text) => typeof text === 'string') : input.every(Number.isInteger);
}

function checkBody(body: JsonObject): void {
  if (body.input === undefined || body.input === null || body.input === '') {
    throw invalidRequest('input', '`input` is required: a text or a list of texts.');
  }
  if (!isEmbeddingInput(body.input)) {
    throw invalidRequest('input', '`input` must be a text, a list of texts, or tokens as numbers.');
  }
  optionalCount(body, 'dimensions');
}
