import type { HostLink } from './host-link.ts';

const PREVIEW_PIXELS = 96;
/** Pictures larger than this are made smaller: no model looks at more. */
const MOST_PIXELS = 2048;

/** Gives the host a pasted, dropped or picked image or PDF. Anything else is left to the host's own ways of attaching. */
export async function attachFile(file: File, link: HostLink): Promise<void> {
  if (file.type === 'application/pdf') {
    link.post({ type: 'attach-media', name: file.name, mediaType: file.type, base64: await base64Of(file) });
    return;
  }
  if (!file.type.startsWith('image/')) return;
  const picture = await createImageBitmap(file).catch(() => undefined);
  if (!picture) return;
  const preview = await (await scaled(picture, PREVIEW_PIXELS)).text;
  const fits = Math.max(picture.width, picture.height) <= MOST_PIXELS && /png|jpeg|gif|webp/.test(file.type);
  const sent = fits ? file : (await scaled(picture, MOST_PIXELS)).blob;
  picture.close();
  link.post({
    type: 'attach-media',
    name: file.name || 'image.png',
    mediaType: sent.type,
    base64: await base64Of(sent),
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
  return { blob, text: base64Of(blob).then((base64) => `data:image/png;base64,${base64}`) };
}

function base64Of(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

/** Files and folders dropped from the editor's own lists come as URIs. */
export function droppedUris(data: DataTransfer): string[] {
  const listed =
    ['application/vnd.code.uri-list', 'text/uri-list'].map((type) => data.getData(type)).find(Boolean) ?? '';
  return listed.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
}
