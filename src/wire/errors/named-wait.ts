import { finiteNumber, isObject, type JsonObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';

/** Longest wait that is read from a body: a limit of a month is over after 31 days. */
const MAX_WAIT_MS = 31 * 24 * 60 * 60 * 1000;

/**
 * The wait that a vendor names in the body of an error, in whole milliseconds. Google: `google.rpc.RetryInfo` in
 * `error.details` (https://ai.google.dev/gemini-api/docs/troubleshooting, google/rpc/error_details.proto); ChatGPT:
 * `resets_in_seconds`, `resets_at`; OpenRouter: `error.metadata.headers["X-RateLimit-Reset"]`; several: `retry_after`.
 * Texts: "Please try again in 6m0s." (OpenAI, Groq), "Please retry in 34.07s." (Google), "Please retry after 26 seconds."
 * (Azure), "You will regain access on 2026-12-01 at 00:00 UTC." (Anthropic).
 *
 * @param message the vendor's text.
 * @param now Unix milliseconds.
 */
export function namedWaitMs(body: unknown, message: string | undefined, now: number): number | undefined {
  const wait = waitInFields(body, now) ?? waitInText(message ?? '') ?? dateInText(message ?? '', now);
  return wait === undefined ? undefined : Math.min(Math.ceil(wait), MAX_WAIT_MS);
}

/** Fields with a wait, and the milliseconds of one unit of their number. A text has its own unit. */
const WAIT_FIELDS: readonly (readonly [name: string, unitMs: number])[] = [
  ['retry_after_ms', 1],
  ['retryAfterMs', 1],
  ['retry_after', 1000],
  ['retryAfter', 1000],
  ['retry-after', 1000],
  ['retry_after_seconds', 1000],
  ['resets_in_seconds', 1000],
];
/** Fields with a time, in Unix seconds or milliseconds. */
const TIME_FIELDS = ['resets_at', 'reset_at', 'X-RateLimit-Reset'];
/** Unix times in seconds are below it for 3,000 years, in milliseconds above it since 1973. */
const FIRST_MILLISECONDS = 1e11;

function waitInFields(body: unknown, now: number): number | undefined {
  const outer = objectOrEmpty(body);
  const listed = Array.isArray(outer.errors) ? outer.errors[0] : undefined;
  const error = objectOrEmpty(isObject(outer.error) ? outer.error : listed);
  const metadata = objectOrEmpty(error.metadata);
  const raw = objectOrEmpty(parseJson(nonEmptyString(metadata.raw) ?? ''));
  const details = [error.details, outer.details, objectOrEmpty(raw.error).details].flatMap((value) =>
    Array.isArray(value) ? value : isObject(value) ? [value] : [],
  );
  const objects = [error, outer, metadata, objectOrEmpty(metadata.headers), raw, objectOrEmpty(raw.error)];
  for (const object of [...details.filter(isObject), ...objects]) {
    const wait = retryDelay(object) ?? waitOf(object, now);
    if (wait !== undefined) return wait;
  }
  return undefined;
}

/** `{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.074824224s"}` */
function retryDelay({ '@type': type, retryDelay: delay }: JsonObject): number | undefined {
  if (typeof type !== 'string' || !type.endsWith('google.rpc.RetryInfo')) return undefined;
  return readDuration(nonEmptyString(delay) ?? '');
}

function waitOf(object: JsonObject, now: number): number | undefined {
  for (const [name, unitMs] of WAIT_FIELDS) {
    const text = nonEmptyString(object[name]);
    const value = finiteNumber(object[name]) ?? plainNumber(text);
    if (value !== undefined && value >= 0) return value * unitMs;
    const duration = readDuration(text ?? '');
    if (duration !== undefined) return duration;
  }
  for (const name of TIME_FIELDS) {
    const text = nonEmptyString(object[name]);
    const value = finiteNumber(object[name]) ?? plainNumber(text);
    const time = value === undefined ? Date.parse(text ?? '') : value < FIRST_MILLISECONDS ? value * 1000 : value;
    if (time > now) return time - now;
  }
  return undefined;
}

function plainNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : undefined;
}

const BEFORE_WAIT = /\b(?:try again|retry|wait|resets?|available again|regain access)\b[^\d.;]{0,40}(?=\d)/gi;

function waitInText(text: string): number | undefined {
  for (const { 0: words, index } of text.matchAll(BEFORE_WAIT)) {
    const wait = readDuration(text, index + words.length);
    // A wait of 0 means nothing: the request was refused.
    if (wait !== undefined && wait > 0) return wait;
  }
  return undefined;
}

/** One part of `1h2m3.5s`, `250ms`, `5 minutes` or `1 hour and 30 minutes`. */
const DURATION_PART =
  /(\d{1,12}(?:\.\d{1,12})?)[ -]?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d|weeks?|w)(?![a-z])(?: ?, | and )?[ ]?/iy;

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The milliseconds of the duration at a position of a text. */
function readDuration(text: string, from = 0): number | undefined {
  let total: number | undefined;
  DURATION_PART.lastIndex = from;
  for (let part = DURATION_PART.exec(text); part !== null; part = DURATION_PART.exec(text)) {
    const unit = (part[2] ?? '').toLowerCase();
    const unitMs = unit === 'ms' || unit.startsWith('milli') ? 1 : (UNIT_MS[unit.slice(0, 1)] ?? 0);
    total = (total ?? 0) + Number(part[1]) * unitMs;
  }
  return total;
}

/** Only dates, and times with a zone: a time without one is of a zone that the text does not name. */
const DATE =
  /\b(?:try again|retry|resets?|available again|regain access)\b[^\d.;]{0,40}(\d{4}-\d\d-\d\d)(?:(?:T| at | )(\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})? ?(Z|UTC|GMT|[+-]\d\d:\d\d)?)?/i;

function dateInText(text: string, now: number): number | undefined {
  const [, day, time, zone] = DATE.exec(text) ?? [];
  if (day === undefined || (time !== undefined && zone === undefined)) return undefined;
  const offset = zone === undefined || /^[a-z]/i.test(zone) ? 'Z' : zone;
  const named = Date.parse(`${day}T${time ?? '00:00'}${offset}`);
  return named > now ? named - now : undefined;
}
