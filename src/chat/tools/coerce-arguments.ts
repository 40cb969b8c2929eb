import { objectOrEmpty, parseJson } from '../../base/json.ts';
import type { ToolInput } from './tools.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A schema of an extension or server may refer to itself. */
const MAX_DEPTH = 20;

/**
 * Converts arguments whose type differs from that of the schema, where only one meaning is possible: `"3"` for a
 * number, `"true"` for a boolean, a list or object as JSON text, an object for a list of objects, `null` for an optional
 * value. Everything else stays as it is: the tool reports it.
 *
 * @param parameters JSON Schema of the tool.
 */
export function coerceArguments(parameters: Schema, input: ToolInput): ToolInput {
  const coerced = new Coercion(parameters).value(parameters, input, 0);
  return typeof coerced === 'object' && coerced !== null ? { ...coerced } : input;
}

/** The parameters of a tool in one line, for a model that sent wrong arguments. */
export function describeParameters(parameters: Schema): string {
  const required = new Set(Array.isArray(parameters.required) ? parameters.required : []);
  const names = Object.entries(objectOrEmpty(parameters.properties)).map(([name, schema]) => {
    const type = typesOf(objectOrEmpty(schema)).join(' or ');
    return `${name} (${[type, required.has(name) ? '' : 'optional'].filter(Boolean).join(', ')})`;
  });
  return names.length === 0 ? 'The tool has no parameters.' : `The parameters are: ${names.join(', ')}.`;
}

class Coercion {
  readonly #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  value(given: Schema, value: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) return value;
    const schema = this.#resolve(given);
    const choices = this.#choices(schema);
    const [fitting, other] = choices.filter((each) => accepts(each, value));
    // Of two kinds of objects, the one that is meant is not known.
    if (fitting) return other ? value : this.#inside(fitting, value, depth);
    const results = new Map<string, { readonly value: unknown; readonly schema: Schema }>();
    for (const each of choices) {
      const converted = convert(each, value);
      if (converted !== undefined) results.set(JSON.stringify(converted), { value: converted, schema: each });
    }
    const [only, another] = results.values();
    return only && !another ? this.#inside(only.schema, only.value, depth) : value;
  }

  #inside(schema: Schema, value: unknown, depth: number): unknown {
    if (Array.isArray(value)) {
      const items = schema.items;
      return typeof items === 'object' && items !== null && !Array.isArray(items)
        ? value.map((item) => this.value({ ...items }, item, depth + 1))
        : value;
    }
    if (typeof value !== 'object' || value === null) return value;
    const properties = objectOrEmpty(schema.properties);
    const required = Array.isArray(schema.required) ? schema.required : [];
    const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
      if (!Object.hasOwn(properties, name)) return [[name, member]];
      const own = objectOrEmpty(properties[name]);
      if (!required.includes(name) && this.#isNothing(own, member)) return [];
      return [[name, this.value(own, member, depth + 1)]];
    });
    return Object.fromEntries(entries);
  }

  #isNothing(schema: Schema, value: unknown): boolean {
    if (value !== null && value !== '' && value !== 'null') return false;
    return !this.#choices(this.#resolve(schema)).some((each) => accepts(each, value));
  }

  #resolve(schema: Schema): Schema {
    let at = schema;
    for (let depth = 0; typeof at.$ref === 'string' && depth < MAX_DEPTH; depth += 1) at = this.#referenced(at.$ref);
    return at;
  }

  /** Only a reference within the schema is followed. */
  #referenced(reference: string): Schema {
    if (!reference.startsWith('#/')) return {};
    let at: unknown = this.#root;
    for (const key of reference.slice(2).split('/')) {
      const members = objectOrEmpty(at);
      const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
      at = Object.hasOwn(members, name) ? members[name] : undefined;
    }
    return objectOrEmpty(at);
  }

  /** The alternatives of a schema. */
  #choices(schema: Schema): readonly Schema[] {
    const several = schema.anyOf ?? schema.oneOf;
    if (!Array.isArray(several)) return [schema];
    return several.map((each) => this.#resolve(objectOrEmpty(each)));
  }
}

function typesOf({ type, enum: values, const: only }: Schema): readonly string[] {
  if (Array.isArray(type)) return type.map(String);
  if (typeof type === 'string') return [type];
  const literals = Array.isArray(values) ? values : only === undefined ? [] : [only];
  return [...new Set(literals.map((each) => (each === null ? 'null' : typeof each)))];
}

/** Whether a value may stay. A schema without a type accepts everything. */
function accepts(schema: Schema, value: unknown): boolean {
  const types = typesOf(schema);
  if (types.length === 0) return true;
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return types.includes(kind) || (kind === 'number' && types.includes('integer'));
}

/** Undefined: there is no value of this type with the same meaning. */
function convert(schema: Schema, value: unknown): unknown {
  const found = typesOf(schema).flatMap((type) => {
    const converted = convertTo(type, value);
    return converted === undefined ? [] : [converted];
  });
  return new Set(found).size === 1 ? found[0] : undefined;
}

function convertTo(type: string, value: unknown): unknown {
  switch (type) {
    case 'number':
    case 'integer': {
      const number =
        typeof value === 'string' && /^\s*-?\d{1,20}(?:\.\d{1,20})?\s*$/.test(value) ? Number(value) : undefined;
      return type === 'integer' && !Number.isSafeInteger(number) ? undefined : number;
    }
    case 'boolean':
      return typeof value === 'string' ? BOOLEANS.get(value.trim().toLowerCase()) : undefined;
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
    case 'array': {
      const list = typeof value === 'string' ? parseJson(value) : undefined;
      if (Array.isArray(list)) return list;
      return typeof value === 'object' && value !== null ? [value] : undefined;
    }
    case 'object': {
      const parsed = typeof value === 'string' ? parseJson(value) : undefined;
      return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
    }
    default:
      return undefined;
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
