import { jsonSchema } from '../src/config/schema/schema.ts';

/** Keywords that suggest and explain. All others would report problems, which the extension reports itself. */
const KEPT = ['description', 'default', 'examples', 'title'];

/** Text that VS Code inserts for a value, by its type. */
const SNIPPETS: Readonly<Record<string, unknown>> = { object: '{\n\t$1\n}', array: '[$1]', string: '"$1"' };

/**
 * The schema for VS Code's own JSON support: it completes keys and values and shows descriptions. Problems are reported
 * once, by the extension, with the rules of the terminal. Both extensions of JSON that svc.jsonc accepts are allowed.
 */
export function editorSchema(): unknown {
  const { $schema } = jsonSchema();
  return { $schema, allowComments: true, allowTrailingCommas: true, ...lenient(jsonSchema()) };
}

function lenient(schema: unknown): Record<string, unknown> {
  if (typeof schema !== 'object' || schema === null) return {};
  const of = (key: string): unknown => Reflect.get(schema, key);
  const kept = KEPT.flatMap((key) => (of(key) === undefined ? [] : [[key, of(key)] as const]));
  const values = examples(of('enum'), of('const'), of('type'));
  const properties = mapValues(of('properties'));
  const [additional, items, branches] = [of('additionalProperties'), of('items'), of('anyOf')];
  const snippet = SNIPPETS[String(of('type'))];
  const hasValues = of('default') !== undefined || of('examples') !== undefined || values !== undefined;
  return {
    ...Object.fromEntries(kept),
    ...(values === undefined ? {} : { examples: values }),
    ...(snippet === undefined || hasValues ? {} : { defaultSnippets: [{ label: '', bodyText: snippet }] }),
    ...(properties === undefined ? {} : { properties }),
    ...(typeof additional === 'object' ? { additionalProperties: lenient(additional) } : {}),
    ...(typeof items === 'object' ? { items: lenient(items) } : {}),
    ...(Array.isArray(branches) ? { anyOf: branches.map(lenient) } : {}),
  };
}

function mapValues(properties: unknown): Record<string, unknown> | undefined {
  if (typeof properties !== 'object' || properties === null) return undefined;
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, lenient(value)]));
}

function examples(choices: unknown, constant: unknown, type: unknown): readonly unknown[] | undefined {
  if (Array.isArray(choices)) return choices;
  if (constant !== undefined) return [constant];
  return type === 'boolean' ? [true, false] : undefined;
}
