import { defined } from '../base/json.ts';
import { formatMessage, type SvcError } from '../wire/errors/svc-error.ts';

type Headers = Readonly<Record<string, string>>;

/** Headers whose values are no secret of anybody. */
const PLAIN = new Set(['accept', 'anthropic-beta', 'anthropic-version', 'content-type', 'openai-beta', 'user-agent']);
/** Shorter ones could be any word of a message. */
const SHORTEST = 6;
export const INSTEAD = '[redacted]';

/** What an upstream was sent to know us by. Some repeat it in their errors, which people and logs get to see. */
function sentCredentials(headers: Headers): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    PLAIN.has(name.toLowerCase()) ? [] : [value.replace(/^(Bearer|Basic)\s+/i, '')],
  );
  return values.filter((value) => value.length >= SHORTEST);
}

/** Headers that hold a credential by their name. */
const SECRET_NAME = /auth|key|token|secret|password|cookie/i;
/** Local servers are given words for a key ("ollama", "not-needed"), which an answer may hold for other reasons. */
const SHORTEST_IN_ANSWERS = 12;

/** A value of a header whose name does not say what it is: long, of letters and digits, and no address. */
function looksSecret(value: string): boolean {
  return /^\S{20,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value) && !/^https?:/i.test(value);
}

/** As `sentCredentials`, but only what no answer has by chance: a text of a model is not changed for a word in it. */
export function sentSecrets(headers: Headers): readonly string[] {
  const likely = Object.entries(headers).filter(([name, value]) => SECRET_NAME.test(name) || looksSecret(value));
  return sentCredentials(Object.fromEntries(likely)).filter((value) => value.length >= SHORTEST_IN_ANSWERS);
}

/** The text without the credentials that its request carried. */
export function withoutCredentials(text: string, headers: Headers): string {
  let clean = text;
  for (const credential of sentCredentials(headers)) clean = clean.replaceAll(credential, INSTEAD);
  return clean;
}

/** Of `"error"`: what comes before is found all over JSON, and each place would be looked at. */
const ERROR_MARK = Buffer.from('rror"');

/** As `withoutCredentials`, for bytes that hold an error; the same bytes where there is nothing to hide. */
export function errorsWithoutCredentials(bytes: Buffer, headers: Headers): Buffer {
  if (!bytes.includes(ERROR_MARK)) return bytes;
  const found = sentCredentials(headers).some((credential) => bytes.includes(credential));
  return found ? Buffer.from(withoutCredentials(bytes.toString('utf8'), headers)) : bytes;
}

/** The error with its vendor's words cleaned. */
export function cleanError(error: SvcError, headers: Headers): SvcError {
  const clean = (text: string | undefined) => (text === undefined ? undefined : withoutCredentials(text, headers));
  const { template, values } = error.text;
  const message = { template, values: values.map((value) => withoutCredentials(value, headers)) };
  const code = clean(error.code);
  const param = clean(error.param);
  const same = formatMessage(message) === error.message && code === error.code && param === error.param;
  return same ? error : error.with({ ...defined({ message, code, param }), cause: undefined });
}
