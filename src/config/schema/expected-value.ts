import type { JSONSchema } from 'zod/v4/core';
import type { Tree } from '../settings/tree.ts';
import { isSecretPlace } from '../settings/values.ts';

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

/**
 * A description of the written value. A text is not shown, because it may be a secret, except where it names a model or
 * a setting.
 */
export function writtenValue(tree: Tree, path: readonly string[]): string {
  if (tree.type !== 'scalar') return TYPE_NAMES[tree.type] ?? '';
  const { value, reference } = tree;
  if (typeof value === 'number' && (!Number.isFinite(value) || isSecretPlace(path)))
    return 'a number that does not fit';
  if (typeof value !== 'string') return String(value);
  const isPublic = reference === undefined && path.length === 1;
  return isPublic ? JSON.stringify(value.slice(0, MAX_SHOWN)) : 'text that does not fit';
}

/** Characters of a value in a message. */
const MAX_SHOWN = 100;

/** The value to write instead of a number or `true` in quotes. */
export function cure(schema: Schema, value: unknown): string {
  if (typeof value !== 'string' || value.length > MAX_SHOWN) return '';
  const branches = schema.anyOf?.map(resolveSchema) ?? [schema];
  const isNumber =
    /^-?\d+(?:\.\d+)?$/.test(value) && branches.some(({ type }) => type === 'number' || type === 'integer');
  const isFlag =
    /^(?:true|false)$/.test(value) &&
    branches.some(({ type, const: one }) => type === 'boolean' || String(one) === value);
  return isNumber || isFlag ? ` Write ${value} without quotes.` : '';
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
