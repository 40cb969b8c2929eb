import { createHash } from 'node:crypto';
import { cutMiddle } from './long-output.ts';

/** The definition of a tool as its extension or server states it. */
export interface ToolDefinition {
  /** Id of the extension, or name of the server. A display name can be that of any extension. */
  readonly source: string;
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

/** Longer definitions are kept and shown in part. Their whole text is in the hash. */
const MAX_DEFINITION = 20_000;

/** A definition as the user reads it: the description, then the schema as JSON with sorted members. */
export function definitionText({ description, schema }: Pick<ToolDefinition, 'description' | 'schema'>): string {
  const text = `${description.trimEnd()}\n\n${JSON.stringify(sorted(schema), null, 2)}\n`;
  return cutMiddle(text, MAX_DEFINITION);
}

/** The identity of the definition that a rule allows, if it is an earlier one of the same tool. */
export function earlierIdentity(identity: string, allowed: readonly string[]): string | undefined {
  const tool = `tool:${identity.slice(0, identity.lastIndexOf('#') + 1)}`;
  const rule = allowed.findLast((each) => each.startsWith(tool) && each !== `tool:${identity}`);
  return rule?.slice('tool:'.length);
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
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}
