import { arrayOrEmpty, defined, isObject, type JsonObject, objectOrEmpty, requestJson } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { usesOllamaChat } from '../../catalog/ollama-model.ts';
import type { Credential } from '../../config/settings/origin.ts';
import { conversationBody, conversationTarget } from '../../provider/request/conversation-request.ts';
import { withOptions } from '../../provider/request/model-options.ts';
import { hasReasoningText, splitReasoning } from '../../provider/request/reasoning-text.ts';
import { hasTextCalls, readTextCalls } from '../../provider/request/text-calls.ts';
import { requireWindow } from '../../provider/request/window-check.ts';
import type { Conversation } from '../../wire/conversation.ts';
import { unsupportedField } from '../../wire/errors/svc-error.ts';
import type { AnswerContext, Format } from '../../wire/format.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { FORMATS } from '../../wire/formats.ts';
import { refuseThread } from '../../wire/messages/read-request.ts';
import { checkSampling, checkToolCalls, limitItems, requiredList } from '../../wire/request-fields.ts';
import { refuseStatefulResponses } from '../../wire/responses/read-request.ts';
import { withUniqueIds } from '../../wire/tools/answer-ids.ts';
import { bodyFormat } from '../dispatch/body-format.ts';
import { probableInput } from '../dispatch/estimate.ts';
import type { Candidate } from '../dispatch/models.ts';
import { configuredFallbacks, type Inference, inferenceRoute, readJsonBody } from '../dispatch/pipeline.ts';
import { requestedModel } from '../dispatch/requested-model.ts';
import { spliceBody } from '../http/json-splice.ts';
import { whenLeft } from '../http/request-body.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { Route } from '../http/router.ts';
import { namedSession, promptHead } from '../pools/prompt-head.ts';
import { IssuerTransform } from '../relay/issuer-transform.ts';
import { relayBody } from '../relay/relay.ts';
import type { RelayRequest } from '../relay/relay-request.ts';
import { StreamTransform } from '../relay/stream-transform.ts';
import { TranslatingTransform } from '../relay/translating-transform.ts';
import type { KeptItems } from '../state/kept-items.ts';
import { itemKeeper, type RequestBody, resolveItems } from './input-items.ts';
import { fitOwnFormat, issuerOf, ownFormatTarget } from './own-format-body.ts';

/** The three request formats, each for any upstream (spec 4.1). */
export function inferenceRoutes(deps: Inference, kept: KeptItems): Route[] {
  return Object.values(FORMATS).map((format) =>
    inferenceRoute<Model>(deps, {
      path: format.path,
      format: format.name,
      read: async (context, caller) => {
        const received = await readJsonBody(deps, context);
        const sent = bodyFormat(format.name, received.value);
        const body = sent === 'responses' ? resolveItems(deps, kept, caller, received) : received;
        const client = sent === format.name ? format : { ...format, readRequest: FORMATS[sent].readRequest };
        return {
          model: () => requestedModel(deps, body.value, caller.organization),
          check: () => checkBody(sent, body.value),
          stream: body.value.stream === true,
          repeatable: true,
          promptHead: () => promptHead(body.value, (name) => context.header(name)),
          fallbacks: (ref) => configuredFallbacks(deps, ref),
          send: async (requested, byok, attempt) => {
            const candidate = { ...requested, model: await deps.listing.served(requested.model, whenLeft(context)) };
            const same =
              client === format && candidate.model.endpoint.format === sent && !usesOllamaChat(candidate.model);
            const issuer = issuerOf(candidate.model, caller, byok);
            const keeper = itemKeeper(kept, caller, body.value);
            const request = same
              ? sameFormat(deps, context, candidate, body, byok, issuer)
              : translated(deps, context, candidate, body.value, client, byok, issuer, keeper);
            return relayBody(deps.dispatcher, context, { ...request, attempt });
          },
        };
      },
    }),
  );
}

/** Checks that do not depend on the upstream (spec 8; docs/gateway.md). */
function checkBody(format: FormatName, body: JsonObject): void {
  limitItems(body);
  if (format === 'chat-completions') {
    checkSampling(body);
    checkToolCalls(body);
  }
  if (format === 'messages') refuseThread(body);
  if (format === 'responses') refuseStatefulResponses(body);
  else requiredList(body, 'messages');
}

type BodyRequest = RelayRequest & { readonly body: Buffer };

/**
 * Mistral's own SDKs refuse a chunk of a tool call without the name (`FunctionCall` in their schemas). Other clients
 * replace the name by an empty one in a later chunk.
 */
const MISTRAL_SDK = /mistralai|mistral-client/;

const INCLUDE_USAGE = { stream_options: { include_usage: true } };

/** The client's bytes with the model's name replaced. The body is serialised again only if something else changes. */
function sameFormat(
  deps: Pick<Inference, 'metrics'>,
  context: RequestContext,
  { model, variant }: Candidate,
  received: RequestBody,
  byok: Credential | undefined,
  issuer: string,
): BodyRequest {
  const { endpoint } = model;
  const { value } = received;
  requireWindow(model, [value]);
  const format = FORMATS[endpoint.format];
  const target = ownFormatTarget(context, endpoint, { path: format.path, format: endpoint.format }, byok);
  const { body: adapted, changes } = fitOwnFormat(model, value, issuer);
  for (const { kind } of changes) deps.metrics.repair(kind);
  const add = wantsUsage(model, value) ? INCLUDE_USAGE : {};
  const asIs = adapted === value && received.changed !== true && variant === undefined && isEmpty(model.options);
  const body = asIs
    ? spliceBody(received, model.id, add)
    : Buffer.from(JSON.stringify(withOptions(model, { ...adapted, ...added(adapted, add), model: model.id }, variant)));
  const reasons = objectOrEmpty(value).reasoning_effort !== 'none';
  const read = splitReasoning(model, format, reasons);
  const readsCalls = arrayOrEmpty(value.tools).length > 0 && hasTextCalls(model);
  const converted = () => {
    const answer = answerContext(context, format, value);
    const calls = readsCalls ? withUniqueIds(readTextCalls(model, read, answer.request), answer.request) : read;
    return new TranslatingTransform(calls, format, answer, byok !== undefined);
  };
  const forwardedAnswer = new StreamTransform({
    format: endpoint.format,
    provider: model.provider,
    byok: byok !== undefined,
    usageChunk: requestsUsageChunk(value),
    converter: converted,
  });
  const transform = readsCalls || hasReasoningText(model) ? converted() : forwardedAnswer;
  return {
    target,
    model,
    body,
    byok: byok !== undefined,
    stream: value.stream === true,
    transform:
      endpoint.format === 'chat-completions' ? transform : new IssuerTransform(transform, endpoint.format, issuer),
  };
}

/** Mistral always reports usage and refuses `stream_options`. */
function wantsUsage({ endpoint }: Model, body: JsonObject): boolean {
  if (endpoint.format !== 'chat-completions' || endpoint.kind === 'mistral' || body.stream !== true) return false;
  return !requestsUsageChunk(body);
}

function requestsUsageChunk(body: JsonObject): boolean {
  return objectOrEmpty(body.stream_options).include_usage === true;
}

function added(body: JsonObject, add: JsonObject): JsonObject {
  const { stream_options } = add;
  if (!isObject(stream_options)) return {};
  return { stream_options: { ...objectOrEmpty(body.stream_options), ...stream_options } };
}

function isEmpty(options: JsonObject): boolean {
  for (const _ in options) return false;
  return true;
}

function translated(
  deps: Pick<Inference, 'metrics'>,
  context: RequestContext,
  { model, variant }: Candidate,
  body: JsonObject,
  client: Format,
  byok: Credential | undefined,
  issuer: string,
  keepItem: AnswerContext['keepItem'],
): BodyRequest {
  const answer = { ...answerContext(context, client, body), ...defined({ keepItem }), issuer };
  refuseVendorToolsAlone(answer.request, model.ref);
  const session = namedSession(body, (name) => context.header(name));
  const request = conversationBody(model, answer.request, defined({ variant, issuer, session }));
  warnOfVendorTools(context, answer.request.vendorTools);
  for (const { kind } of request.repairs) deps.metrics.repair(kind);
  return {
    target: conversationTarget(model, request, byok?.secret.reveal()),
    model,
    body: Buffer.from(requestJson(request.body)),
    byok: byok !== undefined,
    stream: body.stream === true,
    transform: new TranslatingTransform(request.format, client, answer, byok !== undefined),
    ...defined({ framing: request.format.framing }),
  };
}

/**
 * A request whose only tools run at their vendor needs them: without them, the model would invent the facts that it was asked to
 * find. Agents send such tools beside their own in each request. @throws SvcError 400 unsupported_field.
 */
function refuseVendorToolsAlone({ tools, vendorTools, toolChoice }: Conversation, ref: string): void {
  const [first] = vendorTools ?? [];
  if (first === undefined || tools.length > 0 || toolChoice?.type === 'none') return;
  throw unsupportedField(
    `${first.at}.type`,
    `Only its vendor can run the tool "${first.type.slice(0, 64)}". It can’t be sent to ${ref}, and the request has no other tool.`,
  );
}

function warnOfVendorTools(context: RequestContext, tools: Conversation['vendorTools']): void {
  if (tools === undefined) return;
  const types = [...new Set(tools.map(({ type }) => type.slice(0, 64)))].join(', ');
  context.warn(`Not sent to this model, because only their vendor runs them: ${types}`);
}

function answerContext(context: RequestContext, client: Format, body: JsonObject) {
  const request = client.readRequest(body);
  const created = Math.floor(Date.now() / 1000);
  const wholeCalls = MISTRAL_SDK.test(context.request.headers['user-agent'] ?? '');
  const inputTokens = probableInput(context);
  const usageChunk = requestsUsageChunk(body);
  return { id: context.id, model: request.model, created, request, inputTokens, usageChunk, wholeCalls };
}
