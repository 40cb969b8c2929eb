import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

export interface LocalGateway {
  readonly url: string;
  readonly key: string;
  /** Resolves when the process has ended. */
  close(): Promise<void>;
}

export interface LocalGatewayOptions {
  /** The gateway's own configuration, over what the machine has. */
  readonly config: unknown;
  readonly port?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Starts the built `svc serve` as a process of its own and waits until it listens. */
export async function startLocalGateway(options: LocalGatewayOptions): Promise<LocalGateway> {
  const key = `svc-${randomBytes(24).toString('base64url')}`;
  const args = [join(ROOT, 'dist', 'cli.js'), 'serve', '--exit-with-stdin', '--port', String(options.port ?? 0)];
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.env, SVC_GATEWAY_KEY: key, SVC_CONFIG_CONTENT: JSON.stringify(options.config) },
  });
  const url = await listening(child);
  return { url, key, close: () => end(child) };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const read = (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const url = /listening on (http\S+)/.exec(said)?.[1];
      if (url) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The gateway ended with code ${code}:\n${said}`)));
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** What the editor's svc.jsonc says to use that gateway for everything. `simulated`: label all of it so. */
export function editorConfig(gateway: LocalGateway, options: { readonly simulated: boolean }) {
  return {
    provider: {
      svc: {
        name: 'Svc gateway',
        options: {
          baseURL: gateway.url,
          fimURL: `${gateway.url}/fim`,
          apiKey: gateway.key,
          ...(options.simulated ? { simulated: true } : {}),
        },
      },
    },
  };
}
