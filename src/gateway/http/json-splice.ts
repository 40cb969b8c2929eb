import { isObject, type JsonObject } from '../../base/json.ts';
import { mustBeRewritten } from '../dispatch/model-fields.ts';
import { textEnd } from './json-limits.ts';
import type { JsonBody } from './request-body.ts';

/**
 * Replaces the top-level `model` of a JSON body and adds members to it, without serialising the rest
 * again: bytes that the client wrote reach the upstream as they are. The body was parsed before, so it
 * is known to be an object.
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
  // One byte a character: the places in the text are those in the bytes, which are copied as they are.
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
 * Where the value of a top-level string member stands in a JSON text; undefined when it stands there
 * twice or with an escaped key (the parser's last one wins, so the caller writes the body anew).
 */
function memberValue(text: string, key: string): { start: number; end: number } | undefined {
  const first = text.indexOf(`"${key}"`);
  const once = first >= 0 && text.indexOf(`"${key}"`, first + 1) < 0 && !text.includes('\\u');
  let found: { start: number; end: number } | undefined;
  let depth = 0;
  // Written once and nowhere escaped: nothing after its value can change what it means.
  for (let at = 0; at < text.length && !(once && found); at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x22) {
      const end = textEnd(text, at);
      if (depth === 1) {
        const value = valueAfterKey(text, end);
        if (value >= 0) {
          const name = text.slice(at + 1, end - 1);
          if (name.includes('\\')) return undefined;
          if (name === key) {
            if (found !== undefined || text.charCodeAt(value) !== 0x22) return undefined;
            found = { start: value, end: textEnd(text, value) };
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
