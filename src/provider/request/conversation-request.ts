import { defined } from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { usesOllamaChat } from '../../catalog/ollama-model.ts';
import { ollamaChat, writeOllamaChat } from '../../wire/chat-completions/ollama-chat.ts';
import type { Conversation, TextPart, Turn, UserPart } from '../../wire/conversation.ts';
import { msg, unsupportedField } from '../../wire/errors/svc-error.ts';
import type { Format } from '../../wire/format.ts';
import { FORMATS } from '../../wire/formats.ts';
import { textOfData } from '../../wire/media.ts';
import { withUniqueIds } from '../../wire/tools/answer-ids.ts';
import { bridgeTools } from '../../wire/tools/tool-bridge.ts';
import { normalizeIds, type RepairChange, repairConversation } from '../../wire/tools/tool-call-repair.ts';
import { fitChatBody } from '../profile/fit-chat-body.ts';
import { fitConversation } from '../profile/fit-conversation.ts';
import { rulesOf } from '../profile/profiles.ts';
import type { Rules } from '../profile/rules.ts';
import { type UpstreamTarget, upstreamTarget } from '../upstream-target.ts';
import { withFeatures } from './headers.ts';
import { withOptions } from './model-options.ts';
import { splitReasoning } from './reasoning-text.ts';
import { readTextCalls } from './text-calls.ts';
import { requireWindow } from './window-check.ts';

export interface RequestChoices {
  /** Name of the variant whose fields are merged into the request. */
  readonly variant?: string;
  /** Maximum number of output tokens to request, default 32,000. */
  readonly outputCap?: number;
  /** The name of the upstream and its account (`issuerName`). Reasoning that others issued is left out. */
  readonly issuer?: string;
  /** Id of the conversation, for providers with the option `setCacheKey` and models that need a key. */
  readonly session?: string;
  /** Replaces the endpoint's key (BYOK). */
  readonly apiKey?: string;
}

export interface UpstreamRequest {
  /** Reads the answer. */
  readonly format: Format;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Record<string, unknown>;
}

/** Creates the HTTP request for a conversation. @throws SvcError as `conversationBody`, 500 configuration_error. */
export function conversationRequest(
  model: Model,
  conversation: Conversation,
  choices: RequestChoices = {},
): UpstreamRequest {
  const request = conversationBody(model, conversation, choices);
  const { url, headers } = conversationTarget(model, request, choices.apiKey);
  return { format: request.format, url, headers, body: request.body };
}

/** Where the body of a conversation is sent. @param apiKey replaces the endpoint's key (BYOK). */
export function conversationTarget(
  { endpoint }: Model,
  { format, body }: Pick<ConversationBody, 'format' | 'body'>,
  apiKey?: string,
): UpstreamTarget {
  const target = upstreamTarget(endpoint, format.path, endpoint.format, apiKey);
  return { ...target, headers: withFeatures(target.headers, body) };
}

export interface ConversationBody extends Pick<UpstreamRequest, 'format' | 'body'> {
  /** The changes of tool-call repair (spec 4.2). */
  readonly repairs: readonly RepairChange[];
}

/**
 * Creates the body for the model's upstream: checks the model's abilities, converts tools that the upstream does not
 * support, repairs tool calls, and merges the model's options and the variant.
 *
 * @throws SvcError 400 that names the content or tool that the model does not support.
 */
export function conversationBody(model: Model, given: Conversation, choices: RequestChoices = {}): ConversationBody {
  const { endpoint } = model;
  const conversation = withTextFiles(model, given);
  checkAbilities(model, conversation);
  requireWindow(model, [conversation.system, conversation.turns, conversation.tools]);
  const repairs: RepairChange[] = [];
  const native = usesOllamaChat(model);
  const upstream = native ? ollamaChat : FORMATS[endpoint.format];
  const rules = rulesOf(model);
  const { conversation: bridged, format, restore } = bridgeTools(conversation, upstream, rules.customTools);
  const repaired = withCacheKey(model, rules, repairConversation(bridged, repairs), choices.session);
  const fitted = fitConversation(model, rules, withEncryptedReasoning(model, repaired), choices);
  const named = rules.ids ? normalizeIds(fitted, rules.ids, repairs) : fitted;
  const written = fitChatBody(model, rules, format.writeRequest(named), 'translated');
  const reasoned = splitReasoning(model, upstream, fitted.reasoning?.effort !== 'none');
  const read = withUniqueIds(restore(readTextCalls(model, reasoned, bridged)), conversation);
  const body = withOptions(model, written, choices.variant);
  return { format: read, body: native ? writeOllamaChat(body, model.served?.think) : body, repairs };
}

/** Files of text are sent as text, except as documents of Messages: vendors accept only PDF in `file` and `input_file`. */
function withTextFiles(model: Model, conversation: Conversation): Conversation {
  if (model.endpoint.format === 'messages' && takesMedia(model, 'file')) return conversation;
  const turns = conversation.turns.map((turn): Turn => {
    if (turn.role !== 'user' || !turn.parts.some(hasFile)) return turn;
    const parts = turn.parts.map((part): UserPart => {
      return part.type === 'tool-result' ? { ...part, content: part.content.map(asText) } : asText(part);
    });
    return { ...turn, parts };
  });
  return { ...conversation, turns };
}

function hasFile(part: UserPart): boolean {
  return part.type === 'file' || (part.type === 'tool-result' && part.content.some(({ type }) => type === 'file'));
}

function asText<P extends UserPart>(part: P): P | TextPart {
  if (part.type !== 'file' || part.media.kind !== 'data') return part;
  const text = textOfData(part.media);
  if (text === undefined) return part;
  const { filename, cacheControl } = part;
  return defined({
    type: 'text' as const,
    text: filename === undefined ? text : `${filename}\n\n${text}`,
    cacheControl,
  });
}

/** Requests of one conversation go to one machine of the vendor, which has the beginning of its prompt. */
function withCacheKey(
  { endpoint }: Model,
  { cacheKey }: Rules,
  conversation: Conversation,
  session: string | undefined,
): Conversation {
  const { setCacheKey = cacheKey === 'session' } = endpoint.options;
  return setCacheKey === true && session !== undefined ? { promptCacheKey: session, ...conversation } : conversation;
}

/** The upstream stores nothing, so a reasoning model must return its reasoning encrypted. */
function withEncryptedReasoning(model: Model, conversation: Conversation): Conversation {
  if (!model.reasoning || model.endpoint.format !== 'responses') return conversation;
  return { ...conversation, reasoning: { ...conversation.reasoning, includeEncrypted: true } };
}

const NOT_TAKEN = {
  image: (ref: string) =>
    msg('{0} is not configured to accept images. If it does, add them to its `modalities` in svc.jsonc.', ref),
  file: (ref: string) =>
    msg('{0} is not configured to accept files. If it does, add them to its `modalities` in svc.jsonc.', ref),
  audio: (ref: string) =>
    msg('{0} is not configured to accept recordings. If it does, add them to its `modalities` in svc.jsonc.', ref),
};

function checkAbilities(model: Model, conversation: Conversation): void {
  if (conversation.tools.length > 0 && !model.toolCall) {
    throw unsupportedField(
      'tools',
      msg("{0} can't call tools. If it can, set `tool_call` to true for it in svc.jsonc.", model.ref),
    );
  }
  for (const turn of conversation.turns) {
    for (const part of turn.parts) {
      if (part.type !== 'image' && part.type !== 'file' && part.type !== 'audio') continue;
      if (!takesMedia(model, part.type)) throw unsupportedField('messages', NOT_TAKEN[part.type](model.ref));
    }
  }
}

/** Whether a model is known to accept this kind of content. */
export function takesMedia({ modalities, attachment }: Model, type: 'image' | 'file' | 'audio'): boolean {
  return type === 'file' ? modalities.input.includes('pdf') || attachment : modalities.input.includes(type);
}
