import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';

/** A gateway that keeps running after its window is closed. */
export interface DetachedGateway {
  readonly pid: number;
  readonly url: string;
}

const KEPT = 'svc.keptGateway';
const READY_MS = 15_000;
const POLL_MS = 50;

/** The gateway that an earlier window left running, if it still runs and accepts the key. */
export async function findDetached(
  memory: vscode.Memento,
  key: () => Promise<string>,
): Promise<DetachedGateway | undefined> {
  const kept = memory.get<DetachedGateway>(KEPT);
  if (kept === undefined) return undefined;
  if (await acceptsKey(kept.url, await key())) return kept;
  await memory.update(KEPT, undefined);
  return undefined;
}

/** Arguments for `spawn`, except for the port. */
export interface DetachedLaunch {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** 0: any free port. */
  readonly port: number;
  /** Folder for the log file, because no window can read its output later. */
  readonly storage: string;
}

/** @throws Error if the gateway does not start. */
export async function startDetached(memory: vscode.Memento, launch: DetachedLaunch): Promise<DetachedGateway> {
  const port = launch.port === 0 ? await freePort() : launch.port;
  mkdirSync(launch.storage, { recursive: true });
  const logFile = join(launch.storage, 'gateway.log');
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(launch.file, [...launch.args, '--port', String(port)], {
    env: launch.env,
    cwd: launch.cwd,
    stdio: ['ignore', log, log],
    detached: true,
  });
  closeSync(log);
  child.unref();
  const url = `http://127.0.0.1:${port}`;
  let ended: string | undefined;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code) => {
    ended = `It ended with code ${code}; ${logFile} has its output.`;
  });
  for (const until = Date.now() + READY_MS; Date.now() < until; ) {
    if (ended !== undefined) throw new Error(ended);
    if (child.pid !== undefined && (await answers(`${url}/healthz`))) {
      const kept = { pid: child.pid, url };
      await memory.update(KEPT, kept);
      return kept;
    }
    await sleep(POLL_MS);
  }
  child.kill();
  throw new Error(`It did not answer within ${READY_MS / 1000} seconds.`);
}

export async function stopDetached(memory: vscode.Memento, { pid }: DetachedGateway): Promise<void> {
  await memory.update(KEPT, undefined);
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has already ended.
  }
}

/** Sends an invalid request: with the right key the gateway answers 400, otherwise 401. */
async function acceptsKey(url: string, key: string): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: '{}' });
    await response.body?.cancel();
    return response.status === 400;
  } catch {
    return false;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
