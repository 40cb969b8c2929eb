import { arrayOrEmpty, isObject, type JsonObject, objectOrEmpty } from '../../../src/base/json.ts';

/** A request that the vendor refuses with 400, and the vendor's message. */
export class Refusal extends Error {}

export function refuse(message: string): never {
  throw new Refusal(message);
}

export function refuseIf(condition: boolean, message: string): void {
  if (condition) refuse(message);
}

/** Refuses members that the vendor's reference does not list. */
export function onlyKnown(value: JsonObject, known: ReadonlySet<string>, message: (name: string) => string): void {
  for (const name of Object.keys(value)) if (!known.has(name)) refuse(message(name));
}

export function names(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

/** `max` characters at most, for each named field that is present. */
export function limitLength(body: JsonObject, fields: readonly string[], max: number): void {
  for (const field of fields) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string') refuse(`Invalid type for '${field}': expected a string.`);
    refuseIf(
      value.length > max,
      `Invalid '${field}': string too long. Expected a string with maximum length ${max}, but got a string with length ${value.length} instead.`,
    );
  }
}

const TOP_LEVEL = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'];

/** OpenAI guide "Function calling": the schema is an object, without a choice at its top. */
export function checkOpenAiSchema(name: string, schema: unknown): void {
  if (schema === undefined || schema === null) return;
  const { type } = objectOrEmpty(schema);
  const choice = isObject(schema) && TOP_LEVEL.some((key) => key in schema);
  refuseIf(
    type !== 'object' || choice,
    `Invalid schema for function '${name}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`,
  );
}

/** OpenAI guide "Structured outputs": with `strict`, each object is closed and requires all its properties. */
export function checkStrictSchema(name: string, schema: unknown): void {
  if (!isObject(schema)) return;
  if (schema.type === 'object' || isObject(schema.properties)) {
    refuseIf(
      schema.additionalProperties !== false,
      `Invalid schema for function '${name}': 'additionalProperties' is required to be supplied and to be false.`,
    );
    const required = arrayOrEmpty(schema.required);
    const missing = Object.keys(objectOrEmpty(schema.properties)).find((key) => !required.includes(key));
    refuseIf(
      missing !== undefined,
      `Invalid schema for function '${name}': 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`,
    );
  }
  for (const property of Object.values(objectOrEmpty(schema.properties))) checkStrictSchema(name, property);
  checkStrictSchema(name, schema.items);
}

export function checkOpenAiName(name: unknown, where: string): string {
  if (typeof name !== 'string' || name === '') refuse(`Missing required parameter: '${where}'.`);
  refuseIf(
    name.length > 64,
    `Invalid '${where}': string too long. Expected a string with maximum length 64, but got a string with length ${name.length} instead.`,
  );
  refuseIf(
    !/^[a-zA-Z0-9_-]+$/.test(name),
    `Invalid '${where}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
  );
  return name;
}

/** OpenAI reference, `metadata`: 16 pairs, keys of 64 and values of 512 characters. */
export function checkMetadata(metadata: unknown): void {
  if (metadata === undefined || metadata === null) return;
  const entries = Object.entries(objectOrEmpty(metadata));
  refuseIf(entries.length > 16, "Invalid 'metadata': too many properties. Expected an object with at most 16.");
  for (const [key, value] of entries) {
    refuseIf(key.length > 64, `Invalid 'metadata': key too long: '${key}'.`);
    refuseIf(typeof value !== 'string', `Invalid type for 'metadata.${key}': expected a string.`);
    refuseIf(String(value).length > 512, `Invalid 'metadata.${key}': string too long.`);
  }
}
