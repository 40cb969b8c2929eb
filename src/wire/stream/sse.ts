import { createParser, type EventSourceParser } from 'eventsource-parser';
import { msg, SvcError } from '../errors/svc-error.ts';
import type { Frame } from '../format.ts';

/** Maximum size of a buffered event in characters. Much larger than any real frame. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

/**
 * Converts the bytes of a `text/event-stream` to frames (WHATWG HTML, 9.2.6) with `eventsource-parser`. `end()` returns
 * an event without its final blank line: some upstreams never send that line.
 */
export class SseDecoder {
  readonly #decoder = new TextDecoder();
  readonly #parser: EventSourceParser;
  #frames: Frame[] = [];
  /** Whether the text so far ends with CR. A following LF is part of that line end. */
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

  /** @throws SvcError upstream_invalid_response if an event is too large. */
  push(bytes: Uint8Array): readonly Frame[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Returns the last event if only its final blank line is missing. */
  end(): readonly Frame[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(text: string): readonly Frame[] {
    this.#frames = [];
    if (text !== '') this.#parser.feed(this.#withLineFeeds(text));
    return this.#frames;
  }

  /**
   * Converts all line ends to LF. The parser searches for CR and LF from the start of each line, which is quadratic if
   * one of them is rare.
   */
  #withLineFeeds(text: string): string {
    const rest = this.#endsWithCr && text.startsWith('\n') ? text.slice(1) : text;
    this.#endsWithCr = text.endsWith('\r');
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest;
  }
}

/** @throws SvcError if an event is too large to buffer. @param length characters so far. */
export function refuseEndless(length: number): void {
  if (length > MAX_EVENT_CHARACTERS) throw tooLarge();
}

function tooLarge(): SvcError {
  return new SvcError({
    errorType: 'upstream_invalid_response',
    message: msg('The provider sent a single event larger than 64 MB.'),
  });
}

/** The text of a frame on the wire, with its blank line. */
export function frameText(frame: Frame): string {
  const data = frame.data.includes('\n') ? frame.data.replaceAll('\n', '\ndata: ') : frame.data;
  return frame.event === undefined ? `data: ${data}\n\n` : `event: ${frame.event}\ndata: ${data}\n\n`;
}

/**
 * Like `frameText`, for data that is a single line, such as JSON from a writer. The data is not searched for line ends.
 */
export class LineFrames {
  /** The event name of the last frame. Most frames of a stream have the same name, so the head is cached. */
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
