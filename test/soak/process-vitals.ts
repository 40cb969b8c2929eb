import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** Memory and files of a process after garbage collection. */
export interface Vitals {
  /** MB that are in use on the heap. */
  readonly heap: number;
  /** Open files and sockets; 0 if the system does not report them. */
  readonly files: number;
}

/** The id of the extension host below this process. @throws Error when there is none. */
export function extensionHost(): number {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,command='], { encoding: 'utf8', maxBuffer: 8e6 });
  const all = listed.split('\n').map((row) => row.trim().split(/\s+/));
  const parents = new Map(all.map(([pid, parent]) => [pid, parent]));
  const isOurs = (pid: string | undefined): boolean =>
    pid !== undefined && (pid === String(process.pid) || isOurs(parents.get(pid)));
  const host = all.find(([pid, , ...command]) => command.includes('--type=extensionHost') && isOurs(pid));
  if (host === undefined) throw new Error('The extension host has ended.');
  return Number(host[0]);
}

/** Collects the garbage of a Node process from outside, with its inspector, and returns the rest. */
export async function vitalsOf(pid: number): Promise<Vitals> {
  const inspector = await Inspector.open(pid);
  try {
    await inspector.ask('HeapProfiler.collectGarbage');
    const { result } = await inspector.ask('Runtime.evaluate', { expression: 'process.memoryUsage().heapUsed' });
    const heap = Number(Object(result).value) / (1024 * 1024);
    return { heap, files: process.platform === 'linux' ? readdirSync(`/proc/${pid}/fd`).length : 0 };
  } finally {
    inspector.close();
  }
}

/** As `node --inspect` has it; SIGUSR1 opens it in a process that runs (nodejs.org, "Debugger"). */
const ADDRESS = 'http://127.0.0.1:9229/json/list';

class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: Record<string, unknown>) => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data));
      this.#waiting.get(id)?.(result ?? {});
    });
  }

  static async open(pid: number): Promise<Inspector> {
    process.kill(pid, 'SIGUSR1');
    const socket = new WebSocket(await Inspector.#address());
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('The inspector does not answer.')));
    });
    return new Inspector(socket);
  }

  static async #address(): Promise<string> {
    for (let tries = 0; tries < 100; tries += 1) {
      const answer = await fetch(ADDRESS).catch(() => undefined);
      if (answer?.ok) {
        const [target] = await answer.json();
        return target.webSocketDebuggerUrl;
      }
      // The inspector gives no event when its port is open.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('The process has no inspector.');
  }

  ask(method: string, params: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const id = this.#waiting.size + 1;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  close(): void {
    this.#socket.close();
  }
}
