import type { Format } from '../format.ts';
import { readChatRequest } from './read-request.ts';
import { ChatStreamReader, readChatAnswer } from './reader.ts';
import { writeChatRequest } from './write-request.ts';
import { ChatStreamWriter, writeChatAnswer } from './writer.ts';

/** OpenAI's Chat Completions (spec 2.1, 2.2), including the variants of other vendors. */
export const chatCompletions: Format = {
  name: 'chat-completions',
  path: '/chat/completions',
  readRequest: readChatRequest,
  writeRequest: writeChatRequest,
  streamReader: () => new ChatStreamReader(),
  streamWriter: (context) => new ChatStreamWriter(context),
  readAnswer: readChatAnswer,
  writeAnswer: writeChatAnswer,
};
