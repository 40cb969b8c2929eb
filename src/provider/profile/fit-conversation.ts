import { defined, isObject, parseJson } from '../../base/json.ts';
import { outputTokens } from '../../catalog/limits.ts';
import type { Model } from '../../catalog/model.ts';
import type {
  AssistantPart,
  Conversation,
  Sampling,
  TextPart,
  Tool,
  ToolCallPart,
  ToolResultPart,
  Turn,
  UserPart,
} from '../../wire/conversation.ts';
import { msg, unsupportedField } from '../../wire/errors/svc-error.ts';
import type { ReasoningSignature } from '../../wire/event.ts';
import { typedMedia } from '../../wire/media.ts';
import { toolInput } from '../../wire/messages/tool-input.ts';
import { mostTokens } from '../../wire/prompt-size.ts';
import { cleanSchema } from '../../wire/tools/clean-schema.ts';
import { fitReasoning, reasons, withNarration } from './fit-reasoning.ts';
import type { Rules } from './rules.ts';

/** The user's message where a vendor demands one and the client has none. */
const CONTINUE: Turn = { role: 'user', parts: [{ type: 'text', text: 'Continue.' }] };

export interface FitOptions {
  /** Maximum number of output tokens if the client sets none. */
  readonly outputCap?: number | undefined;
  /** The name of the upstream (`issuerName`). Reasoning of other issuers is left out. */
  readonly issuer?: string | undefined;
}

/**
 * Fits a conversation to the model's upstream: limits, reasoning, sampling, tools and the history.
 *
 * @throws SvcError 400 for images of a type that the model does not accept.
 */
export function fitConversation(
  model: Model,
  rules: Rules,
  conversation: Conversation,
  { outputCap, issuer }: FitOptions = {},
): Conversation {
  const { maxTokens } = conversation;
  // The vendor refuses a limit above the model's.
  const most = model.limit.output > 0 ? model.limit.output : Number.POSITIVE_INFINITY;
  const fitted: Conversation = {
    ...conversation,
    model: model.id,
    maxTokens:
      maxTokens === undefined
        ? outputTokens(model, outputCap, () =>
            mostTokens([conversation.system, conversation.turns, conversation.tools]),
          )
        : Math.min(maxTokens, most),
  };
  const { reasoning: asked, ...rest } = fitted;
  const reasoning = withNarration(model, rules, fitReasoning(model, rules, asked, maxTokens), conversation.tools);
  const reasoned = reasoning === undefined ? rest : { ...rest, reasoning };
  return {
    ...reasoned,
    ...fitSampling(model, rules, reasoned),
    ...fitTools(model, rules, reasoned),
    system: reasoned.system.filter(({ text }) => text.trim() !== ''),
    turns: fitTurns(rules, withOwnReasoning(model, rules, reasoned.turns, issuer)),
  };
}

/** Removes parameters that the model does not accept, in general or while it reasons. */
function fitSampling(
  model: Model,
  rules: Rules,
  conversation: Conversation,
): Pick<Conversation, 'sampling' | 'logprobs'> {
  const { sampling, logprobs, reasoning } = conversation;
  const chosen = reasoning?.effort !== undefined && reasoning.effort !== 'none';
  const limited = rules.sampling === 'without-reasoning' && (chosen || !model.temperature);
  const { temperature, topP, stop, ...others } = sampling;
  const kept: Sampling = {
    ...others,
    ...defined({
      temperature: model.temperature && !limited ? temperature : undefined,
      topP: limited ? undefined : topP,
      stop: stop?.slice(0, rules.stops),
    }),
  };
  return defined({ sampling: kept, logprobs: limited ? undefined : logprobs });
}

function fitTools(model: Model, rules: Rules, conversation: Conversation): Pick<Conversation, 'tools' | 'toolChoice'> {
  const tools = conversation.tools.map((tool) => fitTool(tool, rules));
  const choice = conversation.toolChoice;
  const forced = choice?.type === 'required' || choice?.type === 'tool';
  const refused = rules.forcedChoice === 'without-reasoning' && reasons(model, conversation);
  if (!forced || (!refused && rules.requiredChoice !== 'auto')) return defined({ tools, toolChoice: choice });
  const only = choice.type === 'tool' ? tools.filter(({ name }) => name === choice.name) : tools;
  return { tools: only.length > 0 ? only : tools, toolChoice: { type: 'auto' } };
}

function fitTool(tool: Tool, { schema }: Rules): Tool {
  const parameters = cleanSchema(tool.parameters, schema);
  const complete = isObject(parameters.properties) ? parameters : { ...parameters, properties: {} };
  return { ...tool, parameters: tool.custom === undefined ? complete : tool.parameters };
}

/** Leaves out the reasoning that another provider or account issued: the upstream would refuse it. */
function withOwnReasoning(
  { endpoint }: Model,
  rules: Rules,
  turns: readonly Turn[],
  issuer: string | undefined,
): readonly Turn[] {
  const chat = endpoint.format === 'chat-completions';
  const foreignFormat = chat && rules.reasoningHistory.details !== 'any';
  const isOwn = (seal: ReasoningSignature): boolean =>
    (seal.issuer === undefined || seal.issuer === issuer) && !(foreignFormat && seal.vendor !== 'chat-completions');
  const keep = (part: AssistantPart): AssistantPart[] => {
    if (part.type !== 'reasoning' || part.seals.length === 0) return [part];
    const seals = part.seals.filter(isOwn);
    return seals.length === 0 ? [] : [{ ...part, seals }];
  };
  return turns.map((turn) => (turn.role === 'assistant' ? { ...turn, parts: turn.parts.flatMap(keep) } : turn));
}

function fitTurns(rules: Rules, turns: readonly Turn[]): readonly Turn[] {
  const fitted = turns.flatMap((turn) => fitTurn(rules, turn));
  const joined = rules.roles === 'alternating' ? joinRoles(fitted) : fitted;
  const spoken = joined.filter(({ role }) => role !== 'system');
  const opened = rules.opening === 'user' && spoken[0]?.role === 'assistant' ? [CONTINUE, ...joined] : joined;
  if (turns.length > 0 && opened.length === 0) return [CONTINUE];
  return rules.prefill === 'refused' && spoken.at(-1)?.role === 'assistant' ? [...opened, CONTINUE] : opened;
}

function fitTurn(rules: Rules, turn: Turn): Turn[] {
  const filled = (part: UserPart | AssistantPart): boolean =>
    rules.blankText === 'kept' || (part.type !== 'text' && part.type !== 'refusal') || part.text.trim() !== '';
  let fitted: Turn;
  if (turn.role === 'system') fitted = { ...turn, parts: turn.parts.filter(({ text }) => text.trim() !== '') };
  else if (turn.role === 'user') {
    fitted = { ...turn, parts: turn.parts.filter(filled).map((part) => fitUserPart(rules, part)) };
  } else fitted = { ...turn, parts: turn.parts.filter(filled).map((part) => fitAssistantPart(rules, part)) };
  return fitted.parts.length > 0 || (turn.role !== 'system' && rules.blankText === 'kept') ? [fitted] : [];
}

function fitAssistantPart(rules: Rules, part: AssistantPart): AssistantPart {
  return part.type === 'tool-call' && rules.callArguments === 'object' ? withObjectArguments(part) : part;
}

/** Servers parse the arguments of the history, and a call that was cut off has none that are valid. */
function withObjectArguments(call: ToolCallPart): ToolCallPart {
  if (call.custom || isObject(parseJson(call.arguments))) return call;
  return { ...call, arguments: JSON.stringify(toolInput(call.arguments)) };
}

function fitUserPart(rules: Rules, part: UserPart): UserPart {
  if (part.type === 'text') return part;
  if (part.type === 'tool-result') return { ...part, content: fitResult(rules, part) };
  return fitMedia(rules, part);
}

function fitResult(rules: Rules, { content }: ToolResultPart): ToolResultPart['content'] {
  return content.flatMap((part): ToolResultPart['content'] => {
    if (part.type !== 'text') return [fitMedia(rules, part)];
    return rules.blankText === 'refused' && part.text.trim() === '' ? [] : [part];
  });
}

/** Declares the type that the bytes have. */
function fitMedia<T extends Exclude<UserPart, TextPart | ToolResultPart>>(rules: Rules, part: T): T {
  if (part.media.kind !== 'data') return part;
  const media = typedMedia(part.media);
  if (part.type === 'image' && rules.images?.includes(media.mediaType) === false) {
    throw unsupportedField('messages', msg('This model can’t be sent images of type {0}.', media.mediaType));
  }
  if (media === part.media) return part;
  return part.type === 'audio'
    ? { ...part, media, format: media.mediaType.replace(/^audio\//, '') }
    : { ...part, media };
}

/** Joins turns of one role in a row. Texts of two messages are separated by a blank line. */
function joinRoles(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last?.role === 'user' && turn.role === 'user' && last.name === turn.name) {
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] };
    } else if (last?.role === 'assistant' && turn.role === 'assistant' && !last.parts.some(isCall)) {
      const between: AssistantPart[] = last.parts.at(-1)?.type === 'text' ? [{ type: 'text', text: '\n\n' }] : [];
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...between, ...turn.parts] };
    } else joined.push(turn);
  }
  return joined;
}

function isCall({ type }: AssistantPart): boolean {
  return type === 'tool-call';
}
