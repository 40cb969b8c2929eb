import { TimeLimits } from '../../provider/time-limits.ts';
import type { SvcError } from '../../wire/errors/svc-error.ts';
import type { FormatName } from '../../wire/format-name.ts';
import { FORMATS } from '../../wire/formats.ts';
import { frameText } from '../../wire/stream/sse.ts';

/** Milliseconds of silence after which a stream gets a sign of life: Claude Code warns after 20 s, proxies end after 60. */
export const HEARTBEAT_MS = 15_000;

/** Anthropic's own API sends pings ("Streaming messages"). Elsewhere it is a comment, which readers of SSE skip. */
const PING = frameText({ event: 'ping', data: '{"type":"ping"}' });
const COMMENT = ': heartbeat\n\n';

/** The stream of a client. */
interface Beating {
  readonly format: FormatName | undefined;
  /** Writes the text between two events, and the head of the stream before it if there is none. */
  beat(text: string): void;
}

/** Writes to a stream that has got nothing for a time, until it is stopped. */
export class Heartbeat {
  readonly #limits: TimeLimits;

  constructor(stream: Beating, everyMs: number) {
    this.#limits = new TimeLimits({ timeout: everyMs }, () => {
      stream.beat(stream.format === 'messages' ? PING : COMMENT);
      this.touch();
    });
  }

  /** Something was written: the time of silence begins again. */
  touch(): void {
    this.#limits.expectPiece();
  }

  stop(): void {
    this.#limits.stop();
  }
}

/** The end of a stream that had only heartbeats: the error in the client's format. */
export function lateError(error: SvcError, format: FormatName = 'chat-completions', id: string): string {
  const request = { model: '', system: [], turns: [], tools: [], sampling: {}, stream: true };
  const created = Math.floor(Date.now() / 1000);
  const writer = FORMATS[format].streamWriter({ id, model: '', created, request });
  return writer.write({ type: 'error', error }).map(frameText).join('');
}
