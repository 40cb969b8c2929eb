import type { Conversation } from './conversation.ts';
import type { Event } from './event.ts';
import type { FormatName } from './format-name.ts';

/** One server-sent event before it is bytes; `event` is the `event:` line, absent where a format has none. */
export interface Frame {
  readonly event?: string;
  readonly data: string;
}

/** Turns one upstream's frames into events, a frame at a time. Keeps what it needs between frames. */
export interface StreamReader {
  /** Events of one frame. Never throws: what can't be read becomes an `error` event or nothing. */
  read(frame: Frame): readonly Event[];
  /** The connection ended. Yields the missing `finish` (`closed` unless the format said otherwise). */
  end(): readonly Event[];
}

/** Turns events into one client's frames. */
export interface StreamWriter {
  write(event: Event): readonly Frame[];
}

export interface AnswerContext {
  /** Mint or carry this id. */
  readonly id: string;
  /** The model as the client asked for it. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** The request answered: Responses and Messages echo parts of it. */
  readonly request: Conversation;
}

/** A wire format: pairs of pure functions. A whole answer is a folded stream. */
export interface Format {
  readonly name: FormatName;
  /** Path under the base URL, `/chat/completions`. */
  readonly path: string;
  /** @throws SvcError 400 that names the field. */
  readRequest(body: Readonly<Record<string, unknown>>): Conversation;
  writeRequest(conversation: Conversation): Record<string, unknown>;
  streamReader(): StreamReader;
  streamWriter(context: AnswerContext): StreamWriter;
  /** A whole answer as events, in the order that its stream would have had. */
  readAnswer(body: Readonly<Record<string, unknown>>): readonly Event[];
  /** Folds events into a whole answer. @throws SvcError of an `error` event. */
  writeAnswer(context: AnswerContext, events: readonly Event[]): Record<string, unknown>;
}
