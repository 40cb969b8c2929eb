import { createParser, type EventSourceParser } from 'eventsource-parser';
import { msg, SvcError } from '../errors/svc-error.ts';
import type { Frame } from '../format.ts';

/** Longest event that is held in memory, in characters: far above any real frame, far below harm. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

/**
 * Bytes of a `text/event-stream` to frames (WHATWG HTML, 9.2.6), read by `eventsource-parser`. An event that the end of
 * the connection cut off before its blank line is given by `end()`: some upstreams never send that last blank line.
 */
export class SseDecoder {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #frames: Frame[] = [];
  /** The text so far ends with CR: an LF that follows belongs to it. */
  #endsWithCr = false;

  constructor() {
    this.#parser = createParser({
      maxBufferSize: MAX_EVENT_CHARACTERS,
      onEvent: ({ event, data }) => {
        if (data !== '') this.#frames.push(event === undefined ? { data } : { event, data });
      },
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') throw tooLarge();
      },
    });
  }

  /** @throws SvcError upstream_invalid_response for an event that is too large. */
  push(bytes: Uint8Array): readonly Frame[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The event that lacks nothing but its last blank line. */
  end(): readonly Frame[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(text: string): readonly Frame[] {
    this.#frames = [];
    if (text !== '') this.#parser.feed(this.#withLineFeeds(text));
    return this.#frames;
  }

  /** With LF alone: the parser looks for CR and LF from each line on, which is quadratic where one of them is rare. */
  #withLineFeeds(text: string): string {
    const rest = this.#endsWithCr && text.startsWith('\n') ? text.slice(1) : text;
    this.#endsWithCr = text.endsWith('\r');
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest;
  }
}

/** @throws SvcError for an event that is too large to be held. @param length characters so far. */
export function refuseEndless(length: number): void {
  if (length > MAX_EVENT_CHARACTERS) throw tooLarge();
}

function tooLarge(): SvcError {
  return new SvcError({
    errorType: 'upstream_invalid_response',
    message: msg('The provider sent a single event larger than 64 MB.'),
  });
}

/** A frame as the text that goes on the wire, with its blank line. */
export function frameText(frame: Frame): string {
  const data = frame.data.includes('\n') ? frame.data.replaceAll('\n', '\ndata: ') : frame.data;
  return frame.event === undefined ? `data: ${data}\n\n` : `event: ${frame.event}\ndata: ${data}\n\n`;
}

/** As `frameText` for data that is known to be one line, as JSON that a writer made is: it is not looked through. */
export class LineFrames {
  /** Of the event of the last frame, in one piece: most frames of a stream have the same. */
  #event: string | undefined;
  #head = 'data: ';

  text({ event, data }: Frame): string {
    if (event !== this.#event) {
      this.#event = event;
      this.#head = event === undefined ? 'data: ' : ['event: ', event, '\ndata: '].join('');
    }
    return `${this.#head}${data}\n\n`;
  }
}
