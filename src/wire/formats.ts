import { chatCompletions } from './chat-completions/format.ts';
import type { Format } from './format.ts';
import type { FormatName } from './format-name.ts';
import { messages } from './messages/format.ts';
import { responses } from './responses/format.ts';

/**
 * All formats by name. To add a format, add a folder and a row here. Not in `format.ts`, because the formats import that
 * file.
 */
export const FORMATS: Readonly<Record<FormatName, Format>> = {
  'chat-completions': chatCompletions,
  responses,
  messages,
};
