import { isObject, type JsonObject } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import type { OrganizationSettings } from '../../config/settings/settings.ts';
import { predictEdit } from '../../provider/predict-edit.ts';
import { readEditAnswer } from '../../wire/edit/edit-dialect.ts';
import type { EditDialect, EditRequest } from '../../wire/edit/edit-request.ts';
import { parseInceptionEdit } from '../../wire/edit/inception-edit.ts';
import { invalidRequest, msg, SvcError } from '../../wire/errors/svc-error.ts';
import type { Event } from '../../wire/event.ts';
import { answerText, foldEvents } from '../../wire/fold.ts';
import { optionalBoolean, requiredModel } from '../../wire/request-fields.ts';
import { type Names, unknownModel } from '../dispatch/model-names.ts';
import type { Candidate } from '../dispatch/models.ts';
import { type Inference, inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { findWithoutVariant } from '../dispatch/requested-model.ts';
import type { Route } from '../http/router.ts';
import { answerWithEvents } from '../relay/event-answer.ts';

const MAX_TOKENS = 8192;
const DEFAULT_TOKENS = 1024;

interface AskedEdit {
  readonly model: string;
  readonly request: EditRequest;
  readonly maxTokens: number;
  readonly stream: boolean;
}

/**
 * `POST /edit/completions`: the next edit, in the form of Inception's API, of any model that has a format for it. The
 * answer is the rewritten region in a fence, or `None`.
 */
export function editRoute(deps: Inference): Route {
  return inferenceRoute<Model>(deps, {
    path: '/edit/completions',
    read: async (context, caller) => {
      const { bytes, value } = await readJsonBody(deps, context);
      const asked = readAskedEdit(value);
      return {
        model: () => requestedEditModel(deps, asked.model, caller.organization),
        // `predictEdit` repeats it.
        stream: asked.stream,
        repeatable: false,
        send: async ({ model }, credential, attempt) => {
          const { stream } = asked;
          const answer = await answerWithEvents(
            context,
            { deps, apiKey: credential?.secret.reveal(), attempt, stream, model: asked.model },
            'edit',
            (options) =>
              editEvents(
                dialectOf(model),
                asked.request,
                predictEdit(model, dialectOf(model), asked.request, { ...options, maxTokens: asked.maxTokens }),
              ),
          );
          return { ...answer, sent: bytes.length };
        },
      };
    },
  });
}

function requestedEditModel(deps: Names, ref: string, organization: OrganizationSettings | undefined): Candidate {
  const found = findWithoutVariant(deps, ref);
  if (found === undefined) throw unknownModel(deps, ref, organization);
  dialectOf(found.model);
  return found;
}

/** @throws SvcError 400 if the model can't predict edits. */
function dialectOf({ ref, edit }: Model): EditDialect {
  if (edit !== undefined) return edit;
  throw new SvcError({
    errorType: 'unsupported_fim_model',
    message: msg(
      "{0} can't predict edits. Use a Mercury, Sweep or Zeta model, or set `edit` for it in svc.jsonc.",
      ref,
    ),
    param: 'model',
  });
}

/** @throws SvcError 400 that names the field. */
function readAskedEdit(body: JsonObject): AskedEdit {
  const model = requiredModel(body);
  const messages: readonly unknown[] = Array.isArray(body.messages) ? body.messages : [];
  const [message] = messages;
  if (messages.length !== 1 || !isObject(message) || message.role !== 'user' || typeof message.content !== 'string') {
    throw invalidRequest('messages', '`messages` must be one message of the user with a text.');
  }
  return {
    model,
    request: parseInceptionEdit(message.content.replaceAll('\r\n', '\n')),
    maxTokens: readMaxTokens(body.max_tokens ?? body.max_completion_tokens),
    stream: optionalBoolean(body, 'stream') ?? false,
  };
}

function readMaxTokens(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_TOKENS;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_TOKENS) return value;
  throw invalidRequest('max_tokens', `\`max_tokens\` must be a whole number from 1 to ${MAX_TOKENS}.`);
}

/** The answer of the model as an answer of Mercury: the whole region, which is known only at the end. */
async function* editEvents(
  dialect: EditDialect,
  request: EditRequest,
  events: AsyncIterable<Event>,
): AsyncGenerator<Event> {
  const texts: Event[] = [];
  for await (const event of events) {
    if (event.type === 'text') texts.push(event);
    else if (event.type === 'finish') {
      // An answer that was cut could delete the rest of the region.
      const whole = event.reason === 'stop';
      const region = whole ? readEditAnswer(dialect, request, answerText(foldEvents(texts))) : undefined;
      yield {
        type: 'text',
        part: 0,
        text: region === undefined ? 'None' : `\`\`\`\n${region}${region.endsWith('\n') ? '' : '\n'}\`\`\``,
      };
      yield event;
    } else yield event;
  }
}
