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

/** The first characters of the base64 text by type. */
const SIGNATURES: readonly (readonly [start: RegExp, type: string])[] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD[dl]/, 'image/gif'],
  [/^UklGR.{6}XRUJQ/, 'image/webp'],
  [/^UklGR.{6}XQVZF/, 'audio/wav'],
  [/^Qk[0-3]/, 'image/bmp'],
  [/^(?:SUkqA|TU0AK)/, 'image/tiff'],
  [/^JVBERi0/, 'application/pdf'],
  [/^SUQz/, 'audio/mp3'],
];

type Bytes = Extract<Media, { readonly kind: 'data' }>;

/** The media with the type of their bytes, if it is known. Vendors refuse another one. Returns the same object if it is right. */
export function typedMedia(media: Bytes): Bytes {
  const mediaType = typeOfData(media);
  return mediaType === media.mediaType ? media : { ...media, mediaType };
}

/** The text of a file; undefined for other data. */
export function textOfData({ mediaType, base64 }: Bytes): string | undefined {
  const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  return type.startsWith('text/') || type === 'application/json'
    ? Buffer.from(base64, 'base64').toString('utf8')
    : undefined;
}

/** The type of the bytes, else the declared one. */
export function typeOfData({ mediaType, base64 }: { readonly mediaType: string; readonly base64: string }): string {
  const start = base64.slice(0, 24);
  const known = SIGNATURES.find(([signature]) => signature.test(start))?.[1];
  if (known !== undefined) return known;
  const declared = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  return declared === 'image/jpg' ? 'image/jpeg' : mediaType;
}
