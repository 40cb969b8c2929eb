/**
 * True if the link text is an address with another host, or if the host is in Punycode (look-alike letters). Does not
 * need the editor, so that it is tested without it.
 */
export function isMisleadingLink(href: string, shown: string): boolean {
  const { host } = new URL(href);
  if (host.startsWith('xn--') || host.includes('.xn--')) return true;
  const named = /^(?:https?:\/\/)?([\w-]+(?:\.[\w-]+)+)(?:[/:?#].*)?$/i.exec(shown.trim())?.[1];
  if (named === undefined || host === '') return false;
  return named.toLowerCase().replace(/^www\./, '') !== new URL(href).hostname.replace(/^www\./, '');
}
