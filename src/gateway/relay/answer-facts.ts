import { isObject, type JsonObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';
import type { Event } from '../../wire/event.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { FORMATS } from '../../wire/formats.ts';

/** The model that an answer, or one of its events, names. */
export function readModelName(data: JsonObject): string | undefined {
  return (
    nonEmptyString(data.model) ??
    nonEmptyString(objectOrEmpty(data.message).model) ??
    nonEmptyString(objectOrEmpty(data.response).model)
  );
}

const MODEL = Buffer.from('model"');
/** Maximum length of a model name. */
const MAX_NAME = 200;

/** The model that a whole answer names. The answer is parsed only if it contains `model"` more than once. */
export function readAnswerModel(body: Buffer): string | undefined {
  const first = body.indexOf(MODEL);
  if (first < 0) return undefined;
  if (body.indexOf(MODEL, first + MODEL.length) < 0) {
    const text = body.toString('utf8', first - 1, first + MODEL.length + MAX_NAME);
    const name = /^"model"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
    if (name !== undefined) return name;
  }
  return readModelName(objectOrEmpty(parseJson(body.toString('utf8'))));
}

/** Number of characters in an event that vendors count as output. */
export function countCharacters(event: Event): number {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return event.text.length;
    case 'tool-call':
      return event.name.length;
    case 'tool-arguments':
      return event.json.length;
    default:
      return 0;
  }
}

/** As `countCharacters`, for a whole answer. */
export function countAnswerCharacters(format: FormatName, body: Buffer): number {
  const value = parseJson(body.toString('utf8'));
  if (!isObject(value)) return body.length;
  return FORMATS[format].readAnswer(value).reduce((sum, event) => sum + countCharacters(event), 0);
}
