import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { endWithTests } from '../../end-with-tests.ts';
import { freePort } from '../../host/free-port.ts';
import { POSTGRES, programPath } from '../../host/programs.ts';

export const PASSWORD = 'pw-canary/%';

export interface PostgresServer {
  readonly port: number;
  /** Address of a new, empty database. */
  database(): Promise<string>;
  /** SIGSTOP or SIGCONT for the server and its processes. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it as if the machine had failed. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /**
   * Copies the data as they are now to a standby, which receives nothing after that. @returns a function that starts
   * it as the new primary.
   */
  standby(): () => Promise<PostgresServer>;
  close(): Promise<void>;
}

/** Path of the server; installs Debian's package when root and absent. */
export function postgresPath(): string {
  return programPath(POSTGRES);
}

/** Debian's Postgres with an empty cluster in a temporary folder. */
export async function startPostgres(): Promise<PostgresServer> {
  // The package creates the user.
  postgresPath();
  const folder = newFolder();
  const passwordFile = path.join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  const options = ['-U', 'svc', '-A', 'scram-sha-256', '--no-sync', '--pwfile', passwordFile];
  run(folder, 'initdb', ['-D', path.join(folder, 'data'), ...options]);
  return startIn(folder);
}

/** It refuses to run as root. */
const AS_USER = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : [];

/** A folder of the user of Postgres. */
function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-postgres-'));
  chmodSync(folder, 0o700);
  if (AS_USER.length > 0) execFileSync('chown', ['-R', 'postgres', folder]);
  return folder;
}

function run(folder: string, name: string, options: readonly string[]): void {
  const [program = '', ...args] = [...AS_USER, path.join(path.dirname(postgresPath()), name), ...options];
  execFileSync(program, args, { cwd: folder });
}

/** Starts the cluster of a folder. */
async function startIn(folder: string, more: readonly string[] = []): Promise<PostgresServer> {
  const data = path.join(folder, 'data');
  const port = await freePort();
  const url = (database: string) => `postgres://svc:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
  const settings = ['fsync=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`, ...more];
  const [program = '', ...args] = [...AS_USER, postgresPath(), '-D', data, '-p', String(port)];
  const begin = () => spawn(program, [...args, ...settings.flatMap((each) => ['-c', each])], { stdio: 'ignore' });
  let child = begin();
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  const signal = (name: NodeJS.Signals) => {
    for (const pid of serverProcesses(data)) killIfAlive(pid, name);
    // `runuser` stops itself when the server is stopped, and continues the server when it is continued.
    if (name !== 'SIGSTOP') child.kill('SIGCONT');
  };
  const closed = endWithTests(() => signal('SIGKILL'));
  const kill = async () => {
    if (ended()) return;
    const exit = once(child, 'exit');
    signal('SIGKILL');
    await exit;
  };
  const start = async () => {
    const until = performance.now() + 60_000;
    for (;;) {
      if (ended()) child = begin();
      try {
        await query(url('postgres'), 'SELECT 1');
        return;
      } catch (thrown) {
        if (performance.now() > until) throw thrown;
        await sleep(50);
      }
    }
  };
  await start();
  let databases = 0;
  return {
    port,
    signal,
    kill,
    start,
    standby: () => {
      const copy = newFolder();
      const options = ['-D', path.join(copy, 'data'), '-d', url('postgres'), '--write-recovery-conf', '--no-sync'];
      run(copy, 'pg_basebackup', [...options, '--checkpoint=fast']);
      return async () => {
        const taken = await startIn(copy, ['primary_conninfo=']);
        await query(url('postgres').replace(`:${port}/`, `:${taken.port}/`), 'SELECT pg_promote()');
        return taken;
      };
    },
    database: async () => {
      databases += 1;
      const name = `state_${databases}`;
      await query(url('postgres'), `CREATE DATABASE ${name}`);
      return url(name);
    },
    close: async () => {
      await kill();
      closed();
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

/** The server and its children, which are groups of their own. */
function serverProcesses(data: string): number[] {
  try {
    const main = Number(readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim().split(' ');
    return [main, ...children.map(Number).filter((pid) => pid > 0)];
  } catch {
    return [];
  }
}

function killIfAlive(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended in the meantime.
  }
}
