import { ownEntry } from '../base/json.ts';
import type { Conversation } from './conversation.ts';

/*
 * Chat Completions and Responses have a reasoning effort, Messages has a budget of tokens. These functions convert one
 * to the other by shares of the output limit.
 */

/** Share of the output limit by effort (values of the AI SDK's Anthropic provider). */
const BUDGET_SHARES: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
};

/** The output limit that a budget is compared with if the request has none. */
const DEFAULT_OUTPUT_LIMIT = 32_000;

/** The share of the output limit for an effort; undefined for an unknown effort. */
export function budgetShare(effort: string | undefined): number | undefined {
  return effort === undefined ? undefined : ownEntry(BUDGET_SHARES, effort);
}

/**
 * Converts a budget to the nearest effort. The shares of the output limit are those of the AI SDK: 10, 30, 60 percent.
 */
export function effortForBudget(
  reasoning: Conversation['reasoning'],
  maxTokens: number | undefined,
): string | undefined {
  if (reasoning === undefined || reasoning.mode === 'disabled') return undefined;
  if (reasoning.budgetTokens === undefined) return undefined;
  const share = reasoning.budgetTokens / (maxTokens ?? DEFAULT_OUTPUT_LIMIT);
  return share <= 0.2 ? 'low' : share <= 0.45 ? 'medium' : 'high';
}
