import type { Conversation } from './conversation.ts';
import type { Event } from './event.ts';
import type { FormatName } from './format-name.ts';

/** One server-sent event before encoding. `event` is the `event:` line, absent if the format has none. */
export interface Frame {
  readonly event?: string;
  readonly data: string;
}

/** Converts the frames of one upstream to events, one frame at a time. Keeps state between frames. */
export interface StreamReader {
  /** The events of one frame. Never throws: an unreadable frame becomes an `error` event or is ignored. */
  read(frame: Frame): readonly Event[];
  /**
   * Call it when the connection ends. Returns the missing `finish` (`closed` if the format has not reported a reason).
   */
  end(): readonly Event[];
}

/** Converts events to the frames of one client. */
export interface StreamWriter {
  write(event: Event): readonly Frame[];
}

export interface AnswerContext {
  /** The id of the answer. */
  readonly id: string;
  /** The model name in the client's request. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /**
   * Messages: the probable input of the request, in tokens. An answer begins with its input, which other formats report
   * at their end, if at all.
   */
  readonly inputTokens?: number;
  /** The request of this answer. Responses and Messages repeat parts of it. */
  readonly request: Conversation;
  /** Chat Completions: the client requested the usage in a chunk of its own (`stream_options.include_usage`). */
  readonly usageChunk?: boolean;
  /** Chat Completions: a tool call is streamed in one chunk, as Mistral does. */
  readonly wholeCalls?: boolean;
  /** The upstream that answers (`issuerName`). Its opaque reasoning is marked with it. */
  readonly issuer?: string;
  /** Responses: takes each finished output item as JSON, so that a later request can refer to it. */
  readonly keepItem?: (id: string, json: string) => void;
}

/** A wire format: pairs of pure functions. A complete answer is a folded stream. */
export interface Format {
  readonly name: FormatName;
  /** Path under the base URL, `/chat/completions`. */
  readonly path: string;
  /** How a streamed answer is divided into frames. Absent: server-sent events. */
  readonly framing?: 'ndjson';
  /** @throws SvcError 400 that names the field. */
  readRequest(body: Readonly<Record<string, unknown>>): Conversation;
  writeRequest(conversation: Conversation): Record<string, unknown>;
  streamReader(): StreamReader;
  streamWriter(context: AnswerContext): StreamWriter;
  /** Converts a complete answer to events, in the order of a stream. */
  readAnswer(body: Readonly<Record<string, unknown>>): readonly Event[];
  /** Folds events into a complete answer. @throws SvcError for an `error` event. */
  writeAnswer(context: AnswerContext, events: readonly Event[]): Record<string, unknown>;
}

/** Changes the events of one answer. */
export interface EventMapper {
  map(events: readonly Event[]): readonly Event[];
}

/** The format with a change of the events that it reads. */
export function withEvents(format: Format, create: () => EventMapper): Format {
  return {
    ...format,
    streamReader: () => {
      const reader = format.streamReader();
      const mapper = create();
      return { read: (frame) => mapper.map(reader.read(frame)), end: () => mapper.map(reader.end()) };
    },
    readAnswer: (body) => create().map(format.readAnswer(body)),
  };
}
