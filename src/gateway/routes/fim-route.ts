import type { Model } from '../../catalog/model.ts';
import { matchesModelPattern } from '../../catalog/model-pattern.ts';
import type { OrganizationSettings } from '../../config/settings/settings.ts';
import { completeCode } from '../../provider/complete-code.ts';
import { fimFamily, readFimRequest, unsupportedFimModel } from '../../wire/fim/fim-http-request.ts';
import { type Names, unknownModel } from '../dispatch/model-names.ts';
import type { Candidate } from '../dispatch/models.ts';
import { type Inference, inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { findWithoutVariant } from '../dispatch/requested-model.ts';
import type { Route } from '../http/router.ts';
import { promptHead } from '../pools/prompt-head.ts';
import { answerWithEvents } from '../relay/event-answer.ts';

/** `POST {fim_url}/completions`, where `{fim_url}` is `/fim`, next to the base path. */
export function fimRoute(deps: Inference): Route {
  return inferenceRoute<Model>(deps, {
    path: '/fim/completions',
    read: async (context, caller) => {
      const { bytes, value } = await readJsonBody(deps, context);
      const asked = readFimRequest(value);
      return {
        model: () => requestedFimModel(deps, asked.fimRequest.model, caller.organization),
        stream: asked.stream,
        // `completeCode` repeats it.
        repeatable: false,
        promptHead: () => promptHead(value),
        send: async ({ model }, credential, attempt) => {
          const { fimRequest, stream } = asked;
          const { model: named, ...rest } = fimRequest;
          const answer = await answerWithEvents(
            context,
            { deps, apiKey: credential?.secret.reveal(), attempt, stream, model: named },
            'fim',
            (options) => completeCode(model, rest, options),
          );
          return { ...answer, sent: bytes.length };
        },
      };
    },
  });
}

function requestedFimModel(deps: Names, ref: string, organization: OrganizationSettings | undefined): Candidate {
  const found = findWithoutVariant(deps, ref);
  const models = found?.pool?.members.map(({ model }) => model) ?? (found ? [found.model] : []);
  const { fimModels } = deps.settings().gateway;
  const asked = models.length === 0 ? [{ id: ref, ref }] : models;
  const admits = (each: Pick<Model, 'id' | 'ref'>) =>
    fimFamily(each.id) !== undefined || fimModels.some((pattern) => matchesModelPattern(pattern, each.ref));
  if (!asked.every(admits)) throw unsupportedFimModel(ref);
  if (found === undefined) throw unknownModel(deps, ref, organization);
  return found;
}
