import type { Usage } from '../wire/event.ts';
import type { FormatName } from '../wire/format-name.ts';
import { amountOf, countOf, defined, type JsonObject, objectOf, parseJson } from '../wire/json.ts';

/** Usage as one format's body says it; undefined when it says none. */
export function readUsage(format: FormatName, usage: JsonObject): Usage | undefined {
  return format === 'chat-completions'
    ? chatUsage(usage)
    : format === 'responses'
      ? responsesUsage(usage)
      : messagesUsage(usage);
}

function chatUsage(usage: JsonObject): Usage | undefined {
  const input = countOf(usage.prompt_tokens);
  if (input === undefined) return undefined;
  const details = objectOf(usage.prompt_tokens_details);
  return counted(input, countOf(usage.completion_tokens) ?? 0, {
    cacheRead: countOf(details.cached_tokens),
    cacheWrite: countOf(details.cache_write_tokens),
    reasoning: countOf(objectOf(usage.completion_tokens_details).reasoning_tokens),
    cost: amountOf(usage.cost),
  });
}

function responsesUsage(usage: JsonObject): Usage | undefined {
  const input = countOf(usage.input_tokens);
  if (input === undefined) return undefined;
  return counted(input, countOf(usage.output_tokens) ?? 0, {
    cacheRead: countOf(objectOf(usage.input_tokens_details).cached_tokens),
    cacheWrite: undefined,
    reasoning: countOf(objectOf(usage.output_tokens_details).reasoning_tokens),
    cost: amountOf(usage.cost),
  });
}

/** Messages counts cached tokens beside the input, the others inside it. */
function messagesUsage(usage: JsonObject): Usage | undefined {
  const output = countOf(usage.output_tokens);
  const fresh = countOf(usage.input_tokens);
  if (output === undefined && fresh === undefined) return undefined;
  const cacheRead = countOf(usage.cache_read_input_tokens);
  const cacheWrite = countOf(usage.cache_creation_input_tokens);
  return counted((fresh ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0), output ?? 0, {
    cacheRead,
    cacheWrite,
    cost: amountOf(usage.cost),
  });
}

function counted(
  input: number,
  output: number,
  details: Readonly<Record<'cacheRead' | 'cacheWrite', number | undefined>> & {
    readonly reasoning?: number | undefined;
    readonly cost: number | undefined;
  },
): Usage {
  return defined({ input, output, ...details });
}

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
export function tailOf(body: Buffer): string {
  return body.toString('latin1', Math.max(0, body.length - TAIL_BYTES));
}

/** The usage of a whole answer, read from its bytes without parsing the rest of it. @param tail `tailOf(body)`. */
export function usageOfAnswer(format: FormatName, body: Buffer, tail: string): Usage | undefined {
  const usage = usageIn(format, tail);
  if (usage !== undefined) return usage;
  if (tail.length === body.length ? !tail.includes('"usage"') : !body.includes(USAGE)) return undefined;
  // Text of the answer may itself say "usage": then the whole body is parsed.
  return readUsage(format, objectOf(objectOf(parseJson(body.toString('utf8'))).usage));
}

/** The last object that stands behind "usage". Names and numbers of a usage are ASCII, whatever is around it. */
function usageIn(format: FormatName, text: string): Usage | undefined {
  const at = text.lastIndexOf('"usage"');
  const open = at < 0 ? -1 : text.indexOf('{', at);
  if (open < 0) return undefined;
  let depth = 0;
  for (let end = open; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === 0x7b) depth += 1;
    else if (code === 0x7d && --depth === 0) {
      return readUsage(format, objectOf(parseJson(text.slice(open, end + 1))));
    }
  }
  return undefined;
}
