import { isObject, type JsonObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';

/** The names by which a client attributes a request, for the ledger. They grant nothing. */
export interface RequestLabels {
  /** The client's user. */
  readonly user?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** Tags in addition to `metadata`: `team=search, nightly`. A tag without a value is `true`. */
export const TAGS_HEADER = 'x-svc-tags';
const MAX_TAGS = 16;
const MAX_NAME = 64;
const MAX_VALUE = 256;
const NONE: RequestLabels = {};

/**
 * Reads the user (`user`, `safety_identifier`, `metadata.user_id`), without its session, and the tags (`metadata`, then `X-Svc-Tags`) of a
 * request. Tags beyond the limits are ignored.
 */
export function readLabels(header: string | undefined, body: JsonObject): RequestLabels {
  const { metadata, user, safety_identifier } = body;
  if (header === undefined && metadata === undefined && user === undefined && safety_identifier === undefined)
    return NONE;
  const { user_id, ...rest } = objectOrEmpty(metadata);
  const found = nonEmptyString(user) ?? nonEmptyString(safety_identifier) ?? nonEmptyString(user_id);
  const named = found === undefined ? undefined : stableUser(found);
  const tags = new Map<string, string>();
  for (const name in rest) addMember(tags, name, rest[name]);
  for (const item of (header ?? '').slice(0, MAX_TAGS * (MAX_NAME + MAX_VALUE)).split(',')) addText(tags, item);
  return {
    ...(named === undefined ? {} : { user: plain(named, MAX_VALUE) }),
    ...(tags.size === 0 ? {} : { tags: Object.fromEntries(tags) }),
  };
}

/** Members of Claude Code's JSON that are the same in each session, the best one first. */
const STABLE_MEMBERS = ['account_uuid', 'account_id', 'user_id', 'device_id'];
const SESSION = '_session_';
const ACCOUNT = '_account_';

/**
 * The part of a user that is the same in each session. Claude Code sends `user_<hash>_account_<id>_session_<id>`, or
 * JSON with `device_id`, `account_uuid` and `session_id`. @returns undefined if only a session is named.
 */
function stableUser(text: string): string | undefined {
  if (text.startsWith('{')) {
    const value = parseJson(text);
    if (!isObject(value)) return text;
    return STABLE_MEMBERS.map((name) => nonEmptyString(value[name])).find((member) => member !== undefined);
  }
  const session = text.lastIndexOf(SESSION);
  if (session < 0) return text;
  const owner = text.slice(0, session);
  const account = owner.lastIndexOf(ACCOUNT);
  return nonEmptyString(account < 0 ? owner : owner.slice(account + ACCOUNT.length) || owner.slice(0, account));
}

function addMember(tags: Map<string, string>, name: string, value: unknown): void {
  // LiteLLM's clients send a list of tags.
  if (name === 'tags' && Array.isArray(value)) {
    for (const tag of value.slice(0, MAX_TAGS)) if (typeof tag === 'string') addText(tags, tag);
  } else if (!isObject(value) && !Array.isArray(value) && value !== null) add(tags, name, String(value));
}

function addText(tags: Map<string, string>, item: string): void {
  const equals = item.indexOf('=');
  if (equals < 0) add(tags, item, 'true');
  else add(tags, item.slice(0, equals), item.slice(equals + 1));
}

function add(tags: Map<string, string>, name: string, value: string): void {
  const short = plain(name, MAX_NAME);
  if (short !== '' && (tags.size < MAX_TAGS || tags.has(short))) tags.set(short, plain(value, MAX_VALUE));
}

/** Without control characters and characters that change the direction of text, because terminals show it. */
function plain(text: string, length: number): string {
  return text
    .slice(0, length)
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '')
    .trim();
}
