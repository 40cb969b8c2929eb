import { arrayOrEmpty, isObject, type JsonObject, nonEmptyString, objectOrEmpty } from '../../base/json.ts';

/** Characters of the system prompt, and of the first message. */
const HEAD = 2_000;
/** A hostile body can be nested deeply. */
const MAX_DEPTH = 8;

/**
 * The text that identifies a conversation: `prompt_cache_key` (OpenAI) if the client sends it, else the beginning of the
 * system prompt and of the first message of the user. It stays the same while the conversation grows, so that all its
 * requests can go to the upstream that has its beginning in the prompt cache.
 */
export function promptHead(body: JsonObject): string {
  const named = nonEmptyString(body.prompt_cache_key);
  if (named !== undefined) return named.slice(0, HEAD);
  const messages = arrayOrEmpty(body.messages ?? body.input);
  const first = messages.findIndex((message) => objectOrEmpty(message).role === 'user');
  const system = [body.system, body.instructions, ...messages.slice(0, Math.max(0, first))];
  const said = first < 0 ? [body.input, body.prompt, messages[0]] : [messages[first]];
  return beginning(system, HEAD) + beginning(said, HEAD);
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
