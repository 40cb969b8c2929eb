import type { Media } from './conversation.ts';

/**
 * `data:` and other URLs as media. A data URL may carry parameters before `base64`
 * (`data:text/plain;charset=utf-8;base64,…`) and may be percent-encoded instead.
 */
export function parseMediaUrl(url: string): Media {
  if (!/^data:/i.test(url)) return { kind: 'url', url };
  const comma = url.indexOf(',');
  if (comma === -1) return { kind: 'url', url };
  const head = url.slice(5, comma);
  const payload = url.slice(comma + 1);
  const base64 = /;base64$/i.test(head);
  const mediaType = (base64 ? head.slice(0, -7) : head) || 'text/plain';
  return { kind: 'data', mediaType, base64: base64 ? payload : base64OfPercentEncoded(payload) };
}

function base64OfPercentEncoded(payload: string): string {
  let text = payload;
  try {
    text = decodeURIComponent(payload);
  } catch {
    // A stray percent sign: what came is what is meant.
  }
  return Buffer.from(text, 'utf8').toString('base64');
}

/** Media as a URL, `data:` where it is bytes. An id of a vendor has none and gives an empty string. */
export function mediaUrl(media: Media): string {
  if (media.kind === 'url') return media.url;
  return media.kind === 'data' ? `data:${media.mediaType};base64,${media.base64}` : '';
}

const SIGNATURES: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** A concrete image type: Messages refuses `image/*`, so the first bytes decide. */
export function imageTypeOfData(media: { readonly mediaType: string; readonly base64: string }): string {
  const known = SIGNATURES.find(([start]) => media.base64.startsWith(start))?.[1];
  const said = media.mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (known !== undefined && (said === '' || said.endsWith('/*') || !said.startsWith('image/'))) return known;
  return said === 'image/jpg' ? 'image/jpeg' : said;
}
