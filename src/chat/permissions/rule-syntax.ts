export const RULE_KINDS = ['read', 'edit', 'delete', 'command', 'fetch', 'tool'] as const;
type RuleKind = (typeof RULE_KINDS)[number];

/** Splits a rule; undefined if it has no known kind or no value. */
export function parseRule(text: string): { readonly kind: RuleKind; readonly value: string } | undefined {
  const at = text.indexOf(':');
  const kind = RULE_KINDS.find((one) => one === text.slice(0, at).trim());
  const value = text.slice(at + 1).trim();
  return kind !== undefined && value !== '' ? { kind, value } : undefined;
}

/** Texts of the rules of a setting, by effect. */
export interface RuleSetting {
  readonly allow: readonly string[];
  readonly ask: readonly string[];
  readonly deny: readonly string[];
}

/**
 * Reads the rules of a setting that a user wrote. A mistake never allows more: values that are not texts are left out of `allow`
 * and is a rule that can't be read in `ask` and `deny`, which makes each call a question.
 */
export function readRuleSetting(value: unknown): RuleSetting {
  if (value === undefined || value === null) return { allow: [], ask: [], deny: [] };
  if (typeof value !== 'object' || Array.isArray(value)) return { allow: [], ask: [], deny: [JSON.stringify(value)] };
  const members = new Map<string, unknown>(Object.entries(value));
  const unknown = [...members.keys()].filter((name) => !['allow', 'ask', 'deny'].includes(name));
  return {
    allow: ruleList(members.get('allow')).filter((one) => typeof one === 'string'),
    ask: ruleList(members.get('ask')).map(ruleTextOf),
    // A misspelled `deny` must not allow its commands.
    deny: [...ruleList(members.get('deny')).map(ruleTextOf), ...unknown],
  };
}

function ruleList(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function ruleTextOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The rules that restrict something but can't be read. */
export function unreadableRestrictions({ ask, deny }: Pick<RuleSetting, 'ask' | 'deny'>): readonly string[] {
  return [...deny, ...ask].filter((text) => parseRule(text) === undefined);
}
