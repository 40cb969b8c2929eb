import { hashKey, type KeyCheck } from '../access/authentication.ts';

/** What a key of ours looks like. */
const OWN_KEY = /svc[_-][\w-]{12,}/g;
/** What separates a key from the rest of a path. */
const WORD = /[^/?#&;,%\s"'<>]{16,}/g;
const REDACTED = '[redacted]';
const MOST_LOGGED = 200;
/** An address that is encoded more often than this is not read any further, and not logged. */
const MOST_DECODED = 5;

/** A path as the log may show it: without a key that somebody wrote into it, however it is percent-encoded. */
export function withoutKeys(path: string, keys: KeyCheck): string {
  let plain = path;
  for (let times = 0; plain.includes('%'); times += 1) {
    const decoded = plain.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (decoded === plain) break;
    if (times === MOST_DECODED) return REDACTED;
    plain = decoded;
  }
  const clean = redact(plain, keys);
  return (clean === plain ? path : clean).slice(0, MOST_LOGGED);
}

/** Keys of the gateway by their look, and fixed ones, which may be any text, by their hash. */
function redact(path: string, keys: KeyCheck): string {
  const isKey = (text: string) => keys.find(hashKey(text)) !== undefined;
  return path
    .replace(OWN_KEY, REDACTED)
    .replace(WORD, (word) => (isKey(word) || isKey(word.slice(word.indexOf('=') + 1)) ? REDACTED : word));
}
