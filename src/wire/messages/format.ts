import type { Format } from '../format.ts';
import { readMessagesRequest } from './read-request.ts';
import { MessagesStreamReader, readMessagesAnswer } from './reader.ts';
import { writeMessagesRequest } from './write-request.ts';
import { MessagesStreamWriter, writeMessagesAnswer } from './writer.ts';

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
