import { isObject, type JsonObject } from '../wire/json.ts';
import type { ModelSettings } from './configured-model.ts';
import { branchFor, fits } from './fit.ts';
import { isSettled } from './header-names.ts';
import { readPlainModel } from './plain-model.ts';
import type { Rule } from './schema-rules.ts';
import type { BracedText, Survey } from './surveyed.ts';
import type { DeepPlace } from './tree.ts';

type Found = { -readonly [K in keyof Survey]: Survey[K] } & {
  readonly braced: BracedText[];
  readonly models: Map<object, ReadonlyMap<string, ModelSettings>>;
  /** Where the whole value stands, where that is known. */
  readonly place: DeepPlace | undefined;
  /** Of the moment; behind it are left-overs of what lay deeper before. */
  readonly path: string[];
  readonly maxDepth: number;
};

/**
 * Looks at a plain object, whose objects and lists nest `maxDepth` levels at most. What is at fault by the
 * rule is not said: validate.ts looks again for that.
 *
 * @param place where the object stands; without it no models are read.
 */
export function survey(
  value: JsonObject,
  rule: Rule,
  maxDepth = Number.POSITIVE_INFINITY,
  place?: DeepPlace | undefined,
): Survey {
  const found: Found = {
    braced: [],
    keys: 0,
    tooDeep: maxDepth < 1,
    sound: true,
    settled: true,
    models: new Map(),
    place: maxDepth < MODEL_DEPTH ? undefined : place,
    path: [],
    maxDepth,
  };
  if (!found.tooDeep) lookOver(value, rule, 0, found);
  const { braced, keys, tooDeep, sound, settled, models } = found;
  return { braced, keys, tooDeep, sound, settled, models };
}

/** Levels that a model nests at most, those around it with it. */
const MODEL_DEPTH = 7;

/**
 * Nearly every value of a file passes here or in plain-model.ts, in code that runs for the first time: few
 * steps each, no calls but for what nests. `false` is the rule of what must not be there, `undefined` that of anything.
 */
function lookOver(object: JsonObject, rule: Rule | undefined, depth: number, found: Found): void {
  let keys = 0;
  for (const key in object) {
    keys += 1;
    const value = object[key];
    const next = rule === undefined ? undefined : (rule.members.get(key) ?? rule.rest);
    if (typeof value === 'object' && value !== null) {
      found.path[depth] = key;
      lookBelow(value, next, depth + 1, found);
      continue;
    }
    if (typeof value === 'string' && value.includes('{')) {
      if (next === false) found.sound = false;
      found.braced.push({ path: [...found.path.slice(0, depth), key], text: value, rule: next || undefined });
      continue;
    }
    if (next === undefined) continue;
    if (next === false) {
      found.sound = false;
      continue;
    }
    if (next.any && typeof value === next.type) {
      if (typeof value === 'string' ? value.length >= next.minLength : typeof value === 'boolean') continue;
      if (typeof value === 'number' && value >= next.minimum && value <= next.maximum && value > next.above) continue;
    }
    if (!fits(value, next)) found.sound = false;
  }
  found.keys += keys;
  if (rule?.required !== undefined && !hasAll(object, rule.required)) found.sound = false;
  if (rule?.names !== undefined) lookAtNames(object, rule.names, found);
}

function hasAll(object: JsonObject, keys: readonly string[]): boolean {
  return keys.every((key) => Object.hasOwn(object, key));
}

/** The names of headers are the only ones that a rule has something to say about. */
function lookAtNames(headers: JsonObject, names: RegExp, found: Found): void {
  for (const name in headers) {
    if (!names.test(name)) found.sound = false;
    if (!isSettled(name)) found.settled = false;
  }
}

function lookThrough(list: readonly unknown[], rule: Rule | undefined, depth: number, found: Found): void {
  for (let index = 0; index < list.length; index += 1) {
    const value = list[index];
    if (typeof value === 'object' && value !== null) {
      found.path[depth] = String(index);
      lookBelow(value, rule, depth + 1, found);
    } else if (typeof value === 'string') {
      if (rule?.choices?.includes(value)) continue;
      if (value.includes('{')) {
        found.braced.push({ path: [...found.path.slice(0, depth), String(index)], text: value, rule });
      } else if (rule !== undefined && !fits(value, rule)) found.sound = false;
    } else if (rule !== undefined && !fits(value, rule)) found.sound = false;
  }
}

function lookBelow(value: object, rule: Rule | false | undefined, depth: number, found: Found): void {
  if (depth >= found.maxDepth) {
    found.tooDeep = true;
    return;
  }
  const list = Array.isArray(value);
  const branch = rule ? branchFor(value, list ? 'array' : 'object', rule) : undefined;
  if (rule !== undefined && branch === undefined) found.sound = false;
  if (list) lookThrough(value, branch?.items, depth, found);
  else if (isObject(value)) {
    const below = branch?.open ? undefined : branch;
    if (depth === 3 && found.path[2] === 'models' && found.path[0] === 'provider') lookAtModels(value, below, found);
    else lookOver(value, below, depth, found);
  }
}

/** `provider.<id>.models`: most of a large file. */
function lookAtModels(models: JsonObject, rule: Rule | undefined, found: Found): void {
  const { path, place } = found;
  const [section = '', id = '', key = ''] = path;
  const above = place?.of(section).of(id).of(key);
  if (above === undefined) {
    lookOver(models, rule, 3, found);
    return;
  }
  const read = new Map<string, ModelSettings>();
  for (const key in models) {
    const fields = models[key];
    const before = found.keys;
    const model = isObject(fields) ? readPlainModel(key, fields, above.of(key), found) : undefined;
    if (model === undefined) {
      found.keys = before;
      lookOver({ [key]: fields }, rule, 3, found);
    } else {
      found.keys += 1;
      read.set(key, model);
    }
  }
  found.models.set(models, read);
}
