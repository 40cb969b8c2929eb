import { arrayOrEmpty, isObject, type JsonObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';
import { splitWords } from '../../base/split-words.ts';
import { isAttribution } from '../../wire/messages/read-request.ts';

/** Characters of the system prompt, and of the first message. */
const HEAD = 2_000;
/** A hostile body can be nested deeply. */
const MAX_DEPTH = 8;

/** Headers in which clients name their session: Codex, opencode, Kilo Code, Claude Code. */
const SESSION_HEADERS = [
  ...splitWords(`
    session_id x-session-id x-session-affinity x-opencode-session x-kilocode-taskid x-claude-code-session-id
  `),
];

/**
 * The text that identifies a conversation: the session that the client names (`prompt_cache_key`, the session in
 * `metadata.user_id` of Claude Code, a header), else the beginning of the system prompt and of the first message of the
 * user. It stays the same while the conversation grows, so that all its requests can go to the upstream that has its
 * beginning in the prompt cache.
 */
export function promptHead(body: JsonObject, header: (name: string) => string | undefined = () => undefined): string {
  const named = namedSession(body, header);
  if (named !== undefined) return named.slice(0, HEAD);
  const messages = arrayOrEmpty(body.messages ?? body.input);
  const first = messages.findIndex((message) => objectOrEmpty(message).role === 'user');
  const system = [withoutAttribution(body.system), body.instructions, ...messages.slice(0, Math.max(0, first))];
  const said = first < 0 ? [body.input, body.prompt, messages[0]] : [messages[first]];
  return beginning(system, HEAD) + beginning(said, HEAD);
}

/** The session that the client names: a key of the prompt cache, Claude Code's session, or a header. */
export function namedSession(body: JsonObject, header: (name: string) => string | undefined): string | undefined {
  return (
    nonEmptyString(body.prompt_cache_key) ??
    sessionOfUser(objectOrEmpty(body.metadata).user_id) ??
    SESSION_HEADERS.map(header).find((value) => value !== undefined && value !== '')
  );
}

/** Claude Code sends `user_…_account_…_session_<uuid>`, or JSON with `session_id`. */
function sessionOfUser(user: unknown): string | undefined {
  const text = nonEmptyString(user);
  if (text === undefined) return undefined;
  const [, ...after] = text.split('_session_');
  const last = after.at(-1) ?? '';
  return nonEmptyString(objectOrEmpty(parseJson(text)).session_id) ?? (/^[\w-]{8,}$/.test(last) ? last : undefined);
}

/** The line of Claude Code for Anthropic's servers differs in each request. */
function withoutAttribution(system: unknown): unknown {
  if (!Array.isArray(system)) return system;
  return system.filter((block) => !isAttribution(block));
}

/** The first characters of the texts in a value. */
function beginning(value: unknown, limit: number, depth = 0): string {
  if (typeof value === 'string') return value.slice(0, limit);
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return '';
  let text = '';
  for (const item of Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []) {
    text += beginning(item, limit - text.length, depth + 1);
    if (text.length >= limit) break;
  }
  return text;
}
