import { isObject, type JsonObject } from '../../base/json.ts';
import { mustBeRewritten } from '../dispatch/model-fields.ts';
import { findStringEnd } from './json-limits.ts';
import type { JsonBody } from './request-body.ts';

/**
 * Replaces the top-level `model` of a JSON body and adds members. The rest is not serialised again: the
 * upstream receives the client's bytes unchanged. The body was parsed before, so it is an object.
 */
export function spliceBody({ bytes, text, value: parsed }: JsonBody, model: string, add: JsonObject = {}): Buffer {
  const additions = Object.entries(add).filter(([key]) => !(key in parsed));
  const span = mustBeRewritten(text, parsed) ? undefined : memberValue(text, 'model');
  const merged = Object.keys(add).some((key) => key in parsed);
  if (span === undefined || merged)
    return Buffer.from(JSON.stringify({ ...parsed, ...mergeAdded(parsed, add), model }));
  const open = text.indexOf('{') + 1;
  const extra = additions.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`).join('');
  const inserted = JSON.stringify(model);
  if (bytes.length !== text.length) {
    return Buffer.from(text.slice(0, open) + extra + text.slice(open, span.start) + inserted + text.slice(span.end));
  }
  // All characters are ASCII, so indexes in the text are indexes in the bytes. The bytes are copied unchanged.
  const middle = Buffer.from(extra + text.slice(open, span.start) + inserted);
  return Buffer.concat([bytes.subarray(0, open), middle, bytes.subarray(span.end)]);
}

function mergeAdded(parsed: JsonObject, add: JsonObject): JsonObject {
  const merged: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(add)) {
    const present = parsed[key];
    merged[key] = isObject(present) && isObject(value) ? { ...present, ...value } : value;
  }
  return merged;
}

/**
 * The position of the value of a top-level string member in a JSON text. Undefined if the member occurs
 * twice or its key is escaped: the parser takes the last one, so the caller serialises the body again.
 */
function memberValue(text: string, key: string): { start: number; end: number } | undefined {
  const first = text.indexOf(`"${key}"`);
  const once = first >= 0 && text.indexOf(`"${key}"`, first + 1) < 0 && !text.includes('\\u');
  let found: { start: number; end: number } | undefined;
  let depth = 0;
  // If the key occurs once and nothing is escaped, nothing after the value can override it.
  for (let at = 0; at < text.length && !(once && found); at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x22) {
      const end = findStringEnd(text, at);
      if (depth === 1) {
        const value = valueAfterKey(text, end);
        if (value >= 0) {
          const name = text.slice(at + 1, end - 1);
          if (name.includes('\\')) return undefined;
          if (name === key) {
            if (found !== undefined || text.charCodeAt(value) !== 0x22) return undefined;
            found = { start: value, end: findStringEnd(text, value) };
          }
        }
      }
      at = end - 1;
    }
  }
  return found;
}

/** Index of the value when a colon follows, else -1. */
function valueAfterKey(text: string, from: number): number {
  let at = skipSpace(text, from);
  if (text.charCodeAt(at) !== 0x3a) return -1;
  at = skipSpace(text, at + 1);
  return at;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}
