import { withoutByteOrderMark } from '../../base/text.ts';

/** A Markdown file with optional YAML fields between `---` lines at its start. */
export interface FrontMatter {
  /** Empty if there are none or if they are not valid YAML. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const MAX_FIELDS = 20_000;

/** Reads a file. Loads the YAML parser only for a file with fields. */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const normal = withoutByteOrderMark(text).replaceAll('\r\n', '\n');
  const end = normal.startsWith('---\n') ? normal.indexOf('\n---', 3) : -1;
  const closing = /^\n---[ \t]*(?:\n|$)/.exec(normal.slice(end, end + 200));
  if (end === -1 || !closing || end > MAX_FIELDS) return { fields: {}, body: normal.trim() };
  return { fields: await parseFields(normal.slice(4, end)), body: normal.slice(end + closing[0].length).trim() };
}

async function parseFields(yaml: string): Promise<Readonly<Record<string, unknown>>> {
  const { load } = await import('js-yaml');
  for (const text of [yaml, quoted(yaml)]) {
    try {
      const value: unknown = load(text, { maxAliases: 0 });
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
    } catch {
      // Quoted, it may be valid.
    }
  }
  return {};
}

/** Quotes values that YAML reads as something else although people write them so: `**\/*.ts`, `Use it: always`. */
function quoted(yaml: string): string {
  return yaml.replaceAll(/^([\w-]+:|[ \t]*-) +([^\s"'[{|>#].*)$/gm, (line, key: string, value: string) =>
    /^[*&!%@`]|: /.test(value) ? `${key} ${JSON.stringify(value.trimEnd())}` : line,
  );
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
