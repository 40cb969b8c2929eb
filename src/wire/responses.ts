import type { Format } from './format.ts';
import { ResponsesStreamReader, readResponsesAnswer } from './responses-reader.ts';
import { readResponsesRequest } from './responses-request.ts';
import { writeResponsesRequest } from './responses-request-writer.ts';
import { ResponsesStreamWriter, writeResponsesAnswer } from './responses-writer.ts';

/** OpenAI's Responses, without what needs its storage or its own tools. */
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
