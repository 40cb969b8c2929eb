import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../base/json.ts';
import type { StoredProviderKey } from '../catalog/credential-scope.ts';
import { Secret } from '../config/settings/secret.ts';

/**
 * The keys that were entered in a VS Code window, for `svc` in the terminals of that window. The window listens on a
 * socket that only its user can open, and a token is valid as long as the window is open. Nothing is written to disk.
 */

/** Environment variables of the terminals: the address of the socket, and the token. */
export const WINDOW_SOCKET = 'SVC_WINDOW_SOCKET';
export const WINDOW_TOKEN = 'SVC_WINDOW_TOKEN';

export type StoredKeyMap = ReadonlyMap<string, StoredProviderKey>;

export interface WindowKeysServer {
  readonly socket: string;
  readonly token: string;
  /** The keys have changed: answers those who wait for a change. */
  changed(): void;
  dispose(): void;
}

/** @param keys returns the current keys. */
export async function serveWindowKeys(keys: () => Promise<StoredKeyMap>): Promise<WindowKeysServer> {
  const windows = process.platform === 'win32';
  // mkdtemp creates a folder that only its owner can open.
  const folder = windows ? undefined : await mkdtemp(join(tmpdir(), 'svc-'));
  const socket = folder === undefined ? `\\\\.\\pipe\\svc-${randomUUID()}` : join(folder, 'keys.sock');
  const token = randomBytes(24).toString('base64url');
  let version = 1;
  const waiting = new Set<Socket>();
  const answer = async (client: Socket) => {
    waiting.delete(client);
    const all = [...(await keys())].map(([provider, { secret, origin }]) => ({
      provider,
      key: secret.reveal(),
      origin,
    }));
    client.end(`${JSON.stringify({ version, keys: all })}\n`);
  };
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    client.on('close', () => waiting.delete(client));
    const handle = async () => {
      const question = parseQuestion(await readLine(client));
      if (question === undefined || !isEqual(question.token, token)) client.destroy();
      else if (question.known === version) waiting.add(client);
      else await answer(client);
    };
    handle().catch(() => client.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  server.unref();
  return {
    socket,
    token,
    changed: () => {
      version += 1;
      for (const client of [...waiting]) answer(client).catch(() => client.destroy());
    },
    dispose: () => {
      server.close();
      for (const client of waiting) client.destroy();
      if (folder !== undefined) removeFolder(folder);
    },
  };
}

/** At once: VS Code ends the process directly after the window is disposed of. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Nothing secret is in it, and an error would keep the other parts of the window from being disposed of.
  }
}

const QUESTION = z.object({ token: z.string(), known: z.number().optional() });

function parseQuestion(line: string): z.infer<typeof QUESTION> | undefined {
  const value = parseJson(line);
  return QUESTION.safeParse(value).data;
}

function isEqual(sent: string, expected: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The window of a terminal. */
export interface WindowAddress {
  readonly socket: string;
  readonly token: string;
}

/** Undefined outside of the terminals of VS Code. */
export function windowAddress(env: Readonly<Record<string, string | undefined>>): WindowAddress | undefined {
  const { [WINDOW_SOCKET]: socket, [WINDOW_TOKEN]: token } = env;
  return socket && token ? { socket, token } : undefined;
}

export interface WindowKeys {
  readonly version: number;
  readonly keys: StoredKeyMap;
}

const ANSWER = z.object({
  version: z.number(),
  keys: z.array(z.object({ provider: z.string(), key: z.string(), origin: z.string().optional() })),
});
/** Long, because another extension may keep the process of the window busy. A closed window fails at once. */
const ANSWER_MS = 10_000;
const MAX_LENGTH = 1024 * 1024;

/** The keys of the window. Undefined if it is closed, was reloaded or does not answer. */
export function readWindowKeys(address: WindowAddress, signal: AbortSignal): Promise<WindowKeys | undefined> {
  return ask(address, AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]));
}

/**
 * Calls `changed` with each change of the keys, until the window closes or `signal` aborts.
 *
 * @param known the last version. Undefined: the window has not answered yet, so its first answer is a change too.
 */
export async function followWindowKeys(
  address: WindowAddress,
  signal: AbortSignal,
  known: number | undefined,
  changed: (keys: StoredKeyMap) => Promise<void>,
): Promise<void> {
  let last = known;
  while (!signal.aborted) {
    const answer = await ask(address, signal, last);
    if (answer === undefined || signal.aborted) return;
    await changed(answer.keys);
    last = answer.version;
  }
}

/** @param known the last version: waits until there is another one. */
async function ask(address: WindowAddress, signal: AbortSignal, known?: number): Promise<WindowKeys | undefined> {
  const client = connect(address.socket);
  const stop = () => client.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    client.write(`${JSON.stringify({ token: address.token, known })}\n`);
    const { version, keys } = ANSWER.parse(parseJson(await readLine(client)));
    const read = keys.map(({ provider, key, origin }) => [provider, { secret: new Secret(key), origin }] as const);
    return { version, keys: new Map(read) };
  } catch {
    return undefined;
  } finally {
    signal.removeEventListener('abort', stop);
    client.destroy();
  }
}

/** The first line. Rejects if the connection ends before it, or if it is too long. */
function readLine(from: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    from.setEncoding('utf8');
    from.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n', text.length - chunk.length);
      if (end !== -1) resolve(text.slice(0, end));
      else if (text.length > MAX_LENGTH) from.destroy();
    });
    from.on('error', reject);
    from.on('close', () => reject(new Error('The connection ended.')));
  });
}
