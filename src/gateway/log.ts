import { isObject, quoted } from '../wire/json.ts';
import type { Log } from './parts.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** Fields whose values never reach the log, whoever puts them into a line. */
const REDACTED = new Set(['apiKey', 'authorization', 'x-api-key', 'api-key', 'headers', 'body', 'secret', 'token']);

export interface FileLog extends Log {
  /** Resolves when all lines are with the system. */
  close(): Promise<void>;
}

type Line = readonly [level: Exclude<Level, 'silent'>, fields: Readonly<Record<string, unknown>>, message: string];

/**
 * JSON lines on a file descriptor. The library is loaded behind the first lines, so that it does not
 * stand between the start of the gateway and its first answer.
 */
export function openLog(descriptor: number, level: Level): FileLog {
  let waiting: Line[] | undefined = [];
  let flush: () => Promise<void> = async () => undefined;
  let write = (...line: Line): void => {
    waiting?.push(line);
  };
  const loaded = load(descriptor, level).then((writer) => {
    for (const line of waiting ?? []) writer.write(...line);
    waiting = undefined;
    write = writer.write;
    flush = writer.flush;
  });
  const wanted = LEVELS.indexOf(level);
  const at = (own: Line[0]) => {
    if (LEVELS.indexOf(own) < wanted) return () => undefined;
    return (fields: Line[1], message: string) => write(own, fields, message);
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    close: () => loaded.then(() => flush()),
  };
}

async function load(descriptor: number, level: Level) {
  // Bundled, a CommonJS library has only its default export.
  const { default: pino } = await import('pino');
  // Without a least length, `flush` would not wait for what is being written.
  const destination = pino.destination({ fd: descriptor, sync: false, minLength: 1 });
  destination.on('error', () => undefined);
  const batch = new LineBatch((lines) => destination.write(lines));
  const time = isoTime();
  const logger = pino({ level, base: { pid: process.pid }, timestamp: time }, { write: (line) => batch.add(line) });
  const write = (own: Line[0], fields: Line[1], message: string) => {
    const members = flatMembers(fields);
    if (members === undefined) logger[own](redacted(fields), message);
    else {
      const end = `"msg":${quoted(message)}}\n`;
      batch.add(`{"level":${pino.levels.values[own]}${time()},"pid":${process.pid},${members}${end}`);
    }
  };
  const flush = () => {
    batch.flush();
    return new Promise<void>((resolve) => destination.flush(() => resolve()));
  };
  return { write, flush };
}

/** Lines of a busy moment go out together; the timer sees to those of a quiet one. */
const BATCH_CHARACTERS = 12_288;
const BATCH_MS = 500;

class LineBatch {
  readonly #out: (lines: string) => void;
  #lines = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(out: (lines: string) => void) {
    this.#out = out;
  }

  add(line: string): void {
    this.#lines += line;
    if (this.#lines.length >= BATCH_CHARACTERS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), BATCH_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#out(lines);
  }
}

/**
 * The members of a line whose values are plain, as the library writes them but without its steps, which together
 * cost more than the line; undefined when there is one that only the library or `redacted` can write.
 */
export function flatMembers(fields: Readonly<Record<string, unknown>>): string | undefined {
  let members = '';
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined) continue;
    if (REDACTED.has(name)) return undefined;
    if (typeof value === 'string') members += `"${name}":${quoted(value)},`;
    else if (typeof value === 'number' && Number.isFinite(value)) members += `"${name}":${value},`;
    else return undefined;
  }
  return members;
}

/** The field `time` of a line; the date's part is made once a second. */
function isoTime(): () => string {
  let second = -1;
  let start = '';
  return () => {
    const now = Date.now();
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
