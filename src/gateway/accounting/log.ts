import { isObject, quoteJson } from '../../base/json.ts';
import type { Log } from '../gateway-deps.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** Fields whose values never reach the log, whoever puts them into a line. */
const REDACTED = new Set(['apiKey', 'authorization', 'x-api-key', 'api-key', 'headers', 'body', 'secret', 'token']);

export interface FileLog extends Log {
  /** Resolves when all lines are with the system. */
  close(): Promise<void>;
}

interface Line {
  readonly level: Exclude<Level, 'silent'>;
  /** Unix milliseconds. */
  readonly at: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** What writes lines, once it is loaded. */
interface Writer {
  readonly write: (lines: readonly Line[]) => void;
  /** Resolves when all that was written is with the system. */
  readonly flush: () => Promise<void>;
}

/**
 * JSON lines on a file descriptor. The library is loaded behind the first lines, so that it does not
 * stand between the start of the gateway and its first answer.
 */
export function openLog(descriptor: number, level: Level): FileLog {
  const queue = new LineQueue();
  const loaded = load(descriptor, level).then((writer) => {
    queue.writeWith(writer.write);
    return writer;
  });
  const wanted = LEVELS.indexOf(level);
  const at = (own: Line['level']) => {
    if (LEVELS.indexOf(own) < wanted) return () => undefined;
    return (fields: Line['fields'], message: string) => queue.add({ level: own, at: Date.now(), fields, message });
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    close: async () => {
      const { flush } = await loaded;
      queue.flush();
      await flush();
    },
  };
}

/** Lines of a busy moment are made and go out together; the timer sees to those of a quiet one. */
const BATCH_LINES = 40;
const BATCH_MS = 500;

/** Lines that are not made yet: the answer that a line is about, and the next one, need not wait for it. */
class LineQueue {
  #write: Writer['write'] | undefined;
  #lines: Line[] = [];
  #timer: NodeJS.Timeout | undefined;

  writeWith(write: Writer['write']): void {
    this.#write = write;
    this.flush();
  }

  add(line: Line): void {
    this.#lines.push(line);
    if (this.#lines.length >= BATCH_LINES) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), BATCH_MS).unref();
  }

  flush(): void {
    if (this.#write === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines;
    this.#lines = [];
    if (lines.length > 0) this.#write(lines);
  }
}

/** Bytes that wait for a reader who is slow or gone; further lines are lost then. */
const MOST_UNREAD = 16 * 1024 * 1024;
/** The most that is waited for the last lines to be read, milliseconds. */
const LAST_LINES_MS = 2_000;

async function load(descriptor: number, level: Level): Promise<Writer> {
  // Bundled, a CommonJS library has only its default export.
  const { default: pino } = await import('pino');
  // Whoever reads the log may have stopped: at the end, a full pipe is not tried for ever.
  let patient = true;
  const destination = pino.destination({
    fd: descriptor,
    sync: false,
    // Without a least length, `flush` would not wait for what is being written.
    minLength: 1,
    maxLength: MOST_UNREAD,
    retryEAGAIN: () => patient,
  });
  destination.on('error', () => undefined);
  const isoTime = isoTimes();
  let text = '';
  let time = '';
  const logger = pino(
    { level, base: { pid: process.pid }, timestamp: () => time },
    { write: (line) => (text += line) },
  );
  const write = (lines: readonly Line[]) => {
    text = '';
    for (const { level: own, at, fields, message } of lines) {
      time = isoTime(at);
      const members = flatMembers(fields);
      if (members === undefined) logger[own](redacted(fields), message);
      else {
        const end = `"msg":${quoteJson(message)}}\n`;
        text += `{"level":${pino.levels.values[own]}${time},"pid":${process.pid},${members}${end}`;
      }
    }
    destination.write(text);
  };
  const flush = () =>
    new Promise<void>((resolve) => {
      const giveUp = setTimeout(() => {
        patient = false;
      }, LAST_LINES_MS);
      destination.flush(() => {
        clearTimeout(giveUp);
        // What is left would be tried once more, and waited for, when the process ends.
        if (!patient) destination.destroy();
        resolve();
      });
    });
  return { write, flush };
}

/**
 * The members of a line whose values are plain, as the library writes them but without its steps, which together
 * cost more than the line; undefined when there is one that only the library or `redacted` can write.
 */
function flatMembers(fields: Readonly<Record<string, unknown>>): string | undefined {
  let members = '';
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    if (REDACTED.has(name)) return undefined;
    if (typeof value === 'string') members += `"${name}":${quoteJson(value)},`;
    else if (typeof value === 'number' && Number.isFinite(value)) members += `"${name}":${value},`;
    else return undefined;
  }
  return members;
}

/** Makes the field `time` of a line; the date's part is made once a second. */
function isoTimes(): (now: number) => string {
  let second = -1;
  let start = '';
  return (now) => {
    const own = Math.floor(now / 1000);
    if (own !== second) {
      second = own;
      start = `,"time":"${new Date(own * 1000).toISOString().slice(0, -4)}`;
    }
    const milliseconds = now - own * 1000;
    return `${start}${milliseconds < 10 ? '00' : milliseconds < 100 ? '0' : ''}${milliseconds}Z"`;
  };
}

/** By name, at any depth; the library's own way costs more than the line. */
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
