import { finiteNumber, isObject, nonEmptyString, objectOrEmpty, parseJson } from '../../base/json.ts';
import type { Usage } from '../../wire/event.ts';

/** Tokens of a second of a recording, as OpenAI's transcription models count them. */
const TOKENS_A_SECOND = 10;
/** Bytes of a second where its length is not said: compressed speech of 64 kbit/s. */
const BYTES_A_SECOND = 8_000;
const CHARACTERS_A_TOKEN = 4;
/** `01:02:03,450 --> 01:02:05,000`; VTT has a dot, and no hours in the first. */
const CUE = /-->[ \t]*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,]\d{1,3}/g;

/** A transcript without usage (`text`, `srt`, `vtt`, or JSON of a model that says none) as tokens. */
export function estimateTranscript(body: Buffer | undefined, streamed: number, sentBytes: number): Usage {
  const text = body?.toString('utf8') ?? '';
  const value = parseJson(text);
  const said = isObject(value) ? (nonEmptyString(value.text) ?? '') : text;
  const seconds = (isObject(value) ? saidSeconds(value) : lastCue(text)) ?? sentBytes / BYTES_A_SECOND;
  // No recording is longer than one byte a token allows.
  const input = Math.min(Math.ceil(seconds * TOKENS_A_SECOND), sentBytes);
  return { input, output: Math.ceil((said.length + streamed) / CHARACTERS_A_TOKEN) };
}

/** `usage.seconds` of a model that is paid by time, or `duration` of `verbose_json`. */
function saidSeconds(value: Readonly<Record<string, unknown>>): number | undefined {
  const seconds = finiteNumber(objectOrEmpty(value.usage).seconds) ?? finiteNumber(value.duration);
  return seconds !== undefined && seconds >= 0 ? seconds : undefined;
}

/** Seconds at which the last cue of subtitles ends. */
function lastCue(text: string): number | undefined {
  let last: number | undefined;
  for (const [, hours = '0', minutes, seconds] of text.matchAll(CUE)) {
    last = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  }
  return last;
}
