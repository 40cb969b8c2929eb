import type { Model } from '../../catalog/model.ts';
import type { Conversation, ReasoningRequest } from '../../wire/conversation.ts';
import { effortForBudget } from '../../wire/reasoning-effort.ts';
import type { Rules } from './rules.ts';

/** All efforts, from lowest to highest. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
/** The lowest effort of Claude (Anthropic, "Effort"). */
export const LOWEST_EFFORT = 'low';
/** Minimum thinking budget (Anthropic, "Extended thinking"). */
export const MIN_BUDGET = 1024;

/**
 * The reasoning that the model can do: nothing for a model that does not reason, and the nearest effort that it has. An
 * effort of a model with unknown efforts does not change.
 *
 * @param maxTokens the client's limit, with which a budget is compared.
 */
export function fitReasoning(
  model: Model,
  rules: Rules,
  reasoning: ReasoningRequest | undefined,
  maxTokens: number | undefined,
): ReasoningRequest | undefined {
  if (reasoning === undefined || !model.reasoning) return undefined;
  if (model.endpoint.format === 'messages') return fitThinking(model, rules, reasoning, maxTokens);
  const { effort: _, budgetTokens: __, ...others } = reasoning;
  const off = reasoning.mode === 'disabled' || reasoning.effort === 'none';
  const levels = effortLevels(model, rules);
  const requested = off ? 'none' : (reasoning.effort ?? effortForBudget(reasoning, maxTokens));
  if (requested === undefined) return reasoning;
  if (levels === undefined) return off ? reasoning : { ...others, effort: requested };
  const effort = nearestEffort(requested, levels);
  const { mode, ...rest } = others;
  if (effort === undefined) return off ? undefined : others;
  return off ? { ...rest, effort } : { ...others, effort };
}

/** The efforts that the model has; undefined if they are unknown. */
export function effortLevels({ effort, endpoint, served }: Model, rules: Rules): readonly string[] | undefined {
  const named = served?.think?.filter((each) => typeof each === 'string') ?? [];
  if (named.length > 0) return served?.think?.includes(false) ? ['none', ...named] : named;
  if (rules.reasoningField === 'none' && endpoint.format === 'chat-completions') return [];
  if (effort !== undefined && effort.levels.length > 0) return effort.levels;
  return rules.efforts ?? effort?.levels;
}

/** The nearest of the levels; of two, the lower one. Undefined if none of them is known. */
export function nearestEffort(requested: string, levels: readonly string[]): string | undefined {
  if (levels.includes(requested)) return requested;
  const wanted = EFFORTS.indexOf(requested);
  const known = levels.filter((level) => EFFORTS.includes(level));
  if (wanted < 0 || known.length === 0) return undefined;
  const distance = (level: string): number => Math.abs(EFFORTS.indexOf(level) - wanted);
  // Only a request for no reasoning turns it off.
  const usable = known.filter((level) => level !== 'none');
  const sorted = (usable.length > 0 ? usable : known).sort((a, b) => EFFORTS.indexOf(a) - EFFORTS.indexOf(b));
  return sorted.reduce((best, level) => (distance(level) < distance(best) ? level : best));
}

/** Messages turns thinking off in its own way, older models take a budget, and newer ones only an effort. */
function fitThinking(
  { effort: known, limit }: Model,
  rules: Rules,
  given: ReasoningRequest,
  maxTokens: number | undefined,
): ReasoningRequest {
  const { effort, budgetTokens, ...others } = withKindOfThinking(rules, withKindOfOff(rules, given), maxTokens);
  const most = Math.min(
    known?.budget ?? Number.POSITIVE_INFINITY,
    limit.output > 0 ? Math.floor(limit.output * 0.95) : Number.POSITIVE_INFINITY,
  );
  const budget = budgetTokens === undefined ? {} : { budgetTokens: Math.max(MIN_BUDGET, Math.min(budgetTokens, most)) };
  if (effort === undefined) return { ...others, ...budget };
  if (effort === 'none' || known === undefined || known.levels.length === 0) return { ...others, ...budget, effort };
  const level = nearestEffort(effort, known.levels);
  return level === undefined ? { ...others, ...budget } : { ...others, ...budget, effort: level };
}

/** Requests the text of thinking if it has what the model writes between calls of tools, unless the client has a wish. */
export function withNarration(
  model: Model,
  { narration }: Rules,
  reasoning: ReasoningRequest | undefined,
  tools: readonly unknown[],
): ReasoningRequest | undefined {
  if (narration === 'text' || tools.length === 0 || !model.reasoning || reasoning?.summary !== undefined)
    return reasoning;
  if (reasoning?.mode === 'disabled' || reasoning?.mode === 'between-tools') return reasoning;
  return { mode: 'adaptive', ...reasoning, summary: 'summarized' };
}

/** Claude models differ in how thinking is turned off. */
function withKindOfOff({ thinkingOff }: Rules, reasoning: ReasoningRequest): ReasoningRequest {
  const { effort, budgetTokens: _, mode, ...others } = reasoning;
  if (mode !== 'disabled' && effort !== 'none') return reasoning;
  if (thinkingOff === 'between-tools') return { ...others, mode: 'between-tools' };
  return thinkingOff === 'lowest-effort' ? { ...others, effort: LOWEST_EFFORT } : reasoning;
}

function withKindOfThinking(
  { thinking }: Rules,
  reasoning: ReasoningRequest,
  maxTokens: number | undefined,
): ReasoningRequest {
  const { effort, budgetTokens, mode, ...others } = reasoning;
  if (thinking === 'any' || mode === 'disabled' || mode === 'between-tools' || effort === 'none') return reasoning;
  if (thinking === 'budget') return mode === 'adaptive' ? { ...reasoning, mode: 'enabled' } : reasoning;
  if (budgetTokens === undefined && mode !== 'enabled') return reasoning;
  const level = effort ?? effortForBudget(reasoning, maxTokens);
  return { ...others, mode: 'adaptive', ...(level === undefined ? {} : { effort: level }) };
}

/** Whether the answer is expected to have reasoning. */
export function reasons(model: Model, { reasoning }: Conversation): boolean {
  const off = reasoning?.mode === 'disabled' || reasoning?.mode === 'between-tools' || reasoning?.effort === 'none';
  return model.reasoning && !off;
}
