import { MAX_MEDIA_BYTES } from '../../chat/attachment.ts';
import type { ChatHost } from './host-link.ts';

const PREVIEW_PIXELS = 96;
/** Larger images are scaled down, because models do not use more pixels. */
const MAX_PIXELS = 2048;

/** Sends a pasted or dropped image or PDF to the host. For other files, reports that they cannot be attached here. */
export async function attachFile(file: File, link: ChatHost): Promise<void> {
  const name = file.name.slice(-300) || 'image.png';
  const refuse = (why: 'too-large' | 'kind') => link.post({ type: 'attach-refused', name, why });
  if (file.type === 'application/pdf') {
    if (file.size > MAX_MEDIA_BYTES) return refuse('too-large');
    link.post({ type: 'attach-media', name, mediaType: file.type, base64: await encodeBase64(file) });
    return;
  }
  const picture = file.type.startsWith('image/') ? await createImageBitmap(file).catch(() => undefined) : undefined;
  if (!picture) return refuse('kind');
  const preview = await (await scaled(picture, PREVIEW_PIXELS)).text;
  const fits = Math.max(picture.width, picture.height) <= MAX_PIXELS && /png|jpeg|gif|webp/.test(file.type);
  const sent = fits ? file : (await scaled(picture, MAX_PIXELS)).blob;
  picture.close();
  if (sent.size > MAX_MEDIA_BYTES) return refuse('too-large');
  link.post({
    type: 'attach-media',
    name,
    mediaType: sent.type,
    base64: await encodeBase64(sent),
    preview,
  });
}

async function scaled(picture: ImageBitmap, most: number): Promise<{ blob: Blob; text: Promise<string> }> {
  const factor = Math.min(1, most / Math.max(picture.width, picture.height));
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * factor)),
    Math.max(1, Math.round(picture.height * factor)),
  );
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await canvas.convertToBlob({ type: 'image/png' });
  return { blob, text: encodeBase64(blob).then((base64) => `data:image/png;base64,${base64}`) };
}

function encodeBase64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

/**
 * URIs of dropped files and folders: VS Code's lists and the file manager provide them. A link or an image of a web
 * page has the address of the page or image as its URI. That is not a file.
 */
export function droppedUris(data: DataTransfer): string[] {
  const listed =
    ['application/vnd.code.uri-list', 'text/uri-list'].map((type) => data.getData(type)).find(Boolean) ?? '';
  return listed.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#') && !/^https?:/i.test(line));
}

/** Text or the address of a link that is dropped; empty for files. */
export function droppedText(data: DataTransfer): string {
  return data.getData('text/plain') || data.getData('text/uri-list');
}
