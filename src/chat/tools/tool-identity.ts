import { createHash } from 'node:crypto';

/** The definition of a tool as its extension or server states it. */
export interface ToolDefinition {
  /** Id of the extension, or name of the server. A display name can be that of any extension. */
  readonly source: string;
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

/** Identifies a tool in rules that allow it. It changes with the description and the schema, which a model follows. */
export function toolIdentity({ source, name, description, schema }: ToolDefinition): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([description, sorted(schema)]))
    .digest('hex');
  return `${source}/${name}#${hash.slice(0, 32)}`;
}

/** Without regard to the order of members, which a server may change at each start. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}
