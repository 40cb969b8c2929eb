import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../host/code-server.ts';
import { programPath, REDIS } from '../../host/programs.ts';

export interface RedisServer {
  readonly url: string;
  /** SIGSTOP or SIGCONT. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it as if the machine had failed. */
  kill(): Promise<void>;
  /** Starts it again, without its data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Path of the server; installs Debian's package when root and absent. */
export function redisPath(): string {
  return programPath(REDIS);
}

export async function startRedis(password?: string): Promise<RedisServer> {
  const program = redisPath();
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-redis-'));
  const port = await freePort();
  const secured = password === undefined ? [] : ['--requirepass', password];
  const files = ['--save', '', '--dir', folder, '--databases', '1000'];
  const options = ['--bind', '127.0.0.1', '--port', String(port), ...files, ...secured];
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  const start = async () => {
    await kill();
    child = spawn(program, options, { argv0: 'redis-server', stdio: 'ignore' });
    const until = performance.now() + 30_000;
    while (!(await accepts(port))) {
      if (performance.now() > until) throw new Error('Redis did not start');
      await sleep(20);
    }
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (name) => child?.kill(name),
    kill,
    start,
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
