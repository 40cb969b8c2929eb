import { hashKey, type KeyCheck } from '../access/authentication.ts';

/** The format of a gateway key. */
const OWN_KEY = /svc[_-][\w-]{12,}/g;
/** A part of a path that is long enough to be a key. */
const WORD = /[^/?#&;,%\s"'<>]{16,}/g;
const REDACTED = '[redacted]';
const MAX_LOGGED = 200;
/** A path that is percent-encoded more often than this is not decoded further and not logged. */
const MAX_DECODINGS = 5;

/** Removes keys from a path before it is logged, also keys that are percent-encoded. */
export function withoutKeys(path: string, keys: KeyCheck): string {
  let plain = path;
  for (let times = 0; plain.includes('%'); times += 1) {
    const decoded = plain.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === plain) break;
    if (times === MAX_DECODINGS) return REDACTED;
    plain = decoded;
  }
  const clean = redact(plain, keys);
  return (clean === plain ? path : clean).slice(0, MAX_LOGGED);
}

/** Finds keys of the gateway by their format. Fixed keys can be any text and are found by their hash. */
function redact(path: string, keys: KeyCheck): string {
  const isKey = (text: string) => keys.find(hashKey(text)) !== undefined;
  return path
    .replace(OWN_KEY, REDACTED)
    .replace(WORD, (word) => (isKey(word) || isKey(word.slice(word.indexOf('=') + 1)) ? REDACTED : word));
}
