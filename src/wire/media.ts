import type { Media } from './conversation.ts';

/**
 * Converts a URL to media. A data URL may have parameters before `base64` (`data:text/plain;charset=utf-8;base64,…`)
 * and may be percent-encoded instead.
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
    // An invalid percent escape: use the text unchanged.
  }
  return Buffer.from(text, 'utf8').toString('base64');
}

/** Converts media to a URL; bytes become a `data:` URL. A vendor's file id has no URL and gives an empty string. */
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

/** The exact image type. Messages rejects `image/*`, so the first bytes determine it. */
export function imageTypeOfData(media: { readonly mediaType: string; readonly base64: string }): string {
  const known = SIGNATURES.find(([start]) => media.base64.startsWith(start))?.[1];
  const declared = media.mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (known !== undefined && (declared === '' || declared.endsWith('/*') || !declared.startsWith('image/')))
    return known;
  return declared === 'image/jpg' ? 'image/jpeg' : declared;
}
