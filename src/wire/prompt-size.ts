import { isObject } from '../base/json.ts';

/** Characters of text, or bytes of a request's JSON, per token, as vendors state it for English. */
const CHARACTERS_A_TOKEN = 4;
/** Code and other languages have fewer. For limits that must not be exceeded: budgets and the context window. */
const FEWEST_CHARACTERS_A_TOKEN = 3;
/**
 * Tokens of an image: a large one has at most about this number (Anthropic, "Vision": width × height / 750). Other
 * vendors count less.
 */
export const TOKENS_AN_IMAGE = 1_600;
/** Tokens of a page with its text and its picture (Anthropic, "PDF support": 1,500 to 3,000 tokens of text). */
const TOKENS_A_PAGE = 3_000;
/** Bytes of a page if the file does not show its number of pages. */
const BYTES_A_PAGE = 50_000;
/** Maximum number of pages that vendors accept (Anthropic, "PDF support"). */
const MAX_PAGES = 1_000;
/** Gemini counts 32 tokens per second (Google, "Audio understanding"), OpenAI about 10. */
const TOKENS_A_SECOND = 32;
/** Bytes per second of compressed speech, 64 kbit/s; a WAV file states its own number. */
const BYTES_A_SECOND = 8_000;
/** A video has a picture each second (Google, "Video understanding": about 300 tokens a second); one minute. */
const TOKENS_A_VIDEO = 18_000;

/** The part of a prompt that is not text. */
export interface Media {
  /** Bytes of base64 in the request. */
  readonly bytes: number;
  readonly tokens: number;
}

/** The content of a prompt: values of any of the three formats, or parts of a `Conversation`. */
interface PromptSize {
  /** Names of members are text too. */
  readonly names: boolean;
  /** Characters of text, without those of `wide`. */
  characters: number;
  /** East Asian characters and emoji. */
  wide: number;
  bytes: number;
  tokens: number;
}

/** The tokens of a text whose characters are known. East Asian characters and emoji are about one token each. */
export function countTokens(text: string): number {
  const wide = countWide(text);
  return textTokens(text.length - wide) + wide;
}

/** The tokens of an image or a document in base64. */
export function mediaTokens(type: string, base64: string): number {
  const size = emptySize(false);
  addBase64(type, base64, size);
  return size.tokens;
}

/** The tokens of a text or of the JSON around it, without a part that is not text. */
export function textTokens(length: number): number {
  return Math.ceil(length / CHARACTERS_A_TOKEN);
}

/** As `textTokens`, but rather too many. */
export function mostTextTokens(length: number): number {
  return Math.ceil(length / FEWEST_CHARACTERS_A_TOKEN);
}

/** The tokens of a prompt, rather too many. The names of members count too: a schema consists of them. */
export function mostTokens(prompt: readonly unknown[]): number {
  const size = measure(prompt, true);
  return mostTextTokens(size.characters) + size.wide + size.tokens;
}

/** The tokens of a prompt: a quarter of its characters, and its images, files and audio. At least 1. */
export function estimateTokens(prompt: readonly unknown[]): number {
  const size = measure(prompt);
  return Math.max(1, textTokens(size.characters) + size.wide + size.tokens);
}

/** The media of a request. */
export function measureMedia(body: unknown): Media | undefined {
  const size = measure(body);
  return size.tokens === 0 ? undefined : { bytes: size.bytes, tokens: size.tokens };
}

function measure(prompt: unknown, names = false): PromptSize {
  const size = emptySize(names);
  visit(prompt, size);
  return size;
}

function emptySize(names: boolean): PromptSize {
  return { names, characters: 0, wide: 0, bytes: 0, tokens: 0 };
}

/** UTF-16 has an emoji in two units, of which the first is counted. */
function countWide(text: string): number {
  let wide = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x2e7f && (unit < 0xdc00 || unit > 0xdfff)) wide += 1;
  }
  return wide;
}

/** As deep as JSON may be (json-limits.ts). */
function visit(value: unknown, size: PromptSize): void {
  if (typeof value === 'string') addText(value, size);
  else if (Array.isArray(value)) for (const item of value) visit(item, size);
  else if (isObject(value) && !addMedia(value, size)) for (const name in value) addMember(name, value[name], size);
}

function addMember(name: string, value: unknown, size: PromptSize): void {
  // With its quotes and its colon.
  if (size.names) size.characters += name.length + 3;
  visit(value, size);
}

const DATA_URL = /^data:([a-z]+)\/([\w.+-]+)[^,]{0,100};base64,/;

/** Text, or a file as a data URL, wherever it is. */
function addText(text: string, size: PromptSize): void {
  const [head, type = '', subtype = ''] = text.startsWith('data:') ? (DATA_URL.exec(text.slice(0, 200)) ?? []) : [];
  if (head === undefined) {
    const wide = countWide(text);
    size.characters += text.length - wide;
    size.wide += wide;
  } else addBase64(`${type}/${subtype}`, text.slice(head.length), size);
}

function addBase64(type: string, base64: string, size: PromptSize): void {
  size.bytes += base64.length;
  if (type.startsWith('image/')) size.tokens += TOKENS_AN_IMAGE;
  else if (type.startsWith('audio/')) size.tokens += audioTokens(base64);
  else if (type.startsWith('video/')) size.tokens += TOKENS_A_VIDEO;
  else if (type === 'application/pdf') size.tokens += countPages(base64) * TOKENS_A_PAGE;
  // A text file: three bytes in four characters.
  else size.tokens += textTokens((base64.length * 3) / 4);
}

/** Adds a content part that is not text, in the form of any of the three formats. */
function addMedia(part: Readonly<Record<string, unknown>>, size: PromptSize): boolean {
  if (isObject(part.media)) return addPart(part.type, part.media, size);
  switch (part.type) {
    case 'image':
    case 'document':
      return addSource(part.type, part.source, size);
    case 'image_url':
    case 'input_image':
    case 'computer_screenshot':
      return addAddress(part.image_url, TOKENS_AN_IMAGE, size);
    case 'video_url':
      return addAddress(part.video_url, TOKENS_A_VIDEO, size);
    case 'input_audio':
      return addAudio(isObject(part.input_audio) ? part.input_audio : part, size);
    case 'file':
    case 'input_file':
      return addFile(isObject(part.file) ? part.file : part, size);
    case 'image_generation_call':
      if (typeof part.result !== 'string') return false;
      addBase64('image/png', part.result, size);
      return true;
    default:
      return false;
  }
}

/** The media of a part of a `Conversation`. */
function addPart(type: unknown, media: Readonly<Record<string, unknown>>, size: PromptSize): boolean {
  if (media.kind === 'data' && typeof media.base64 === 'string') {
    const known = typeof media.mediaType === 'string' ? media.mediaType : '';
    addBase64(type === 'image' ? 'image/png' : type === 'audio' ? 'audio/wav' : known, media.base64, size);
    return true;
  }
  if (media.kind !== 'url' && media.kind !== 'id') return false;
  size.tokens += type === 'image' ? TOKENS_AN_IMAGE : TOKENS_A_PAGE;
  return true;
}

/** `source` of Messages: base64, an address, an uploaded file, or text, whose members are visited. */
function addSource(type: 'image' | 'document', source: unknown, size: PromptSize): boolean {
  if (!isObject(source)) return false;
  if (source.type === 'base64' && typeof source.data === 'string') {
    const media = typeof source.media_type === 'string' ? source.media_type : '';
    addBase64(type === 'image' ? 'image/png' : media || 'application/pdf', source.data, size);
    return true;
  }
  if (source.type !== 'url' && source.type !== 'file') return false;
  size.tokens += type === 'image' ? TOKENS_AN_IMAGE : TOKENS_A_PAGE;
  return true;
}

function addAddress(value: unknown, tokens: number, size: PromptSize): boolean {
  const url = isObject(value) ? value.url : value;
  if (typeof url === 'string' && url.startsWith('data:')) addText(url, size);
  else size.tokens += tokens;
  return true;
}

function addAudio({ data }: Readonly<Record<string, unknown>>, size: PromptSize): boolean {
  if (typeof data !== 'string') return false;
  size.bytes += data.length;
  size.tokens += audioTokens(data);
  return true;
}

function addFile({ file_data: data }: Readonly<Record<string, unknown>>, size: PromptSize): boolean {
  if (typeof data !== 'string') size.tokens += TOKENS_A_PAGE;
  else if (data.startsWith('data:')) addText(data, size);
  else addBase64('application/pdf', data, size);
  return true;
}

function audioTokens(base64: string): number {
  return Math.ceil((((base64.length * 3) / 4) * TOKENS_A_SECOND) / bytesASecond(base64));
}

/** The byte rate of a WAV file is at offset 28 of its header. */
function bytesASecond(base64: string): number {
  const head = decodeBytes(base64.slice(0, 44));
  const isWave = head.length >= 32 && head.startsWith('RIFF') && head.startsWith('WAVE', 8);
  let rate = 0;
  for (let at = 31; isWave && at >= 28; at--) rate = rate * 256 + head.charCodeAt(at);
  return Math.max(rate, BYTES_A_SECOND);
}

/** Objects of the type `Page`. In newer files they may be compressed; then the size decides. */
function countPages(base64: string): number {
  const file = decodeBytes(base64);
  const pages = file.match(/\/Type\s{0,4}\/Page(?![A-Za-z])/g)?.length ?? 0;
  return Math.max(1, Math.min(MAX_PAGES, pages > 0 ? pages : Math.ceil((base64.length * 3) / 4 / BYTES_A_PAGE)));
}

/** One character for each byte. Empty if the text is not base64. */
function decodeBytes(base64: string): string {
  try {
    return atob(base64);
  } catch {
    return '';
  }
}
