import { objectOrEmpty, parseJson } from '../../base/json.ts';
import type { Usage } from '../../wire/event.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { readReportedUsage } from '../../wire/usage.ts';
import { textEnd } from '../http/json-limits.ts';

/** Without the quote that it starts with: JSON is full of those, and each would be looked at. */
const USAGE = Buffer.from('usage"');

/** Whether bytes hold a usage that is not null: the only frames worth parsing on the way through. */
export function mentionsUsage(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(USAGE); at >= 0; at = bytes.indexOf(USAGE, at + USAGE.length)) {
    let next = at + USAGE.length;
    if (bytes[at - 1] !== 0x22) continue;
    while (bytes[next] === 0x3a || bytes[next] === 0x20) next += 1;
    if (bytes[next] === 0x7b) return true;
  }
  return false;
}

/** Where a whole answer says its usage, as all vendors write it: looked at before the rest. */
const TAIL_BYTES = 2048;

/**
 * The end of a whole answer, which for most answers is all of it: one look into the bytes serves every question
 * about them. Each byte is one character, whatever it means; what is looked for is ASCII.
 */
export function bodyTail(body: Buffer): string {
  return body.toString('latin1', Math.max(0, body.length - TAIL_BYTES));
}

/** The usage of a whole answer, read from its bytes without parsing the rest of it. @param tail `textTail(body)`. */
export function usageOfAnswer(format: FormatName, body: Buffer, tail: string): Usage | undefined {
  const usage = usageIn(format, tail);
  if (usage !== undefined) return usage;
  if (tail.length === body.length ? !tail.includes('"usage"') : !body.includes(USAGE)) return undefined;
  // Text of the answer may itself say "usage": then the whole body is parsed.
  return readReportedUsage(format, objectOrEmpty(parseJson(body.toString('utf8'))).usage);
}

/**
 * The usage of a text that ends an answer: the value of the last member "usage" if that is a member of the answer
 * itself. Names and numbers of a usage are ASCII, whatever the rest is.
 */
function usageIn(format: FormatName, text: string): Usage | undefined {
  const at = text.lastIndexOf(MEMBER);
  if (at < 0) return undefined;
  let open = at + MEMBER.length;
  while (isBetween(text.charCodeAt(open))) open += 1;
  if (text.charCodeAt(open) !== 0x7b) return undefined;
  let depth = 0;
  for (let end = open; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === 0x7b) depth += 1;
    else if (code === 0x7d && --depth === 0) {
      // A member deeper inside (`metadata` of the request, which some upstreams return) is not the usage.
      if (depthOf(text.slice(end + 1)) !== -1) return undefined;
      return readReportedUsage(format, parseJson(text.slice(open, end + 1)));
    }
  }
  return undefined;
}

const MEMBER = '"usage"';

/** A colon or white space. */
function isBetween(code: number): boolean {
  return code === 0x3a || code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** How many more objects and lists a piece of JSON opens than it closes. */
function depthOf(json: string): number {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x22) at = textEnd(json, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return depth;
}
