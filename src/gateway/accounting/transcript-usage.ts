import { finiteNumber, isObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';
import type { Usage } from '../../wire/event.ts';
import { textTokens } from '../../wire/prompt-size.ts';

/** Tokens per second of a recording, as OpenAI's transcription models count them. */
const TOKENS_A_SECOND = 10;
/** Bytes per second if the length is not reported: compressed speech of 64 kbit/s. */
const BYTES_A_SECOND = 8_000;
/** `01:02:03,450 --> 01:02:05,000`. VTT has a dot instead of the comma and no hours in the first hour. */
const CUE = /-->[ \t]*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,]\d{1,3}/g;

/** Estimates the tokens of a transcript without usage (`text`, `srt`, `vtt`, or JSON of some models). */
export function estimateTranscript(body: Buffer | undefined, streamed: number, sentBytes: number): Usage {
  const text = body?.toString('utf8') ?? '';
  const value = parseJson(text);
  const transcript = isObject(value) ? (nonEmptyString(value.text) ?? '') : text;
  const seconds = (isObject(value) ? reportedSeconds(value) : lastCue(text)) ?? sentBytes / BYTES_A_SECOND;
  // A token needs at least one byte of the recording.
  const input = Math.min(Math.ceil(seconds * TOKENS_A_SECOND), sentBytes);
  return { input, output: textTokens(transcript.length + streamed) };
}

/** `usage.seconds` of a model that is billed by time, or `duration` of `verbose_json`. */
function reportedSeconds(value: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = finiteNumber(objectOrEmpty(value.usage).seconds) ?? finiteNumber(value.duration);
  return seconds !== undefined && seconds >= 0 ? seconds : undefined;
}

/** End of the last subtitle cue in seconds. */
function lastCue(text: string): number | undefined {
  let last: number | undefined;
  for (const [, hours = '0', minutes, seconds] of text.matchAll(CUE)) {
    last = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  }
  return last;
}
