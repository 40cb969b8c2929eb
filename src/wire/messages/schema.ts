import { arrayOrEmpty, isObject, type JsonObject } from '../../base/json.ts';
import { splitWords } from '../../base/split-words.ts';

/** docs.anthropic.com, "Structured outputs", "JSON Schema limitations". */
const FORMATS = new Set(splitWords('date-time time date duration email hostname uri ipv4 ipv6 uuid'));
/** Supported keywords without a nested schema. */
const PLAIN = new Set([
  'type',
  'enum',
  'const',
  'default',
  'required',
  'title',
  'description',
  '$ref',
  '$schema',
  '$id',
]);
/** Limits that the API rejects. They are added to the description for the model. */
const LIMITS = splitWords(`
  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems
  uniqueItems minProperties maxProperties not format
`);

/**
 * Reduces a response schema to the subset that Messages supports: `oneOf` becomes `anyOf`, objects are closed, limits
 * are moved to the description, other keywords are removed. A schema within the subset does not change.
 */
export function messagesSchema(schema: JsonObject): JsonObject {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (PLAIN.has(key)) kept[key] = value;
    else if (key === 'properties' || key === '$defs' || key === 'definitions') kept[key] = each(value);
    else if (key === 'items') kept.items = below(value);
    else if (key === 'anyOf' || key === 'allOf') kept[key] = arrayOrEmpty(value).map(below);
    else if (key === 'oneOf') kept.anyOf = [...arrayOrEmpty(kept.anyOf), ...arrayOrEmpty(value).map(below)];
    else if (key === 'format' && typeof value === 'string' && FORMATS.has(value)) kept.format = value;
    else if (key === 'minItems' && (value === 0 || value === 1)) kept.minItems = value;
  }
  if (kept.type === 'object' || isObject(kept.properties)) kept.additionalProperties = false;
  const limits = LIMITS.filter((key) => schema[key] !== undefined && schema[key] !== false && kept[key] === undefined);
  if (limits.length > 0) {
    const words = `${limits.map((key) => `${key}: ${formatValue(schema[key])}`).join('; ')}.`;
    kept.description = typeof kept.description === 'string' ? `${kept.description}\n${words}` : words;
  }
  return kept;
}

function below(value: unknown): unknown {
  return isObject(value) ? messagesSchema(value) : value;
}

function each(value: unknown): unknown {
  if (!isObject(value)) return value;
  const result: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(value)) {
    // A plain assignment to `__proto__` would change the prototype.
    Object.defineProperty(result, name, { value: below(schema), enumerable: true, writable: true, configurable: true });
  }
  return result;
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
