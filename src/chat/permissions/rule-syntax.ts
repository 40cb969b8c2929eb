export const RULE_KINDS = ['read', 'edit', 'delete', 'command', 'fetch', 'tool'] as const;
type RuleKind = (typeof RULE_KINDS)[number];

/** Splits a rule; undefined if it has no known kind or no value. */
export function parseRule(text: string): { readonly kind: RuleKind; readonly value: string } | undefined {
  const at = text.indexOf(':');
  const kind = RULE_KINDS.find((one) => one === text.slice(0, at).trim());
  const value = text.slice(at + 1).trim();
  return kind !== undefined && value !== '' ? { kind, value } : undefined;
}
