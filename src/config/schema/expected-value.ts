import type { JSONSchema } from 'zod/v4/core';
import type { Tree } from '../settings/tree.ts';

type Schema = JSONSchema.BaseSchema;

/** The schema of the value at a path. Empty if any value is valid. */
export function schemaAt(root: Schema, path: readonly string[]): Schema {
  return path.reduce((schema, key) => {
    const { properties, additionalProperties, items } = objectSchema(schema);
    if (properties !== undefined && Object.hasOwn(properties, key)) return resolveSchema(properties[key]);
    return resolveSchema(additionalProperties ?? (Array.isArray(items) ? undefined : items));
  }, root);
}

/** The keys that an object at a path may have. */
export function knownKeys(root: Schema, path: readonly string[]): readonly string[] {
  return Object.keys(objectSchema(schemaAt(root, path)).properties ?? {});
}

/** The object schema in `object | null`. */
function objectSchema(schema: Schema): Schema {
  return schema.anyOf?.map(resolveSchema).find(({ type }) => type === 'object') ?? schema;
}

function resolveSchema(schema: Schema | boolean | undefined): Schema {
  return typeof schema === 'object' ? schema : {};
}

/** A description of the expected value. */
export function expectedValue(schema: Schema): string {
  if (typeof schema.expected === 'string') return schema.expected;
  if (schema.anyOf !== undefined) return schema.anyOf.map(resolveSchema).map(expectedValue).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  if (schema.minLength !== undefined) return 'non-empty text';
  const { exclusiveMinimum, minimum, maximum } = schema;
  const bounds = [
    exclusiveMinimum === undefined ? undefined : `above ${exclusiveMinimum}`,
    // The bounds of safe integers are omitted.
    minimum === undefined || minimum < -1e15 ? undefined : `at least ${minimum}`,
    maximum === undefined || maximum > 1e15 ? undefined : `at most ${maximum}`,
  ].filter((bound) => bound !== undefined);
  return [TYPE_NAMES[String(schema.type)] ?? 'another value', ...bounds].join(', ');
}

/** A description of the written value. It does not contain the value, which may be a secret. */
export function writtenValue(tree: Tree): string {
  if (tree.type !== 'scalar') return TYPE_NAMES[tree.type] ?? '';
  const type = tree.value === null ? 'null' : typeof tree.value;
  const name = TYPE_NAMES[type] ?? type;
  return type === 'string' || type === 'number' ? `${name} that does not fit` : name;
}

/** JSON types in words. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};
