import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CLI } from '../svc-program.ts';

export const KEY = 'svc_key_of_the_soak_run';

/** Figures that the gateway reports. */
export interface Vitals {
  /** Bytes. */
  readonly resident: number;
  readonly heap: number;
  readonly handles: number;
  readonly active: number;
}

/** `svc serve` as a separate process with its state in a separate folder. */
export class SoakedGateway {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #log: () => string;

  private constructor(url: string, child: ChildProcess, folder: string, log: () => string) {
    this.url = url;
    this.#child = child;
    this.#folder = folder;
    this.#log = log;
  }

  static async start(config: unknown): Promise<SoakedGateway> {
    const folder = mkdtempSync(path.join(tmpdir(), 'svc-soak-'));
    writeFileSync(path.join(folder, 'svc.jsonc'), JSON.stringify(config));
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_DATA_HOME: folder,
      SVC_MANAGED_CONFIG_DIR: folder,
      SVC_CONFIG: path.join(folder, 'svc.jsonc'),
      SVC_GATEWAY_KEY: KEY,
      SVC_DISABLE_CATALOG_REFRESH: '1',
    };
    const args = [CLI, 'serve', '--no-project', '--port', '0', '--log-level', 'error', '--drain', '2'];
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    while (!output.includes('listening on')) {
      if (child.exitCode !== null) throw new Error(`The gateway did not start: ${output}`);
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    }
    return new SoakedGateway(/listening on (http\S+)/.exec(output)?.[1] ?? '', child, folder, () => output);
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async vitals(): Promise<Vitals> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN);
    return {
      resident: value('process_resident_memory_bytes'),
      heap: value('nodejs_heap_size_used_bytes'),
      handles: value('nodejs_active_handles_total'),
      active: value('svc_gateway_requests_active'),
    };
  }

  /** Ends it like a service manager. Returns its exit code, log and ledger rows. */
  async stop(): Promise<{ code: number | null; log: string; rows: number }> {
    this.#child.kill('SIGTERM');
    if (this.alive) await once(this.#child, 'exit');
    const database = new DatabaseSync(path.join(this.#folder, 'svc', 'gateway.db'));
    const rows = Number(database.prepare('SELECT count(*) AS n FROM usage').get()?.n);
    database.close();
    rmSync(this.#folder, { recursive: true, force: true });
    return { code: this.#child.exitCode, log: this.#log(), rows };
  }
}
