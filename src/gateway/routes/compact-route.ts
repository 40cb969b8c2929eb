import { type JsonObject, objectOrEmpty, requestJson } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import type { Credential } from '../../config/settings/origin.ts';
import { conversationBody, conversationTarget } from '../../provider/request/conversation-request.ts';
import type { Conversation } from '../../wire/conversation.ts';
import { invalidRequest } from '../../wire/errors/svc-error.ts';
import { answerCutShort } from '../../wire/errors/upstream-errors.ts';
import type { Event } from '../../wire/event.ts';
import { foldEvents } from '../../wire/fold.ts';
import type { AnswerContext, Format } from '../../wire/format.ts';
import { FORMATS } from '../../wire/formats.ts';
import { limitItems } from '../../wire/request-fields.ts';
import { refuseStatefulResponses } from '../../wire/responses/read-request.ts';
import { writeResponsesUsage } from '../../wire/responses/writer.ts';
import { type Inference, inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { requestedModel } from '../dispatch/requested-model.ts';
import { spliceBody } from '../http/json-splice.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import { promptHead } from '../pools/prompt-head.ts';
import { IssuerTransform } from '../relay/issuer-transform.ts';
import { relayBody } from '../relay/relay.ts';
import type { AttemptOptions } from '../relay/relay-request.ts';
import { TranslatingTransform } from '../relay/translating-transform.ts';
import { WholeBodyTransform } from '../relay/whole-body-transform.ts';
import type { KeptItems } from '../state/kept-items.ts';
import { isUnknownPath } from './count-tokens-routes.ts';
import { type RequestBody, resolveItems, writeCompactionContent } from './input-items.ts';
import { fitOwnFormat, issuerOf, ownFormatTarget } from './own-format-body.ts';

const PATH = '/responses/compact';

const INSTRUCTIONS = `Summarize the conversation above so that another assistant can continue the work without reading \
it. Keep: what the user wants and every constraint they stated; decisions and their reasons; names of files, functions \
and commands that matter; completed changes; failures and their causes; remaining tasks. Quote exact code only if it is \
needed to continue. Write plain Markdown without an introduction. Call no tools.`;

/**
 * `POST /responses/compact` (OpenAI, "Compact a response"): the upstream's compaction if it provides one, else a summary
 * by the model.
 */
export function compactRoute(deps: Inference, kept: KeptItems): Route {
  return inferenceRoute<Model>(deps, {
    path: PATH,
    format: 'responses',
    read: async (context, caller) => {
      const body = resolveItems(deps, kept, caller, await readJsonBody(deps, context));
      return {
        model: () => requestedModel(deps, body.value, caller.organization),
        check: () => {
          limitItems(body.value);
          refuseStatefulResponses(body.value);
          const { input } = body.value;
          if (typeof input !== 'string' && !Array.isArray(input)) {
            throw invalidRequest('input', '`input` must be a string or a list of items.');
          }
        },
        repeatable: true,
        promptHead: () => promptHead(body.value),
        send: async ({ model }, byok, attempt) => {
          const issuer = issuerOf(model, caller, byok);
          if (model.endpoint.format === 'responses') {
            try {
              return await forward(deps, context, model, body, byok, issuer, attempt);
            } catch (thrown) {
              if (!isUnknownPath(thrown)) throw thrown;
            }
          }
          return summarize(deps, context, model, body.value, byok, issuer, attempt);
        },
      };
    },
  });
}

function forward(
  deps: Pick<Inference, 'dispatcher' | 'metrics'>,
  context: RequestContext,
  model: Model,
  received: RequestBody,
  credential: Credential | undefined,
  issuer: string,
  attempt: AttemptOptions,
) {
  const byok = credential !== undefined;
  const target = ownFormatTarget(context, model.endpoint, { path: PATH, format: 'responses' }, credential);
  const { body: fitted } = fitOwnFormat(model, received.value, issuer);
  const asIs = received.changed !== true && fitted === received.value;
  const body = asIs ? spliceBody(received, model.id) : Buffer.from(JSON.stringify({ ...fitted, model: model.id }));
  const transform = new IssuerTransform(new WholeBodyTransform(model.provider, byok), 'responses', issuer);
  return relayBody(deps.dispatcher, context, { target, model, body, transform, byok, stream: false, attempt });
}

function summarize(
  deps: Pick<Inference, 'dispatcher' | 'metrics'>,
  context: RequestContext,
  model: Model,
  body: JsonObject,
  credential: Credential | undefined,
  issuer: string,
  attempt: AttemptOptions,
) {
  const asked = FORMATS.responses.readRequest(body);
  const request: Conversation = {
    ...asked,
    turns: [...asked.turns, { role: 'user', parts: [{ type: 'text', text: INSTRUCTIONS }] }],
    ...(asked.tools.length > 0 ? { toolChoice: { type: 'none' } } : {}),
    stream: false,
  };
  const { format, body: sent, repairs } = conversationBody(model, request, { issuer });
  for (const { kind } of repairs) deps.metrics.repair(kind);
  const client: Format = {
    ...FORMATS.responses,
    writeAnswer: (answer, events) => writeCompaction(answer, events, body.input),
  };
  const byok = credential !== undefined;
  const answer = { id: context.id, model: asked.model, created: Math.floor(Date.now() / 1000), request };
  return relayBody(deps.dispatcher, context, {
    target: conversationTarget(model, { format, body: sent }, credential?.secret.reveal()),
    model,
    body: Buffer.from(requestJson(sent)),
    byok,
    stream: false,
    attempt,
    transform: new TranslatingTransform(format, client, answer, byok),
  });
}

/** The user's messages and the compaction, as OpenAI returns them. @throws SvcError for an incomplete answer. */
function writeCompaction(context: AnswerContext, events: readonly Event[], input: unknown): Record<string, unknown> {
  const answer = foldEvents(events);
  if (answer.error) throw answer.error;
  const summary = answer.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  if (answer.finish === undefined || answer.finish === 'closed' || summary === '') throw answerCutShort();
  const said = Array.isArray(input) ? input.filter((item) => objectOrEmpty(item).role === 'user') : [writeUser(input)];
  const compaction = {
    id: `cmp_${context.id}`,
    type: 'compaction',
    encrypted_content: writeCompactionContent(summary),
  };
  return {
    id: context.id,
    object: 'response.compaction',
    created_at: context.created,
    output: [...said, compaction],
    usage: writeResponsesUsage(answer.usage ?? { input: 0, output: 0 }),
  };
}

function writeUser(text: unknown): Record<string, unknown> {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
