/** A Markdown file with optional YAML fields between `---` lines at its start. */
export interface FrontMatter {
  /** Empty if there are none or if they are not valid YAML. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const MAX_FIELDS = 20_000;

/** Reads a file. Loads the YAML parser only for a file with fields. */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const normal = text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');
  const end = normal.startsWith('---\n') ? normal.indexOf('\n---', 3) : -1;
  const closing = /^\n---[ \t]*(?:\n|$)/.exec(normal.slice(end, end + 200));
  if (end === -1 || !closing || end > MAX_FIELDS) return { fields: {}, body: normal.trim() };
  return { fields: await parseFields(normal.slice(4, end)), body: normal.slice(end + closing[0].length).trim() };
}

async function parseFields(yaml: string): Promise<Readonly<Record<string, unknown>>> {
  const { parse } = await import('yaml');
  try {
    const value: unknown = parse(yaml, { maxAliasCount: 0 });
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

/** A text or a list of texts, as both occur: `applyTo: "**\/*.ts, **\/*.tsx"`, `tools: ['search']`. */
export function textList(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return splitOutsideBraces(value);
  if (!Array.isArray(value)) return undefined;
  return value.filter((item) => typeof item === 'string');
}

/** Splits at commas, but not inside `{ts,tsx}`. */
function splitOutsideBraces(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '{') depth++;
    if (character === '}') depth--;
    if (character === ',' && depth <= 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}
