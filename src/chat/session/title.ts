import type { Attachment } from '../attachment.ts';

const TITLE_LENGTH = 60;

/** Derives the title of a conversation from its first message. */
export function titleFrom(text: string, attachments: readonly Attachment[] = []): string {
  const line = text.trim().split('\n', 1)[0]?.trim() || attachments[0]?.label || 'New conversation';
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1).trimEnd()}…`;
}
