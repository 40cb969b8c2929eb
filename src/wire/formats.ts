import { chatCompletions } from './chat-completions/format.ts';
import type { Format } from './format.ts';
import type { FormatName } from './format-name.ts';
import { messages } from './messages/format.ts';
import { responses } from './responses/format.ts';

/** Every format by its name: adding one is a file and a row here. */
export const FORMATS: Readonly<Record<FormatName, Format>> = {
  'chat-completions': chatCompletions,
  responses,
  messages,
};
