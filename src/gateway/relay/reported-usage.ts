import { objectOrEmpty, parseJson } from '../../base/json.ts';
import { mayHaveExtras } from '../../wire/billed-extras.ts';
import type { Usage } from '../../wire/event.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { readReportedUsage } from '../../wire/usage.ts';
import { findStringEnd } from '../http/json-limits.ts';

/** The first quote is omitted: quotes are frequent in JSON, and the search would stop at each of them. */
const USAGE = Buffer.from('usage"');

/**
 * Whether bytes may contain a usage that is not null. Only such frames are parsed. The text of an answer never matches,
 * because JSON escapes quotes in strings.
 */
export function mentionsUsage(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(USAGE); at >= 0; at = bytes.indexOf(USAGE, at + USAGE.length)) {
    let next = at + USAGE.length;
    if (bytes[at - 1] !== 0x22) continue;
    while (bytes[next] === 0x3a || bytes[next] === 0x20) next += 1;
    if (bytes[next] !== 0x6e) return true;
  }
  return false;
}

/** All vendors write the usage at the end of a whole answer, so the end is searched first. */
const TAIL_BYTES = 2048;

/**
 * The end of a whole answer as a string, decoded once for several checks. Most answers are shorter than this end.
 * Latin-1 maps each byte to one character, and all searched names are ASCII.
 */
export function bodyTail(body: Buffer): string {
  return body.toString('latin1', Math.max(0, body.length - TAIL_BYTES));
}

/** The usage of a whole answer, found without parsing the rest of the answer. @param tail `bodyTail(body)`. */
export function usageOfAnswer(format: FormatName, body: Buffer, tail: string): Usage | undefined {
  const usage = usageIn(format, tail);
  if (usage !== undefined && (format === 'messages' || !mayHaveExtras(body))) return usage;
  if (usage === undefined && (tail.length === body.length ? !tail.includes('"usage"') : !body.includes(USAGE)))
    return undefined;
  // The text of the answer may contain "usage" too. Then the whole body is parsed.
  const answer = objectOrEmpty(parseJson(body.toString('utf8')));
  return readReportedUsage(format, answer.usage, answer);
}

/**
 * The usage in the end of an answer: the value of the last member "usage", if it is a member of the answer itself.
 * Names and numbers of a usage are ASCII, so Latin-1 decodes them correctly.
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
      // A nested member (`metadata` of the request, which some upstreams return) is not the usage.
      if (findDepth(text.slice(end + 1)) !== -1) return undefined;
      return readReportedUsage(format, parseJson(text.slice(open, end + 1)));
    }
  }
  return undefined;
}

const MEMBER = '"usage"';

/** Whether a character is a colon or white space. */
function isBetween(code: number): boolean {
  return code === 0x3a || code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Number of objects and lists that a piece of JSON opens, minus the number that it closes. */
export function findDepth(json: string): number {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === 0x22) at = findStringEnd(json, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return depth;
}
