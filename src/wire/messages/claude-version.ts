/** The version of a Claude model in tenths, by the different spellings of its id: `claude-opus-4-7`, `claude-sonnet-4.5`, `claude-4-sonnet`. */
export function claudeVersion(id: string): number | undefined {
  const [, major, minor = 0] = /claude-(?:[a-z]{1,20}-)?(\d)(?:[-.](\d)(?!\d))?/i.exec(id) ?? [];
  return major === undefined ? undefined : Number(major) * 10 + Number(minor);
}

/** The family of a Claude model: `opus` of `claude-opus-5` and of `claude-5-opus`. */
export function claudeFamily(id: string): string | undefined {
  return /claude-(?:\d[\d.-]{0,9}-)?([a-z]{1,20})/i.exec(id)?.[1]?.toLowerCase();
}

/** The first version whose thinking is valid only behind the same conversation (Anthropic, "Preserved thinking"). */
export const BOUND_SINCE = 51;

/** The first version with adaptive thinking. Older models take a budget. */
export const ADAPTIVE_SINCE = 46;
