/** The version of a Claude model in tenths, by the different spellings of its id: `claude-opus-4-7`, `claude-sonnet-4.5`, `claude-4-sonnet`. */
export function claudeVersion(id: string): number | undefined {
  const [, major, minor = 0] = /claude-(?:[a-z]{1,20}-)?(\d)(?:[-.](\d)(?!\d))?/i.exec(id) ?? [];
  return major === undefined ? undefined : Number(major) * 10 + Number(minor);
}

/** The first version with adaptive thinking. Older models take a budget. */
export const ADAPTIVE_SINCE = 46;
