import {
  arrayOrEmpty,
  defined,
  finiteNumber,
  type JsonObject,
  nonEmptyString,
  objectOrEmpty,
  omit,
} from '../../base/json.ts';
import type { Model } from '../../catalog/model.ts';
import { budgetShare, effortForBudget } from '../../wire/reasoning-effort.ts';
import { withoutLostThinking, withoutThinking } from '../../wire/tools/own-reasoning.ts';
import { effortLevels, LOWEST_EFFORT, MIN_BUDGET, nearestEffort } from './fit-reasoning.ts';
import type { Rules } from './rules.ts';

/** Where each format has the effort. */
const EFFORT = { responses: 'reasoning', messages: 'output_config' } as const;
const ENCRYPTED = 'reasoning.encrypted_content';

/**
 * The reasoning of a body that the client wrote for this format: the nearest effort that the model has, as far as the
 * catalog, the server or the rules know them, and nothing if the catalog knows that it does not reason. Returns the same
 * object if nothing changes.
 */
export function fitOwnEffort(model: Model, rules: Rules, body: JsonObject): JsonObject {
  const { effort: known, endpoint, served } = model;
  if (known === undefined && served?.think === undefined && rules.efforts === undefined) return body;
  if (known !== undefined && !model.reasoning) return withoutReasoning(body);
  const levels = effortLevels(model, rules) ?? [];
  if (levels.length === 0) return body;
  if (endpoint.format === 'chat-completions') {
    const effort = nearest(body.reasoning_effort, levels);
    return effort === undefined ? body : { ...body, reasoning_effort: effort };
  }
  const field = EFFORT[endpoint.format];
  const holder = objectOrEmpty(body[field]);
  const effort = nearest(holder.effort, levels);
  return effort === undefined ? body : { ...body, [field]: { ...holder, effort } };
}

/**
 * The thinking of a body that the client wrote for Messages, in the form that the model reads: the client may know another
 * model by this name, and a pool or a fallback may answer. Returns the same object if nothing changes.
 */
export function fitOwnThinking(model: Model, rules: Rules, body: JsonObject): JsonObject {
  const { thinking: form } = rules;
  const { type, budget_tokens, ...rest } = objectOrEmpty(body.thinking);
  if (type === 'disabled' || type === 'between_tools') return withKindOfOff(model, rules, body);
  const config = objectOrEmpty(body.output_config);
  const limit = finiteNumber(body.max_tokens);
  if (form === 'adaptive' && type === 'enabled') {
    const budgetTokens = finiteNumber(budget_tokens);
    const effort = nonEmptyString(config.effort) ?? effortForBudget(defined({ budgetTokens }), limit);
    const thinking = { display: 'summarized', ...rest, type: 'adaptive' };
    return { ...body, thinking, ...(effort === undefined ? {} : { output_config: { ...config, effort } }) };
  }
  if (form !== 'budget') return body;
  const budgeted =
    type === 'adaptive' ? withBudget(body, rest, Math.min(limit ?? 0, model.effort?.budget ?? Infinity)) : body;
  return (model.effort?.levels.length ?? 0) > 0 ? budgeted : withoutEffort(budgeted);
}

/** Thinking that is turned off, in the way of the model. Returns the same object if nothing changes. */
function withKindOfOff(model: Model, { thinking: form, thinkingOff }: Rules, body: JsonObject): JsonObject {
  const config = objectOrEmpty(body.output_config);
  if (thinkingOff === 'lowest-effort')
    return { ...omit(body, ['thinking']), output_config: { ...config, effort: LOWEST_EFFORT } };
  const type = thinkingOff === 'between-tools' ? 'between_tools' : 'disabled';
  const fitted = objectOrEmpty(body.thinking).type === type ? body : { ...body, thinking: { type } };
  if (thinkingOff === 'up-to-high' && (config.effort === 'xhigh' || config.effort === 'max'))
    return { ...fitted, output_config: { ...config, effort: 'high' } };
  return form === 'budget' && (model.effort?.levels.length ?? 0) === 0 ? withoutEffort(fitted) : fitted;
}

/** @param most limits the budget. */
function withBudget(body: JsonObject, rest: JsonObject, most: number): JsonObject {
  const share = budgetShare(nonEmptyString(objectOrEmpty(body.output_config).effort)) ?? budgetShare('medium') ?? 0;
  const budget_tokens = Math.floor(most * share);
  if (budget_tokens < MIN_BUDGET) return withoutThinking(body);
  return withoutLostThinking({ ...body, thinking: { ...omit(rest, ['display']), type: 'enabled', budget_tokens } });
}

function withoutEffort(body: JsonObject): JsonObject {
  const config = objectOrEmpty(body.output_config);
  if (config.effort === undefined) return body;
  const others = omit(config, ['effort']);
  return Object.keys(others).length > 0 ? { ...body, output_config: others } : omit(body, ['output_config']);
}

/** Fields that some models refuse while they reason. */
const SAMPLING = ['temperature', 'top_p', 'logprobs', 'top_logprobs'];

/** Removes parameters that the model refuses while it reasons. Returns the same object if nothing changes. */
export function fitOwnSampling(rules: Rules, body: JsonObject): JsonObject {
  if (rules.sampling === 'always') return body;
  const effort = nonEmptyString(body.reasoning_effort) ?? nonEmptyString(objectOrEmpty(body.reasoning).effort);
  return effort === undefined || effort === 'none' ? body : omit(body, SAMPLING);
}

/** Undefined if the effort is absent or need not change. */
function nearest(value: unknown, levels: readonly string[]): string | undefined {
  const effort = nonEmptyString(value);
  return effort === undefined || levels.includes(effort) ? undefined : nearestEffort(effort, levels);
}

function withoutReasoning(body: JsonObject): JsonObject {
  const fitted = omit(body, ['reasoning_effort', 'reasoning', 'thinking']);
  const include = arrayOrEmpty(fitted.include);
  const rest = include.includes(ENCRYPTED)
    ? { ...fitted, include: include.filter((each) => each !== ENCRYPTED) }
    : fitted;
  return withoutEffort(rest);
}
