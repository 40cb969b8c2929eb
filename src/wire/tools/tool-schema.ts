import { arrayOrEmpty, isObject, type JsonObject, nonEmptyString, objectOrEmpty, ownEntry } from '../../base/json.ts';

/**
 * Keywords that OpenAI and Anthropic refuse at the top of a tool's schema ("schema must have type 'object' and not have
 * 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"; "input_schema does not support oneOf, allOf, or anyOf at the
 * top level").
 */
const REFUSED = ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref'] as const;

/** Limit of the visited alternatives of one tool. A chain of references can be as long as the body. */
const MAX_SCHEMAS = 1000;

/**
 * Limit of the steps for all tools of a request: visited schemas, schemas of properties, and required names. Without
 * it, the time is not linear in the size of the body: many alternatives can refer to one definition.
 */
const MAX_STEPS = 100_000;

/** The remaining steps for the tools of a request. */
export interface MergeBudget {
  left: number;
}

export function createMergeBudget(): MergeBudget {
  return { left: MAX_STEPS };
}

/**
 * A tool's schema as one object without alternatives at its top: it has the properties of all alternatives and requires
 * those that each of them requires. Returns the same schema if it has none.
 *
 * @param budget shared by the tools of a request. When it is used up, further alternatives are left out.
 */
export function bridgeToolSchema(schema: JsonObject, budget = createMergeBudget()): JsonObject {
  if (schema.type === 'object' && !REFUSED.some((keyword) => keyword in schema)) return schema;
  const { properties, required } = new AlternativeMerger(schema, budget).merge(schema);
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([key]) => !REFUSED.some((refused) => refused === key)),
  );
  const merged = Object.fromEntries([...properties].map(([name, forms]) => [name, joinForms([...forms])]));
  const { required: _, ...open } = rest;
  return { ...open, type: 'object', properties: merged, ...(required.size > 0 ? { required: [...required] } : {}) };
}

interface Merged {
  /** The different schemas of each property. */
  readonly properties: Map<string, Set<unknown>>;
  readonly required: Set<string>;
}

class AlternativeMerger {
  readonly #root: JsonObject;
  readonly #budget: MergeBudget;
  /** The result of each visited schema. References can repeat a schema. */
  readonly #merged = new Map<JsonObject, Merged>();
  /** The schemas of properties by their JSON text. Equal schemas become one object. */
  readonly #forms = new Map<string, unknown>();

  constructor(root: JsonObject, budget: MergeBudget) {
    this.#root = root;
    this.#budget = budget;
  }

  merge(schema: JsonObject): Merged {
    const known = this.#merged.get(schema);
    if (known !== undefined) return known;
    const merged: Merged = { properties: new Map(), required: new Set() };
    // References can form a circle, so the result is registered before the parts are visited.
    this.#merged.set(schema, merged);
    this.#addOwn(merged, schema);
    for (const part of this.#mergeEach([this.#referenced(schema), ...arrayOrEmpty(schema.allOf)])) {
      this.#addProperties(merged, part);
      this.#addRequired(merged, part.required);
    }
    this.#addAlternatives(merged, arrayOrEmpty(schema.anyOf));
    this.#addAlternatives(merged, arrayOrEmpty(schema.oneOf));
    return merged;
  }

  /** Adds the properties of the schema itself, even if the budget is used up: this happens once for each schema. */
  #addOwn(merged: Merged, schema: JsonObject): void {
    const properties = Object.entries(objectOrEmpty(schema.properties));
    const required = arrayOrEmpty(schema.required);
    this.#budget.left -= 1 + properties.length + required.length;
    for (const [name, property] of properties) merged.properties.set(name, new Set([this.#uniqueForm(property)]));
    for (const name of required) if (typeof name === 'string') merged.required.add(name);
  }

  /** The first of the schemas with the same JSON text. */
  #uniqueForm(form: unknown): unknown {
    const text = JSON.stringify(form);
    if (!this.#forms.has(text)) this.#forms.set(text, form);
    return this.#forms.get(text);
  }

  /** Visits the schemas one by one, so that each result is added before the next schema uses the budget. */
  *#mergeEach(schemas: readonly unknown[]): Generator<Merged> {
    const results = new Set<Merged>();
    for (const schema of schemas) {
      if (this.#budget.left <= 0 || this.#merged.size >= MAX_SCHEMAS) return;
      const result = isObject(schema) ? this.merge(schema) : undefined;
      if (result === undefined || results.has(result)) continue;
      results.add(result);
      yield result;
    }
  }

  #addAlternatives(merged: Merged, schemas: readonly unknown[]): void {
    let common: readonly string[] | undefined;
    for (const alternative of this.#mergeEach(schemas)) {
      this.#addProperties(merged, alternative);
      const names: readonly string[] = common ?? [...alternative.required];
      this.#budget.left -= names.length;
      common = this.#budget.left > 0 ? names.filter((name) => alternative.required.has(name)) : [];
    }
    this.#addRequired(merged, common ?? []);
  }

  #addProperties(merged: Merged, { properties }: Merged): void {
    for (const [name, forms] of properties) {
      if (this.#budget.left <= 0) return;
      this.#budget.left -= forms.size;
      const known = merged.properties.get(name);
      if (known === undefined) merged.properties.set(name, new Set(forms));
      else for (const form of forms) known.add(form);
    }
  }

  #addRequired(merged: Merged, names: Iterable<string>): void {
    for (const name of names) {
      if (this.#budget.left <= 0) return;
      this.#budget.left -= 1;
      merged.required.add(name);
    }
  }

  /** The schema of a local reference (`#/$defs/Name`). */
  #referenced(schema: JsonObject): unknown {
    const path = nonEmptyString(schema.$ref)?.split('/') ?? [];
    if (path[0] !== '#' || path.length !== 3) return undefined;
    return ownEntry(objectOrEmpty(ownEntry(this.#root, path[1] ?? '')), path[2] ?? '');
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
