import configJsonSchema from '../../schemas/svc.schema.json' with { type: 'json' };

/** The part of JSON Schema that schemas/svc.schema.json is written in. */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  /** What a person should write instead, from the zod schema's `expected`. */
  readonly expected?: string;
}

/** One schema made ready: of one shape, so that checking thousands of values with it is quick. */
export interface Rule {
  /** Alternatives, one of which a value must fit instead. */
  readonly branches: readonly Rule[] | undefined;
  /** JSON type that is wanted, `integer` among them; empty for any. */
  readonly type: string;
  /** The only value that is wanted. */
  readonly constant: unknown;
  readonly choices: readonly unknown[] | undefined;
  readonly pattern: RegExp | undefined;
  readonly minLength: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly above: number;
  readonly required: readonly string[] | undefined;
  readonly members: ReadonlyMap<string, Rule>;
  /** For members that have no rule of their own; `false`: they are unknown. */
  readonly rest: Rule | false | undefined;
  readonly names: RegExp | undefined;
  readonly items: Rule | undefined;
  /** Nothing below can be at fault. */
  readonly open: boolean;
  /** Of its type, every text that is long enough, every number in bounds or every boolean fits. */
  readonly any: boolean;
  /** Says what a person should write. */
  readonly expected: string;
}

let root: Rule | undefined;

/** The rule of a whole configuration file. */
export function configurationRule(): Rule {
  root ??= ruleOf(configJsonSchema);
  return root;
}

function ruleOf(schema: Schema): Rule {
  const members = new Map(Object.entries(schema.properties ?? {}).map(([key, each]) => [key, ruleOf(each)]));
  const rest = restOf(schema.additionalProperties);
  const names = patternOf(schema.propertyNames?.pattern);
  const items = schema.items === undefined ? undefined : ruleOf(schema.items);
  return {
    branches: schema.anyOf?.map(ruleOf),
    type: schema.type ?? '',
    constant: schema.const,
    choices: schema.enum,
    pattern: patternOf(schema.pattern),
    minLength: schema.minLength ?? 0,
    // JSON can write numbers that JavaScript takes for infinite; none is meant.
    minimum: schema.minimum ?? -Number.MAX_VALUE,
    maximum: schema.maximum ?? Number.MAX_VALUE,
    above: schema.exclusiveMinimum ?? Number.NEGATIVE_INFINITY,
    required: schema.required,
    members,
    rest,
    names,
    items,
    open: members.size === 0 && names === undefined && rest === undefined && schema.required === undefined,
    any: isAny(schema),
    expected: expected(schema),
  };
}

function isAny({ type, enum: choices, const: constant, pattern }: Schema): boolean {
  if (choices !== undefined || constant !== undefined || pattern !== undefined) return false;
  return type === 'string' || type === 'number' || type === 'boolean';
}

/** `true` and `{}` find no fault. */
function restOf(schema: Schema | boolean | undefined): Rule | false | undefined {
  if (typeof schema !== 'object') return schema === false ? false : undefined;
  return Object.keys(schema).length === 0 ? undefined : ruleOf(schema);
}

function patternOf(source: string | undefined): RegExp | undefined {
  return source === undefined ? undefined : new RegExp(source);
}

function expected(schema: Schema): string {
  if (schema.expected !== undefined) return schema.expected;
  if (schema.anyOf !== undefined) return schema.anyOf.map(expected).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  if (schema.minLength !== undefined) return 'text that is not empty';
  const bounds = [
    schema.exclusiveMinimum === undefined ? undefined : `above ${schema.exclusiveMinimum}`,
    schema.minimum === undefined || schema.minimum < -1e15 ? undefined : `at least ${schema.minimum}`,
    schema.maximum === undefined || schema.maximum > 1e15 ? undefined : `at most ${schema.maximum}`,
  ].filter((bound) => bound !== undefined);
  return [TYPE_NAMES[schema.type ?? ''] ?? 'another value', ...bounds].join(', ');
}

/** JSON types in a person's words. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};
