import { randomUUID } from 'node:crypto';

/** A random boundary that can't occur in the content. */
export function newBoundary(): string {
  return `svc-${randomUUID()}`;
}

export function textPart(boundary: string, name: string, text: string): Buffer {
  return Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"\r\n\r\n${text}\r\n`);
}

/** The headers of a file's part. The file's bytes follow, then `PART_END`. */
export function filePart(boundary: string, name: string, filename: string, type: string): Buffer {
  const disposition = `form-data; name="${quoted(name)}"; filename="${quoted(filename)}"`;
  const safe = /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream';
  return Buffer.from(`--${boundary}\r\ncontent-disposition: ${disposition}\r\ncontent-type: ${safe}\r\n\r\n`);
}

/** Closes the form after the last part. */
export function multipartEnd(boundary: string): Buffer {
  return Buffer.from(`\r\n--${boundary}--\r\n`);
}

export const PART_END = Buffer.from('\r\n');

/** Escapes the characters that would end a header (WHATWG HTML, "multipart/form-data"). */
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
