import type { FilePart, ImagePart, TextPart } from '../wire/conversation.ts';
import { countTokens, mediaTokens, TOKENS_AN_IMAGE } from '../wire/prompt-size.ts';
import { countHidden, markHidden } from './tools/visible-text.ts';

export type AttachmentKind =
  | 'selection'
  | 'file'
  | 'folder'
  | 'symbol'
  | 'problems'
  | 'terminal'
  | 'diff'
  | 'image'
  | 'pdf'
  | 'prompt'
  /** The open file and the line of the cursor, without its text. */
  | 'editor';

/** An attachment of a message. Its text or bytes stay in the extension host; the page receives the rest. */
export interface Attachment {
  readonly id: string;
  readonly kind: AttachmentKind;
  /** Text of the chip, such as `server.ts:10-20`. */
  readonly label: string;
  /** The full source, such as a path. */
  readonly detail?: string;
  /** Estimated number of tokens. */
  readonly tokens: number;
  /** Number of characters that no one sees. They are marked in the text. */
  readonly hidden?: number;
  readonly text?: string;
  readonly language?: string;
  readonly media?: { readonly mediaType: string; readonly base64: string };
  /** A small `data:` image for the chip. */
  readonly preview?: string;
}

/** Maximum size of an attached image or document in bytes. */
export const MAX_MEDIA_BYTES = 10 * 1024 * 1024;
/** Longer texts are cut, with a note at the end. */
const MAX_TEXT_CHARACTERS = 400_000;
/** An image with fewer Base64 characters is used as its own preview. */
const PREVIEW_CHARACTERS = 60_000;

export interface TextSource {
  readonly id: string;
  readonly kind: Exclude<AttachmentKind, 'image' | 'pdf'>;
  readonly label: string;
  readonly detail?: string;
  readonly text: string;
  readonly language?: string;
}

export function textAttachment(source: TextSource): Attachment {
  const cut = source.text.length > MAX_TEXT_CHARACTERS;
  const own = cut ? `${source.text.slice(0, MAX_TEXT_CHARACTERS)}\n[cut: the rest is omitted]` : source.text;
  const hidden = countHidden(own);
  const text = hidden === 0 ? own : markHidden(own);
  return { ...source, text, tokens: countTokens(text), ...(hidden === 0 ? {} : { hidden }) };
}

/** Creates an attachment from an image or a PDF; undefined for other types. */
export function mediaAttachment(id: string, label: string, mediaType: string, base64: string): Attachment | undefined {
  if (mediaType === 'application/pdf') {
    const tokens = mediaTokens(mediaType, base64);
    return { id, kind: 'pdf', label, tokens, media: { mediaType, base64 } };
  }
  if (!/^image\/(?:png|jpeg|gif|webp)$/.test(mediaType)) return undefined;
  const preview = base64.length < PREVIEW_CHARACTERS ? { preview: `data:${mediaType};base64,${base64}` } : {};
  return { id, kind: 'image', label, tokens: TOKENS_AN_IMAGE, media: { mediaType, base64 }, ...preview };
}

/** The attachment in the form sent to the model. */
export function attachmentPart(attachment: Attachment): TextPart | ImagePart | FilePart {
  const { kind, label, detail, media, text = '', language = '' } = attachment;
  if (media !== undefined) {
    const data = { kind: 'data' as const, ...media };
    return kind === 'pdf' ? { type: 'file', media: data, filename: label } : { type: 'image', media: data };
  }
  // The fence is longer than any fence in the text, so that the text cannot close it.
  const longest = (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 2);
  const fence = '`'.repeat(longest + 1);
  return {
    type: 'text',
    text: `${TITLES[kind]} ${markHidden(detail ?? label)}:\n${fence}${language}\n${markHidden(text)}\n${fence}`,
  };
}

const TITLES: Readonly<Record<AttachmentKind, string>> = {
  selection: 'Selection in',
  file: 'File',
  folder: 'Folder',
  symbol: 'Symbol',
  problems: 'Problems',
  terminal: 'Terminal output',
  diff: 'Git diff',
  image: 'Image',
  pdf: 'Document',
  prompt: 'Instructions from',
  editor: 'Open file',
};

/** The part of an attachment that is sent to the page. */
export function attachmentChip({ text: _text, media: _media, ...chip }: Attachment): Attachment {
  return chip;
}

/** The path of an attached file without its lines. */
export function attachedPath({ detail, label }: Pick<Attachment, 'detail' | 'label'>): string {
  return (detail ?? label).replace(/:\d+-\d+$/, '');
}
