/** Endings of file names that are no top-level domains: `main.ts` in the text of a link is not a host. */
const FILE_ENDINGS = new Set(
  'c cfg conf cpp cs css csv env gradle h hpp html ini ipynb java js json jsonc jsx kt less lock log lua mjs cjs php proto rb scss sql svelte swift toml ts tsx txt vue xml yaml yml'.split(
    ' ',
  ),
);
/** Characters that a reader does not see, and which could split a host in two. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Full stops of other scripts, which browsers treat as dots of a host. */
const DOTS = /[\u3002\uff0e\uff61]/g;

/**
 * True if the text of a link names a host or a mail address that is not its target, or if the host of the target is in
 * Punycode (look-alike letters). Does not need the editor, so that it is tested without it.
 *
 * @param href an absolute address.
 */
export function isMisleadingLink(href: string, shown: string): boolean {
  const url = new URL(href);
  const { host } = url;
  if (host.startsWith('xn--') || host.includes('.xn--')) return true;
  const text = shown.replace(DOTS, '.').normalize('NFKC').replace(INVISIBLE, '').toLowerCase();
  const target = targetOf(url);
  return text.split(/[^\p{L}\p{N}\p{M}._@:/-]+/u).some((word) => namesAnother(word, target));
}

interface Target {
  readonly host: string;
  /** The address of a mail link. */
  readonly mail?: string;
}

function targetOf(url: URL): Target {
  if (url.protocol !== 'mailto:') return { host: withoutWww(url.hostname) };
  const mail = decode(url.pathname).toLowerCase();
  return { host: mail.slice(mail.lastIndexOf('@') + 1), mail };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param word letters, digits and `._@:/-` only. */
function namesAnother(word: string, target: Target): boolean {
  const afterScheme = word.indexOf('//');
  const authority = (afterScheme === -1 ? word : word.slice(afterScheme + 2)).split('/', 1)[0] ?? '';
  const at = authority.lastIndexOf('@');
  const host = withoutWww(trimPunctuation(withoutPort(authority.slice(at + 1))));
  if (host === '') return false;
  const explicit = afterScheme !== -1 || (at > 0 && host.includes('.'));
  if (!explicit && !isHostLike(host)) return false;
  if (host !== target.host) return true;
  return at > 0 && afterScheme === -1 && target.mail !== undefined && authority !== target.mail;
}

function withoutPort(authority: string): string {
  const colon = authority.lastIndexOf(':');
  return colon > 0 && /^\d*$/.test(authority.slice(colon + 1)) ? authority.slice(0, colon) : authority;
}

function trimPunctuation(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && '.:-'.includes(text.charAt(from))) from++;
  while (to > from && '.:-'.includes(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

/** A name with dots whose last label could be a top-level domain, or an address of numbers. */
function isHostLike(host: string): boolean {
  const labels = host.split('.');
  if (labels.length < 2 || labels.includes('')) return false;
  if (labels.length === 4 && labels.every((label) => /^\d{1,3}$/.test(label))) return true;
  const last = labels.at(-1) ?? '';
  return /^\p{L}[\p{L}\p{M}\p{N}-]+$/u.test(last) && !FILE_ENDINGS.has(last);
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, '');
}
