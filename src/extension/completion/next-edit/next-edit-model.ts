import { defined } from '../../../base/json.ts';
import type { Model } from '../../../catalog/model.ts';
import type { EditPredictorDeps, NextEditModel } from '../../../completion/next-edit/model/edit-predictor.ts';
import type { Transport } from '../../../provider/transport/transport.ts';
import type { Models } from '../../models/editor-models.ts';

/** The model of next edits, and how it is asked. By hand, the chat model answers if there is no other. */
export function nextEditModels(
  models: Models,
  transport: Transport,
): Required<Pick<EditPredictorDeps, 'model' | 'predict'>> {
  return {
    model: (manual) => {
      const { nextEdit } = models;
      if (nextEdit !== undefined || !manual) return editModel(nextEdit, models);
      return editModel(models.chat, models);
    },
    predict: ({ ref, dialect }) => {
      const model = models.registry?.find(ref);
      return async function* (request, { maxTokens }, signal) {
        if (model === undefined) return;
        const { predictEdit } = await import('../../../provider/predict-edit.ts');
        const options = { transport, signal, maxTokens };
        yield* models.whenLoaded(model, signal, () => predictEdit(model, dialect, request, options));
      };
    },
  };
}

function editModel(model: Model | undefined, { runningChats }: Models): NextEditModel | undefined {
  if (model === undefined) return undefined;
  const { ref, limit, cost, edit } = model;
  return {
    ref,
    contextTokens: limit.context,
    dialect: edit ?? 'chat-patch',
    ...runningChats.serverState(model),
    ...defined({ cost }),
  };
}
