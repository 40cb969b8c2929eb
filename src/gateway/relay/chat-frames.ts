import { arrayOrEmpty, isObject, type JsonObject, parseJson } from '../../base/json.ts';
import type { Frame } from '../../wire/format.ts';
import { frameText, SseDecoder } from '../../wire/stream/sse.ts';
import { type StreamUsage, usageInChunk } from '../../wire/usage.ts';
import { readModelName } from './answer-facts.ts';
import { mentionsUsage } from './reported-usage.ts';

const DONE_MARK = Buffer.from('[DONE]');
const TOOL_CALLS = '"tool_calls"';
/** The searched part of the name: without quotes, which are frequent in JSON, and six bytes, because more are slower. */
const CALLS = Buffer.from('_calls');
const CALLS_AT = TOOL_CALLS.indexOf('_calls');
const HAS_FINISH_REASON = /"finish_reason"\s*:\s*"[^"]/;

/**
 * Forwards the chunks of a Chat Completions stream with the usage in the final chunk only, whichever chunk the upstream
 * put it in (spec 2.2, 4.2). The final chunk is the one with the finish reason. If the client set
 * `stream_options.include_usage`, it is one more chunk with `choices: []`: other clients fail on an empty list.
 */
export class ChatFrames {
  readonly #usage: StreamUsage;
  readonly #separate: boolean;
  /** The last chunk with choices since the finish reason. It waits for the usage. */
  #held: JsonObject | undefined;
  /** The last chunk with usage. Its `choices` are empty. */
  #usageChunk: JsonObject | undefined;
  #hasReason = false;
  /** Any chunk had a tool call. */
  #called = false;
  #model: string | undefined;
  #done = false;

  /** @param separate whether the usage is a chunk of its own. */
  constructor(usage: StreamUsage, separate: boolean) {
    this.#usage = usage;
    this.#separate = separate;
  }

  /** `[DONE]` has been sent. */
  get done(): boolean {
    return this.#done;
  }

  /** The model that is named in the chunk with the usage. */
  get model(): string | undefined {
    return this.#model;
  }

  /**
   * @param finished a finish reason has arrived, possibly in these frames.
   * @param opening data of the first chunk.
   */
  pass(frames: Buffer, finished: boolean, opening: string): Buffer {
    if (!this.#called) this.#called = holdsCall(frames);
    this.#hasReason ||= finished && this.#separate;
    const holds = finished && !this.#separate;
    if (!holds && !mentionsUsage(frames) && !frames.includes(DONE_MARK)) return frames;
    const out: string[] = [];
    for (const frame of new SseDecoder().push(frames)) {
      if (frame.data === '[DONE]') {
        this.#done = true;
        out.push(this.#final(opening), 'data: [DONE]\n\n');
      } else out.push(this.#frame(frame));
    }
    return Buffer.from(out.join(''));
  }

  /** The final chunk and the end of a stream without `[DONE]`. */
  end(opening: string): Buffer {
    this.#done = true;
    return Buffer.from(`${this.#final(opening)}data: [DONE]\n\n`);
  }

  /** The chunk that waits for the usage. It is sent before an error. */
  takeHeld(): string {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined ? '' : chunkText(held);
  }

  #frame(frame: Frame): string {
    const finishes = HAS_FINISH_REASON.test(frame.data);
    this.#hasReason ||= finishes;
    const holds = !this.#separate && (finishes || this.#held !== undefined);
    const chunk = holds || frame.data.includes('"usage"') ? parseJson(frame.data) : undefined;
    if (!isObject(chunk)) return frameText(frame);
    const found = usageInChunk(chunk);
    const { usage: _, ...rest } = chunk;
    if (isObject(found)) {
      const counted = this.#usage.add(found, chunk) !== undefined;
      this.#model = readModelName(chunk) ?? this.#model;
      if (counted || this.#usageChunk === undefined) this.#usageChunk = { ...rest, choices: [], usage: found };
    }
    if (arrayOrEmpty(chunk.choices).length === 0) return isObject(found) ? '' : frameText(frame);
    if (!holds) return isObject(found) ? chunkText(rest) : frameText(frame);
    const before = this.takeHeld();
    this.#held = rest;
    return before;
  }

  #final(opening: string): string {
    const usageChunk = this.#usageChunk;
    this.#usageChunk = undefined;
    const last = this.#held ?? (this.#hasReason ? undefined : this.#finishChunk(opening));
    this.#held = undefined;
    if (last === undefined) return usageChunk === undefined || !this.#separate ? '' : chunkText(usageChunk);
    if (usageChunk === undefined) return chunkText(last);
    if (this.#separate) return chunkText(last) + chunkText(usageChunk);
    return chunkText({ ...last, usage: usageChunk.usage });
  }

  /** A chunk with a finish reason (spec 2.2) for servers that send `[DONE]` without one: clients would throw. */
  #finishChunk(opening: string): JsonObject | undefined {
    const first = parseJson(opening);
    if (!isObject(first)) return undefined;
    const { usage: _, ...head } = first;
    const choice = { index: 0, delta: {}, finish_reason: this.#called ? 'tool_calls' : 'stop' };
    return { ...head, choices: [choice] };
  }
}

function chunkText(chunk: JsonObject): string {
  return frameText({ data: JSON.stringify(chunk) });
}

/** Index of the value of a member. @param at index after its name. */
export function valueAt(frames: Buffer, at: number): number {
  let index = at;
  while (frames[index] === 0x3a || frames[index] === 0x20) index += 1;
  return index;
}

/** Some servers send `"tool_calls": null` or an empty list with every chunk of text. These do not count. */
function holdsCall(frames: Buffer): boolean {
  for (let found = frames.indexOf(CALLS); found >= 0; found = frames.indexOf(CALLS, found + 1)) {
    const end = found - CALLS_AT + TOOL_CALLS.length;
    if (frames.toString('latin1', Math.max(0, found - CALLS_AT), end) !== TOOL_CALLS) continue;
    const value = valueAt(frames, end);
    if (frames[value] === 0x5b && frames[valueAt(frames, value + 1)] === 0x7b) return true;
  }
  return false;
}
