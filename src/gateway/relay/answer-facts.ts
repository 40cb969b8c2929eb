import { isObject, type JsonObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';
import type { Event } from '../../wire/event.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { FORMATS } from '../../wire/formats.ts';
import { findDepth } from './reported-usage.ts';

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

/** Bytes from the start in which vendors name the model. */
const HEAD_BYTES = 1_000;

/**
 * The model that a whole answer names. The answer is parsed unless it contains `model"` only once, as a member of its
 * own: the input of a tool may contain a `model` too, in the model's own words.
 */
export function readAnswerModel(body: Buffer): string | undefined {
  const first = body.indexOf(MODEL);
  if (first < 0) return undefined;
  const isAlone = first < HEAD_BYTES && body.indexOf(MODEL, first + MODEL.length) < 0;
  if (isAlone && findDepth(body.toString('latin1', 0, first - 1)) === 1) {
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
