import { ChatStreamReader, readChatAnswer } from './chat-completions-reader.ts';
import { readChatRequest } from './chat-completions-request.ts';
import { writeChatRequest } from './chat-completions-request-writer.ts';
import { ChatStreamWriter, writeChatAnswer } from './chat-completions-writer.ts';
import type { Format } from './format.ts';

/** OpenAI's Chat Completions (spec 2.1, 2.2), and what its many speakers made of it. */
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
