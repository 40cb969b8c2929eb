import type { Format } from '../format.ts';
import { readResponsesRequest } from './read-request.ts';
import { ResponsesStreamReader, readResponsesAnswer } from './reader.ts';
import { writeResponsesRequest } from './write-request.ts';
import { ResponsesStreamWriter, writeResponsesAnswer } from './writer.ts';

/** OpenAI's Responses, without the features that require its storage or its built-in tools. */
export const responses: Format = {
  name: 'responses',
  path: '/responses',
  readRequest: readResponsesRequest,
  writeRequest: writeResponsesRequest,
  streamReader: () => new ResponsesStreamReader(),
  streamWriter: (context) => new ResponsesStreamWriter(context),
  readAnswer: readResponsesAnswer,
  writeAnswer: writeResponsesAnswer,
};
