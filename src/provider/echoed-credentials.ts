import { defined } from '../base/json.ts';
import { formatMessage, type SvcError } from '../wire/errors/svc-error.ts';

type Headers = Readonly<Record<string, string>>;

/** Headers whose values are not secret. */
const PLAIN = new Set(['accept', 'anthropic-beta', 'anthropic-version', 'content-type', 'openai-beta', 'user-agent']);
/** Shorter values could be ordinary words of a message. */
const SHORTEST = 6;
export const CREDENTIAL_MASK = '[redacted]';

/** The credentials of a request. Some upstreams repeat them in errors, which are displayed and logged. */
function sentCredentials(headers: Headers): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) =>
    PLAIN.has(name.toLowerCase()) ? [] : [value.replace(/^(Bearer|Basic)\s+/i, '')],
  );
  return values.filter((value) => value.length >= SHORTEST);
}

/** Names of headers that contain a credential. */
const SECRET_NAME = /auth|key|token|secret|password|cookie/i;
/** Users configure words as keys of local servers ("ollama", "not-needed"). An answer may contain such a word. */
const SHORTEST_IN_ANSWERS = 12;

/** Whether the value of a header with another name is probably secret: long, letters and digits, not a URL. */
function looksSecret(value: string): boolean {
  return /^\S{20,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value) && !/^https?:/i.test(value);
}

/** As `sentCredentials`, without values that a model's text may contain by chance. */
export function sentSecrets(headers: Headers): readonly string[] {
  const likely = Object.entries(headers).filter(([name, value]) => SECRET_NAME.test(name) || looksSecret(value));
  return sentCredentials(Object.fromEntries(likely)).filter((value) => value.length >= SHORTEST_IN_ANSWERS);
}

/** The text without the credentials that its request carried. */
export function withoutCredentials(text: string, headers: Headers): string {
  let clean = text;
  for (const credential of sentCredentials(headers)) clean = clean.replaceAll(credential, CREDENTIAL_MASK);
  return clean;
}

/** The end of `"error"`. Its beginning is frequent in JSON, and the search would stop at each occurrence. */
const ERROR_MARK = Buffer.from('rror"');

/** As `withoutCredentials`, for bytes that contain an error. Returns the same bytes if nothing is removed. */
export function errorsWithoutCredentials(bytes: Buffer, headers: Headers): Buffer {
  if (!bytes.includes(ERROR_MARK)) return bytes;
  const found = sentCredentials(headers).some((credential) => bytes.includes(credential));
  return found ? Buffer.from(withoutCredentials(bytes.toString('utf8'), headers)) : bytes;
}

/** The error without credentials in the vendor's text. */
export function cleanError(error: SvcError, headers: Headers): SvcError {
  const clean = (text: string | undefined) => (text === undefined ? undefined : withoutCredentials(text, headers));
  const { template, values } = error.text;
  const message = { template, values: values.map((value) => withoutCredentials(value, headers)) };
  const code = clean(error.code);
  const param = clean(error.param);
  const same = formatMessage(message) === error.message && code === error.code && param === error.param;
  return same ? error : error.with({ ...defined({ message, code, param }), cause: undefined });
}
