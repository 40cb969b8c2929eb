import { arrayOrEmpty, isObject, type JsonObject, nonEmptyString, objectOrEmpty, ownEntry } from '../../base/json.ts';

/**
 * Keywords that OpenAI and Anthropic refuse at the top of a tool's schema ("schema must have type 'object' and not have
 * 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"; "input_schema does not support oneOf, allOf, or anyOf at the
 * top level").
 */
const REFUSED = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'] as const;

/** Limit of the visited alternatives. References can repeat them without end. */
const MAX_SCHEMAS = 1000;

/**
 * A tool's schema as one object without alternatives at its top: it has the properties of all alternatives and requires
 * those that each of them requires. Returns the same schema if it has none.
 */
export function bridgeToolSchema(schema: JsonObject): JsonObject {
  if (schema.type === 'object' && !REFUSED.some((keyword) => keyword in schema)) return schema;
  const { properties, required } = new AlternativeMerger(schema).merge(schema);
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([key]) => !REFUSED.some((refused) => refused === key)),
  );
  const merged = Object.fromEntries([...properties].map(([name, forms]) => [name, joinForms([...forms.values()])]));
  const { required: _, ...open } = rest;
  return { ...open, type: 'object', properties: merged, ...(required.size > 0 ? { required: [...required] } : {}) };
}

interface Merged {
  /** The schemas of each property, by their JSON text. */
  readonly properties: Map<string, Map<string, unknown>>;
  readonly required: Set<string>;
}

class AlternativeMerger {
  readonly #root: JsonObject;
  #left = MAX_SCHEMAS;

  constructor(root: JsonObject) {
    this.#root = root;
  }

  merge(schema: JsonObject): Merged {
    const merged: Merged = { properties: new Map(), required: new Set() };
    if (this.#left-- <= 0) return merged;
    for (const [name, property] of Object.entries(objectOrEmpty(schema.properties))) {
      merged.properties.set(name, new Map([[JSON.stringify(property), property]]));
    }
    for (const name of arrayOrEmpty(schema.required)) if (typeof name === 'string') merged.required.add(name);
    for (const part of [...this.#referenced(schema), ...this.#schemas(schema.allOf)]) {
      addProperties(merged, part);
      for (const name of part.required) merged.required.add(name);
    }
    for (const alternatives of [this.#schemas(schema.anyOf), this.#schemas(schema.oneOf)]) {
      const [first, ...others] = alternatives;
      for (const alternative of alternatives) addProperties(merged, alternative);
      for (const name of first?.required ?? []) {
        if (others.every(({ required }) => required.has(name))) merged.required.add(name);
      }
    }
    return merged;
  }

  #schemas(list: unknown): Merged[] {
    return arrayOrEmpty(list).flatMap((schema) => (this.#left > 0 && isObject(schema) ? [this.merge(schema)] : []));
  }

  /** The schema of a local reference (`#/$defs/Name`). */
  #referenced(schema: JsonObject): Merged[] {
    const path = nonEmptyString(schema.$ref)?.split('/') ?? [];
    if (path[0] !== '#' || path.length !== 3) return [];
    const target = ownEntry(objectOrEmpty(ownEntry(this.#root, path[1] ?? '')), path[2] ?? '');
    return isObject(target) ? [this.merge(target)] : [];
  }
}

function addProperties(merged: Merged, { properties }: Merged): void {
  for (const [name, forms] of properties) {
    const known = merged.properties.get(name);
    if (known === undefined) merged.properties.set(name, new Map(forms));
    else for (const [text, form] of forms) known.set(text, form);
  }
}

/** The schema of a property that has several. Constants, which distinguish the alternatives, become a list. */
function joinForms(forms: readonly unknown[]): unknown {
  if (forms.length === 1) return forms[0];
  const constants = forms.flatMap((form) => (isObject(form) && 'const' in form ? [form.const] : []));
  if (constants.length < forms.length) return { anyOf: forms };
  const text = constants.every((constant) => typeof constant === 'string');
  return { ...(text ? { type: 'string' } : {}), enum: constants };
}
