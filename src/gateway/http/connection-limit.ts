import { readdirSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Files that are opened later: logs, a connection for reports, names of hosts. */
const OTHER_FILES = 8;
/** A refused client that sends nothing must not keep its place. */
const REFUSED_MS = 1_000;

export interface FileLimits {
  /** Files and sockets that the process may have open. */
  readonly limit: number;
  /** Those that are open. */
  readonly open: number;
}

/** Undefined where the system has no such file. */
export function readFileLimits(): FileLimits | undefined {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : { limit: Number(limit), open: readdirSync('/proc/self/fd').length };
  } catch {
    return undefined;
  }
}

/**
 * Keeps the connections below the number of files that the process may open. Otherwise the system would reset new
 * connections without an answer, and those to providers would fail: each client needs one of its own.
 */
export class ConnectionLimit {
  readonly #answer: string;
  readonly #most: number;
  /** Further connections get an answer to their request. Those beyond get it at once, and are closed. */
  readonly #mostRefused: number;
  readonly #refused = new WeakSet<Socket>();
  #open = 0;

  /** @param answer the whole HTTP answer to a connection that is one too many. */
  constructor(limits: FileLimits | undefined, answer: string) {
    this.#answer = answer;
    const free = limits === undefined ? Number.POSITIVE_INFINITY : limits.limit - limits.open - OTHER_FILES;
    this.#most = Math.max(1, Math.floor(free * 0.4));
    this.#mostRefused = this.#most + Math.floor(free * 0.1);
  }

  watch(server: Server): void {
    server.on('connection', (socket) => {
      this.#open += 1;
      socket.once('close', () => {
        this.#open -= 1;
      });
      if (this.#open <= this.#most) return;
      server.closeIdleConnections();
      if (this.#open > this.#mostRefused) {
        // All waiting connections are accepted before any of their requests is read, so its place is needed now.
        socket.write(this.#answer);
        socket.destroy();
        return;
      }
      this.#refused.add(socket);
      socket.setTimeout(REFUSED_MS, () => socket.destroy());
    });
  }

  /** Whether a connection is one too many: its requests must be refused. */
  isRefused(socket: Socket): boolean {
    return this.#refused.has(socket);
  }
}
