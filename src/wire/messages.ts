import type { Format } from './format.ts';
import { MessagesStreamReader, readMessagesAnswer } from './messages-reader.ts';
import { readMessagesRequest } from './messages-request.ts';
import { writeMessagesRequest } from './messages-request-writer.ts';
import { MessagesStreamWriter, writeMessagesAnswer } from './messages-writer.ts';

/** Anthropic's Messages. */
export const messages: Format = {
  name: 'messages',
  path: '/messages',
  readRequest: readMessagesRequest,
  writeRequest: writeMessagesRequest,
  streamReader: () => new MessagesStreamReader(),
  streamWriter: (context) => new MessagesStreamWriter(context),
  readAnswer: readMessagesAnswer,
  writeAnswer: writeMessagesAnswer,
};
