import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { COMPILE_CACHE } from '../compile-cache.ts';
import { endChildWithTests } from '../end-with-tests.ts';
import { CLI } from '../svc-program.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';

export const KEY = 'svc_key_of_the_parent';

export interface ServeProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** Resolves when the log has a line with this text. */
  logged(text: string): Promise<void>;
  /** The log. */
  written(): string;
}

/** `svc serve` processes with a separate folder for their files, and one simulated upstream. */
export class ServeHarness {
  readonly folder: string;
  readonly upstream: Upstream;
  /** The gateways that were started, also those that do not listen yet. */
  readonly children: ChildProcess[] = [];
  /** With their workers: these have the same standard output, and write files until they notice that the gateway has ended. */
  readonly #ended: Promise<unknown>[] = [];
  /** Arguments of Node for the next gateways. */
  nodeArgs: readonly string[] = [];

  static async start(): Promise<ServeHarness> {
    const harness = new ServeHarness(await mkdtemp(path.join(tmpdir(), 'svc-serve-')), await startUpstream());
    await harness.configure({ m: { cost: { input: 1, output: 2 } } });
    return harness;
  }

  private constructor(folder: string, upstream: Upstream) {
    this.folder = folder;
    this.upstream = upstream;
  }

  async close(): Promise<void> {
    for (const child of this.children) {
      child.kill('SIGKILL');
      // They are closed when they were read to the end.
      child.stdout?.resume();
      child.stderr?.resume();
    }
    await Promise.all(this.#ended);
    await this.upstream.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Takes a gateway that `close` ends. */
  add(child: ChildProcess): void {
    this.children.push(child);
    this.#ended.push(once(child, 'close'));
    endChildWithTests(child, 'SIGKILL');
  }

  /** Where the state is. */
  get database(): string {
    return path.join(this.folder, 'data', 'svc', 'gateway.db');
  }

  async configure(models: Record<string, unknown>, gateway: Record<string, unknown> = {}): Promise<void> {
    const options = { baseURL: `${this.upstream.url}/v1`, apiKey: 'sk-canary' };
    const provider = { up: { options, models }, listed: { options } };
    await writeFile(path.join(this.folder, 'svc.jsonc'), JSON.stringify({ provider, gateway }));
  }

  /** @param log where the log goes instead of to `logged`: a file descriptor. */
  async serve(args: readonly string[] = [], key = KEY, cwd = this.folder, log?: number): Promise<ServeProcess> {
    const child = spawn(
      process.execPath,
      [...this.nodeArgs, CLI, 'serve', '--port', '0', '--config', path.join(this.folder, 'svc.jsonc'), ...args],
      { cwd, env: { ...this.#env(), SVC_GATEWAY_KEY: key }, stdio: ['pipe', 'pipe', log ?? 'pipe'] },
    );
    this.add(child);
    let written = '';
    const waiting = new Set<() => void>();
    child.stderr?.on('data', (chunk) => {
      written += chunk;
      for (const look of waiting) look();
    });
    const logged = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!written.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stdout?.on('data', (chunk) => {
        said += chunk;
        const found = /listening on (http\S+)/.exec(said)?.[1];
        if (found) resolve(found);
      });
      // Its last output arrives before `close`, but possibly after `exit`.
      child.once('close', (code) => reject(new Error(`${code}: ${written}`)));
    });
    return { child, url, logged, written: () => written };
  }

  /** Runs another command in the same folder, with the same configuration. */
  svc(...args: string[]): Promise<{ readonly stdout: string }> {
    const env = { ...this.#env(), SVC_CONFIG: path.join(this.folder, 'svc.jsonc') };
    return promisify(execFile)(process.execPath, [CLI, ...args], { cwd: this.folder, env });
  }

  /** A request for `up/m` unless `more` says otherwise. */
  send(url: string, more: Record<string, unknown> = {}, key = KEY, text = 'Hi'): Promise<Response> {
    return fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content: text }], ...more }),
    });
  }

  #env() {
    return {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      HOME: this.folder,
      XDG_CONFIG_HOME: path.join(this.folder, 'config'),
      XDG_DATA_HOME: path.join(this.folder, 'data'),
      XDG_CACHE_HOME: path.join(this.folder, 'cache'),
      SVC_MANAGED_CONFIG_DIR: path.join(this.folder, 'managed'),
      SVC_DISABLE_CATALOG_REFRESH: '1',
    };
  }
}
