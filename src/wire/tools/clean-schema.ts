import { arrayOrEmpty, isObject, type JsonObject, ownEntry } from '../../base/json.ts';
import { splitWords } from '../../base/split-words.ts';

/** The keywords of a tool's JSON Schema that a vendor reads. The rest is moved to the description. */
export interface SchemaRules {
  /** `portable`: patterns that Python's `re` reads, without look-around. */
  readonly patterns: 'any' | 'portable' | 'anchored' | 'none';
  /** `alone`: a reference has no siblings. `inlined`: references are replaced by their schemas. */
  readonly references: 'any' | 'inlined';
  /** Accepted values of `format`. Absent: any. */
  readonly formats?: readonly string[];
  /** Accepted keywords. Absent: all. */
  readonly keywords?: readonly string[];
  /** `inside`: `type` must be in the alternatives of `anyOf`, not beside it. */
  readonly typeOfAlternatives: 'any' | 'inside';
  /** `strings`: `enum` has only strings that are not empty. */
  readonly enums: 'any' | 'strings';
  /** A list of types becomes one type and `nullable`. */
  readonly typeLists: 'any' | 'nullable';
  /** Maximum nesting of schemas. Deeper ones accept any value. */
  readonly depth: number;
}

/** Nesting that no real schema has. A hostile one can be as deep as the body. */
export const MAX_SCHEMA_DEPTH = 64;

/** Rules that each vendor demands: JSON Schema itself. */
export const PLAIN_SCHEMA: SchemaRules = {
  patterns: 'any',
  references: 'any',
  typeOfAlternatives: 'any',
  enums: 'any',
  typeLists: 'any',
  depth: MAX_SCHEMA_DEPTH,
};

/** Limit of the schemas that references are replaced by, for one tool. */
const MAX_INLINED = 500;

/** Keywords whose value may be `null`. */
const NULLABLE = new Set(['const', 'default', 'enum', 'examples', 'example']);
/** Keywords with one schema, with a list and with schemas by name. */
const ONE = new Set(
  splitWords(`
    items additionalProperties not contains propertyNames if then else additionalItems unevaluatedProperties
    unevaluatedItems
  `),
);
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords that state nothing about a value. They are left out without a word. */
const SILENT = new Set([
  '$schema',
  '$id',
  '$comment',
  '$anchor',
  '$defs',
  'definitions',
  'title',
  'examples',
  'example',
]);

/**
 * Reduces a tool's schema to the keywords that a vendor reads, at each depth. The rest is added to the description of its
 * place, so that the model still knows it. Returns the same object if nothing changes.
 */
export function cleanSchema(schema: JsonObject, rules: SchemaRules): JsonObject {
  return new SchemaCleaner(schema, rules).clean(schema, 0);
}

class SchemaCleaner {
  readonly #root: JsonObject;
  readonly #rules: SchemaRules;
  /** References that are being replaced. */
  readonly #open = new Set<string>();
  #inlined = 0;

  constructor(root: JsonObject, rules: SchemaRules) {
    this.#root = root;
    this.#rules = rules;
  }

  clean(given: JsonObject, depth: number): JsonObject {
    if (depth > this.#rules.depth) return {};
    const schema = modernize(given);
    const reference = this.#rules.references === 'inlined' ? schema.$ref : undefined;
    if (typeof reference === 'string') return this.#inline(schema, reference, depth);
    const notes: string[] = [];
    const kept: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) this.#keep(kept, key, value, depth, notes);
    this.#finish(kept, notes);
    if (notes.length > 0) describe(kept, notes);
    return sameMembers(given, kept) ? given : kept;
  }

  #keep(kept: Record<string, unknown>, key: string, value: unknown, depth: number, notes: string[]): void {
    if (value === undefined || (value === null && !NULLABLE.has(key))) return;
    const { keywords } = this.#rules;
    if (key === 'pattern' && !this.#reads(value)) notes.push(`pattern: ${String(value)}`);
    else if (key === 'format' && this.#rules.formats?.includes(String(value)) === false) notes.push(`format: ${value}`);
    else if (key === 'items' && Array.isArray(value)) this.#tuple(kept, value, depth, notes);
    else if (key === 'prefixItems' && !this.#accepts(key)) this.#tuple(kept, arrayOrEmpty(value), depth, notes);
    else if (key === 'const' && !this.#accepts(key)) this.#constant(kept, value, notes);
    else if (key === 'patternProperties' && isObject(value) && this.#accepts(key))
      define(kept, key, this.#nested(key, this.#readable(value, notes), depth));
    else if ((key === 'oneOf' || key === 'allOf') && !this.#accepts(key)) this.#join(kept, key, value, depth, notes);
    else if (keywords !== undefined && !keywords.includes(key)) {
      if (!SILENT.has(key) && value !== false)
        notes.push(`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    } else define(kept, key, this.#nested(key, value, depth));
  }

  #accepts(keyword: string): boolean {
    return this.#rules.keywords?.includes(keyword) ?? true;
  }

  /** The schemas of `patternProperties` whose names the vendor reads. Returns the same object if it reads all. */
  #readable(schemas: JsonObject, notes: string[]): JsonObject {
    const unread = Object.keys(schemas).filter((pattern) => !this.#reads(pattern));
    if (unread.length === 0) return schemas;
    notes.push(`patternProperties: ${JSON.stringify(schemas)}`);
    return Object.fromEntries(Object.entries(schemas).filter(([pattern]) => !unread.includes(pattern)));
  }

  /** A vendor with keywords of its own has no schemas that are `true` or `false`. */
  #one(value: unknown, depth: number): unknown {
    if (isObject(value)) return this.clean(value, depth + 1);
    return typeof value === 'boolean' && this.#rules.keywords !== undefined ? {} : value;
  }

  #nested(key: string, value: unknown, depth: number): unknown {
    if (ONE.has(key)) return this.#one(value, depth);
    if (LISTS.has(key)) return this.#list(value, depth);
    if (!NAMED.has(key) || !isObject(value)) return value;
    const named: Record<string, unknown> = {};
    for (const [name, given] of Object.entries(value)) {
      // Ollama refuses a request with a property that is no object (can1357/oh-my-pi#4488).
      const inner = key === 'properties' && typeof given === 'boolean' ? (given ? {} : { not: {} }) : given;
      if (inner !== null) define(named, name, this.#one(inner, depth));
    }
    return sameMembers(value, named) ? value : named;
  }

  #list(value: unknown, depth: number): unknown {
    if (!Array.isArray(value)) return value;
    const list = value.map((inner) => this.#one(inner, depth));
    return list.every((inner, index) => inner === value[index]) ? value : list;
  }

  /** JSON Schema 2020-12 has lists of schemas only in `prefixItems`. */
  #tuple(kept: Record<string, unknown>, schemas: readonly unknown[], depth: number, notes: string[]): void {
    const forms = arrayOrEmpty(this.#list(schemas, depth));
    kept.items = forms.length === 1 ? forms[0] : forms.length === 0 ? {} : { anyOf: forms };
    if (forms.length > 1) notes.push(`The items have these schemas in order: ${JSON.stringify(schemas)}`);
  }

  #constant(kept: Record<string, unknown>, value: unknown, notes: string[]): void {
    if (this.#rules.enums === 'any' || (typeof value === 'string' && value !== '')) kept.enum ??= [value];
    else notes.push(`const: ${JSON.stringify(value)}`);
  }

  #join(kept: Record<string, unknown>, key: string, value: unknown, depth: number, notes: string[]): void {
    const forms = arrayOrEmpty(this.#list(value, depth));
    if (key === 'oneOf') kept.anyOf = [...arrayOrEmpty(kept.anyOf), ...forms];
    else if (forms.every(isObject)) for (const form of forms) addForm(kept, form, notes);
    else notes.push(`allOf: ${JSON.stringify(value)}`);
  }

  #finish(kept: Record<string, unknown>, notes: string[]): void {
    if (kept.type === 'array' && kept.items === undefined) kept.items = {};
    if (this.#rules.typeLists === 'nullable' && Array.isArray(kept.type)) splitTypes(kept);
    if (this.#rules.enums === 'strings' && Array.isArray(kept.enum)) keepStrings(kept, notes);
    if (this.#rules.typeOfAlternatives === 'inside' && Array.isArray(kept.anyOf)) moveType(kept);
    const { required, properties } = kept;
    if (this.#rules.enums !== 'strings' || !Array.isArray(required)) return;
    // Gemini: "property is not defined".
    const known = required.filter((name) => typeof name === 'string' && isObject(properties) && name in properties);
    if (known.length === required.length) return;
    if (known.length > 0) kept.required = known;
    else delete kept.required;
  }

  #reads(pattern: unknown): boolean {
    if (typeof pattern !== 'string') return false;
    switch (this.#rules.patterns) {
      case 'any':
        return true;
      case 'none':
        return false;
      case 'portable':
        return isPortable(pattern);
      case 'anchored':
        return isPortable(pattern) && pattern.startsWith('^') && pattern.endsWith('$') && !/\\[bB]/.test(pattern);
    }
  }

  /** The schema of a local reference with its siblings. A reference inside itself accepts any value. */
  #inline(schema: JsonObject, reference: string, depth: number): JsonObject {
    const { $ref: _, ...siblings } = schema;
    const target = this.#open.has(reference) || this.#inlined >= MAX_INLINED ? undefined : this.#find(reference);
    if (target === undefined) return this.clean({ ...siblings }, depth);
    this.#open.add(reference);
    this.#inlined += 1;
    const inlined = this.clean({ ...target, ...siblings }, depth);
    this.#open.delete(reference);
    return inlined;
  }

  /** Resolves `#/a/b` from the root of the schema. */
  #find(reference: string): JsonObject | undefined {
    const [start, ...path] = reference.split('/');
    if (start !== '#') return undefined;
    let found: unknown = this.#root;
    for (const name of path) {
      if (!isObject(found)) return undefined;
      found = ownEntry(found, name.replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    return isObject(found) ? found : undefined;
  }
}

/** Adds one of several schemas that hold together (Pydantic writes a reference so). What does not fit is a note. */
function addForm(kept: Record<string, unknown>, form: JsonObject, notes: string[]): void {
  for (const [key, value] of Object.entries(form)) {
    const known = kept[key];
    if (known === undefined) define(kept, key, value);
    else if (key === 'properties' && isObject(known) && isObject(value)) kept[key] = { ...known, ...value };
    else if (key === 'required' && Array.isArray(known)) kept[key] = [...new Set([...known, ...arrayOrEmpty(value)])];
    else if (JSON.stringify(known) !== JSON.stringify(value)) notes.push(`${key}: ${JSON.stringify(value)}`);
  }
}

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/**
 * A schema of an older draft or another dialect as JSON Schema 2020-12. Vendors validate it ("JSON schema is invalid. It
 * must match JSON Schema draft 2020-12", "True is not of type 'number'"). Returns the same object if it is valid.
 */
function modernize(schema: JsonObject): JsonObject {
  const changes: Record<string, unknown> = {};
  const { type, required, description, enum: values } = schema;
  const types = Array.isArray(type) ? type : [type];
  if (typeof type === 'string' || Array.isArray(type)) {
    const known = [...new Set(types.map((each) => String(each).toLowerCase()))].filter((each) => TYPES.has(each));
    if (known.length < types.length || known.some((each, index) => each !== types[index])) {
      changes.type = known.length > 1 ? known : known[0];
    }
  }
  if (Array.isArray(required)) {
    const names = new Set(required.filter((name) => typeof name === 'string'));
    if (names.size < required.length) changes.required = [...names];
  } else if (required !== undefined) changes.required = undefined;
  if (typeof description !== 'string' && description !== undefined && description !== null) {
    changes.description = JSON.stringify(description);
  }
  if (values !== undefined && arrayOrEmpty(values).length === 0) changes.enum = undefined;
  for (const [exclusive, bound] of BOUNDS) {
    if (typeof schema[exclusive] !== 'boolean') continue;
    const strict = schema[exclusive] && typeof schema[bound] === 'number';
    changes[exclusive] = strict ? schema[bound] : undefined;
    if (strict) changes[bound] = undefined;
  }
  return Object.keys(changes).length === 0 ? schema : { ...schema, ...changes };
}

/** Bounds that were `true` or `false` in draft 4. */
const BOUNDS = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

/** Appends the removed keywords to the description. */
function describe(schema: Record<string, unknown>, notes: readonly string[]): void {
  const text = `${notes.join('; ')}.`;
  schema.description = typeof schema.description === 'string' ? `${schema.description}\n${text}` : text;
}

function splitTypes(schema: Record<string, unknown>): void {
  const types = arrayOrEmpty(schema.type).filter((type) => type !== 'null');
  if (types.length < arrayOrEmpty(schema.type).length) schema.nullable = true;
  if (types.length === 1) schema.type = types[0];
  else {
    delete schema.type;
    schema.anyOf ??= types.map((type) => ({ type }));
  }
}

function keepStrings(schema: Record<string, unknown>, notes: string[]): void {
  const values = arrayOrEmpty(schema.enum);
  const strings = values.filter((value) => typeof value === 'string' && value !== '');
  if (strings.length === values.length && strings.length > 0) return;
  notes.push(`enum: ${JSON.stringify(values)}`);
  if (strings.length === 0 || strings.length < values.filter((value) => value !== null && value !== '').length) {
    delete schema.enum;
  } else schema.enum = strings;
}

function moveType(schema: Record<string, unknown>): void {
  const { type } = schema;
  if (type === undefined) return;
  delete schema.type;
  schema.anyOf = arrayOrEmpty(schema.anyOf).map((form) =>
    isObject(form) && !('type' in form) && !('anyOf' in form) ? { type, ...form } : form,
  );
}

/** Escapes with the same meaning in JavaScript, Python, RE2 and Rust. */
const PORTABLE_ESCAPE = /\\(?:[dDwWsSbBtnrfv0]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^a-zA-Z0-9])/g;

/** Whether the pattern is valid and has no look-around, named group, back reference or Unicode property. */
export function isPortable(pattern: string): boolean {
  const rest = pattern.replace(PORTABLE_ESCAPE, ' ');
  if (rest.includes('\\') || /\(\?(?!:)/.test(rest)) return false;
  try {
    new RegExp(pattern);
    return true;
  } catch {
    return false;
  }
}

/** A plain assignment to `__proto__` would change the prototype. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}

function sameMembers(before: JsonObject, after: JsonObject): boolean {
  const names = Object.keys(before);
  return names.length === Object.keys(after).length && names.every((name) => before[name] === after[name]);
}
