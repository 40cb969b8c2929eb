import { write as writeDescriptor } from 'node:fs';
import { isObject } from '../../base/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Writes log lines. `fields` never contain a credential. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
}

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** Numbers of the levels as pino writes them, which readers of JSON logs know. */
const LEVEL_NUMBERS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** Fields whose values are never logged, at any depth. */
const REDACTED = new Set(['apiKey', 'authorization', 'x-api-key', 'api-key', 'headers', 'body', 'secret', 'token']);

export interface FileLog extends Log {
  /** Resolves when all lines are passed to the operating system. */
  close(): Promise<void>;
}

interface Line {
  readonly level: keyof typeof LEVEL_NUMBERS;
  /** Unix milliseconds. */
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** Lines are formatted and written together when so many wait, or after so many milliseconds. */
const BATCH_LINES = 128;
const BATCH_MS = 500;

/** JSON lines on a file descriptor. No request waits for a line to be formatted or written. */
export function openLog(descriptor: number, level: Level): FileLog {
  const writer = new DescriptorWriter(descriptor);
  let lines: Line[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const batch = lines;
    lines = [];
    if (batch.length > 0) writer.write(batch.map(formatLine).join(''));
  };
  const add = (line: Line) => {
    if (lines.push(line) >= BATCH_LINES) flush();
    else timer ??= setTimeout(flush, BATCH_MS).unref();
  };
  const least = LEVELS.indexOf(level);
  const at = (own: Line['level']) => {
    if (LEVELS.indexOf(own) < least) return () => undefined;
    return (fields: Line['fields'], message: string) => add({ level: own, at: Date.now(), fields, message });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    close: () => {
      flush();
      return writer.finish();
    },
  };
}

function formatLine({ level, at, fields, message }: Line): string {
  const time = new Date(at).toISOString();
  const members = JSON.stringify(isPlain(fields) ? fields : redacted(fields)).slice(1, -1);
  const head = `{"level":${LEVEL_NUMBERS[level]},"time":"${time}","pid":${process.pid}`;
  return `${head}${members === '' ? '' : `,${members}`},"msg":${JSON.stringify(message)}}\n`;
}

/** Bytes that may wait for a slow reader of the log. Further lines are lost. */
const MAX_UNREAD = 16 * 1024 * 1024;
/** Milliseconds before a full pipe is tried again. */
const RETRY_MS = 100;
/** Milliseconds that the last lines may take. */
const LAST_LINES_MS = 2_000;

/** Writes to a descriptor one chunk at a time. A slow or stopped reader blocks nothing else. */
class DescriptorWriter {
  readonly #descriptor: number;
  #waiting: Buffer[] = [];
  #unread = 0;
  #writing = false;
  /** Set when the log is closed: a full pipe is not tried any more after it. */
  #deadline = Number.POSITIVE_INFINITY;
  #finished: (() => void) | undefined;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(text: string): void {
    const bytes = Buffer.from(text);
    if (this.#unread + bytes.length > MAX_UNREAD) return;
    this.#unread += bytes.length;
    this.#waiting.push(bytes);
    this.#next();
  }

  /** Resolves when everything is written or cannot be written: a write to a full pipe may never end. */
  finish(): Promise<void> {
    this.#deadline = performance.now() + LAST_LINES_MS;
    return new Promise((resolve) => {
      this.#finished = resolve;
      setTimeout(resolve, LAST_LINES_MS + RETRY_MS).unref();
      this.#next();
    });
  }

  #next(): void {
    if (this.#writing) return;
    const bytes = this.#waiting.length > 1 ? Buffer.concat(this.#waiting) : this.#waiting[0];
    this.#waiting = [];
    if (bytes === undefined) this.#finished?.();
    else this.#send(bytes);
  }

  #send(bytes: Buffer): void {
    this.#writing = true;
    writeDescriptor(this.#descriptor, bytes, (error, written) => {
      if (error?.code === 'EAGAIN' && performance.now() < this.#deadline) {
        setTimeout(() => this.#send(bytes), RETRY_MS);
        return;
      }
      const done = error ? bytes.length : written;
      this.#unread -= done;
      if (done < bytes.length) return this.#send(bytes.subarray(done));
      this.#writing = false;
      this.#next();
    });
  }
}

/** Whether no field must be replaced, as in nearly all lines: they need no copy. */
function isPlain(fields: Readonly<Record<string, unknown>>): boolean {
  for (const name in fields) if (REDACTED.has(name) || typeof fields[name] === 'object') return false;
  return true;
}

/** A copy without the values of fields in `REDACTED`; errors become their stack. */
export function redacted(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (REDACTED.has(name)) safe[name] = '[redacted]';
    else if (value instanceof Error) safe[name] = value.stack ?? value.message;
    else safe[name] = isObject(value) ? redacted(value) : value;
  }
  return safe;
}
