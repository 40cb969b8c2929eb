import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { programPath } from '../../host/debian.ts';

export const PASSWORD = 'pw-canary/%';

export interface PostgresServer {
  /** Address of a new, empty database. */
  database(): Promise<string>;
  /** SIGSTOP or SIGCONT for the server and its processes. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it as if the machine had failed. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Debian's Postgres with an empty cluster in a temporary folder. It refuses to run as root. */
export async function startPostgres(): Promise<PostgresServer> {
  const postgres = programPath({
    name: 'Postgres',
    paths: [15, 16, 17].map((version) => `/usr/lib/postgresql/${version}/bin/postgres`),
    debianPackage: 'postgresql',
    variable: 'SVC_TEST_POSTGRES',
  });
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-postgres-'));
  const asUser = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];
  const [first = '', ...rest] = [...asUser, path.join(path.dirname(postgres), 'initdb')];
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  chmodSync(folder, 0o700);
  if (asUser.length > 0) execFileSync('chown', ['-R', 'postgres', folder]);
  const data = path.join(folder, 'data');
  const options = ['-D', data, '-U', 'svc', '-A', 'scram-sha-256', '--no-sync', '--pwfile', passwordFile];
  execFileSync(first, [...rest, ...options], { cwd: folder });
  const port = await freePort();
  const url = (database: string) => `postgres://svc:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
  const settings = ['fsync=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`];
  const [program = '', ...args] = [...asUser, postgres, '-D', data, '-p', String(port)];
  const run = () =>
    // A group of its own, so that all its processes can be stopped.
    spawn(program, [...args, ...settings.flatMap((each) => ['-c', each])], { detached: true, stdio: 'ignore' });
  let child = run();
  const signal = (name: NodeJS.Signals) => {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    signal('SIGCONT');
    signal('SIGKILL');
    await ended;
  };
  const start = async () => {
    if (child.exitCode !== null || child.signalCode !== null) child = run();
    await untilUp(url('postgres'));
  };
  await start();
  let databases = 0;
  return {
    signal,
    kill,
    start,
    database: async () => {
      databases += 1;
      await query(url('postgres'), `CREATE DATABASE state_${databases}`);
      return url(`state_${databases}`);
    },
    close: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a statement on a connection of its own. */
export async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function untilUp(url: string): Promise<void> {
  const until = performance.now() + 20_000;
  for (;;) {
    try {
      await query(url, 'SELECT 1');
      return;
    } catch (thrown) {
      if (performance.now() > until) throw thrown;
      await sleep(50);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
