import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import * as z from 'zod';
import { proveProcess } from '../../gateway/http/process-proof.ts';

/** A gateway that keeps running after its window is closed. */
export interface DetachedGateway {
  readonly pid: number;
  readonly url: string;
}

const KEPT = 'svc.keptGateway';
const READY_MS = 15_000;
const POLL_MS = 50;

/** Milliseconds of a proof. Another program at the port may answer slowly or never. */
const PROOF_MS = 3_000;
const PROOF = z.object({ pid: z.number().int().positive(), proof: z.string() });

/** The secret by which the gateway proves itself to the windows that know its key. */
export function proofSecret(key: string): string {
  return createHmac('sha256', key).update('svc gateway proof').digest('hex');
}

/**
 * The gateway that an earlier window left running, if it still runs. Sends no key. On a busy machine it may answer too
 * late. It is still remembered then: otherwise no window could stop it any more.
 */
export async function findDetached(
  memory: vscode.Memento,
  key: () => Promise<string>,
): Promise<DetachedGateway | undefined> {
  const kept = memory.get<DetachedGateway>(KEPT);
  if (kept === undefined) return undefined;
  const listener = await identify(kept.url, await key());
  if (typeof listener === 'number') return { pid: listener, url: kept.url };
  if (listener === 'none') await memory.update(KEPT, undefined);
  return undefined;
}

/**
 * The process that listens at an address, if it is the gateway with this key. Any program of any user can listen at a
 * remembered or chosen port, so it gets a number that only the gateway can sign. @returns its id.
 */
export async function provenProcess(url: string, key: string): Promise<number | undefined> {
  const listener = await identify(url, key);
  return typeof listener === 'number' ? listener : undefined;
}

/** As `provenProcess`. @returns 'none': another program or no program listens there. 'silent': no answer in time. */
async function identify(url: string, key: string): Promise<number | 'none' | 'silent'> {
  const nonce = randomBytes(32).toString('base64url');
  const signal = AbortSignal.timeout(PROOF_MS);
  try {
    const response = await fetch(`${url}/proof?nonce=${nonce}`, { redirect: 'error', signal });
    const { pid, proof } = PROOF.parse(await response.json());
    // The port is signed too: another program could pass the number on to the gateway at its real port.
    const expected = proveProcess(proofSecret(key), { nonce, port: Number(new URL(url).port), pid });
    return proof === expected ? pid : 'none';
  } catch {
    return signal.aborted ? 'silent' : 'none';
  }
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

/** @throws Error if the gateway does not start, also if another program listens at the port. */
export async function startDetached(
  memory: vscode.Memento,
  key: string,
  launch: DetachedLaunch,
): Promise<DetachedGateway> {
  const port = launch.port === 0 ? await freePort() : launch.port;
  mkdirSync(launch.storage, { recursive: true });
  const logFile = join(launch.storage, 'gateway.log');
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(launch.file, [...launch.args, '--port', String(port)], {
    env: { ...launch.env, SVC_GATEWAY_PROOF: proofSecret(key) },
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
    if (child.pid !== undefined && (await provenProcess(url, key)) === child.pid) {
      const kept = { pid: child.pid, url };
      await memory.update(KEPT, kept);
      return kept;
    }
    await sleep(POLL_MS);
  }
  child.kill();
  throw new Error(`It did not answer within ${READY_MS / 1000} seconds.`);
}

/** Ends only a process that proves itself: the id may be that of another one by now. */
export async function stopDetached(memory: vscode.Memento, key: string, kept: DetachedGateway): Promise<void> {
  await memory.update(KEPT, undefined);
  const listener = await identify(kept.url, key);
  // It may still run, so a window can stop it later, unless another one was started in the meantime.
  if (listener === 'silent' && memory.get(KEPT) === undefined) await memory.update(KEPT, kept);
  if (typeof listener !== 'number') return;
  try {
    process.kill(listener, 'SIGTERM');
  } catch {
    // It has already ended.
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
