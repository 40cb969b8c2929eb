import { GatewayError, msg } from './errors.ts';
import type { Frame } from './format.ts';

/** Longest event that is held in memory, in characters: far above any real frame, far below harm. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

const NO_FRAMES: readonly Frame[] = [];

/**
 * Bytes of a `text/event-stream` to frames (WHATWG HTML, 9.2.6): LF, CR and CRLF line ends, BOM,
 * comments, several `data:` lines. An event that the connection's end cut off before its blank line
 * is still given by `end()`, because some upstreams never send that last blank line.
 */
export class SseDecoder {
  readonly #decoder = new TextDecoder();
  /** The pieces of the line that has no end yet: joined once, however many reads it spans. */
  #line: string[] = [];
  #held = 0;
  #skipLf = false;
  #event: string | undefined;
  #data: string | undefined;

  /** @throws GatewayError upstream_invalid_response for an event of absurd size. */
  push(bytes: Uint8Array): readonly Frame[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Frames that were complete but for their last blank line. */
  end(): readonly Frame[] {
    const frames = [...this.#read(this.#decoder.decode())];
    if (this.#line.length > 0) this.#takeLine(this.#joinLine(''));
    const last = this.#dispatch();
    if (last) frames.push(last);
    return frames;
  }

  #read(text: string): readonly Frame[] {
    if (text === '') return NO_FRAMES;
    const frames: Frame[] = [];
    let start = 0;
    if (this.#skipLf && text.charCodeAt(0) === 10) start = 1;
    this.#skipLf = false;
    // Each is looked for again only when it has been passed: a text may have one of them alone.
    let cr = text.indexOf('\r', start);
    let lf = text.indexOf('\n', start);
    while (start < text.length) {
      if (lf !== -1 && lf < start) lf = text.indexOf('\n', start);
      if (cr !== -1 && cr < start) cr = text.indexOf('\r', start);
      const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
      if (end === -1) break;
      const line = this.#line.length > 0 ? this.#joinLine(text.slice(start, end)) : text.slice(start, end);
      start = end + 1;
      if (end === cr) {
        if (start === text.length) this.#skipLf = true;
        else if (text.charCodeAt(start) === 10) start++;
      }
      if (line === '') {
        const frame = this.#dispatch();
        if (frame) frames.push(frame);
      } else this.#takeLine(line);
    }
    if (start < text.length) this.#hold(start === 0 ? text : text.slice(start));
    return frames;
  }

  #hold(piece: string): void {
    this.#held += piece.length;
    refuseEndless(this.#held + (this.#data?.length ?? 0));
    this.#line.push(piece);
  }

  #joinLine(tail: string): string {
    this.#line.push(tail);
    const line = this.#line.join('');
    this.#line = [];
    this.#held = 0;
    return line;
  }

  #takeLine(line: string): void {
    if (isField(line, 'data')) {
      const value = fieldValue(line, 4);
      if (this.#data === undefined) this.#data = value;
      else {
        refuseEndless(this.#data.length + value.length);
        this.#data = `${this.#data}\n${value}`;
      }
    } else if (isField(line, 'event')) this.#event = fieldValue(line, 5);
  }

  #dispatch(): Frame | undefined {
    const data = this.#data;
    const event = this.#event;
    this.#data = undefined;
    this.#event = undefined;
    if (data === undefined || data === '') return undefined;
    return event ? { event, data } : { data };
  }
}

/** @throws GatewayError for an event that is not held any longer. @param length characters so far. */
export function refuseEndless(length: number): void {
  if (length <= MAX_EVENT_CHARACTERS) return;
  throw new GatewayError({
    errorType: 'upstream_invalid_response',
    message: msg('The provider sent a single event larger than 64 MB.'),
  });
}

function isField(line: string, name: string): boolean {
  return line.startsWith(name) && (line.length === name.length || line.charCodeAt(name.length) === 58);
}

/** What stands behind the colon at `colon`, without the one space that may follow it. */
function fieldValue(line: string, colon: number): string {
  return line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
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
