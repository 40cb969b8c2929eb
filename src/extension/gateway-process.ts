import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

export interface GatewayProcessParts {
  /** Absolute path of the terminal program that ships with the extension. */
  readonly cli: string;
  readonly secrets: vscode.SecretStorage;
  readonly log: vscode.LogOutputChannel;
  /** Port to listen on; 0: any. */
  readonly port: () => number;
}

export type GatewayState =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly url: string }
  | { readonly kind: 'failed'; readonly reason: string };

const KEY = 'svc.gatewayKey';
const LISTENING = /listening on (http\S+)/;
/** Milliseconds: doubled with each failure in a row. */
const FIRST_BACK_OFF = 1_000;
const LAST_BACK_OFF = 60_000;
/** A gateway that ran this long did not fail to start. */
const STEADY_MS = 30_000;

/**
 * The local gateway: the same server as `svc serve`, as a child on loopback with a key of its own. It ends
 * with the window, because its standard input closes then, and is started again with back-off when it fails.
 */
export class GatewayProcess implements vscode.Disposable {
  readonly #parts: GatewayProcessParts;
  readonly #changed = new vscode.EventEmitter<GatewayState>();
  readonly onDidChange = this.#changed.event;
  #state: GatewayState = { kind: 'stopped' };
  #child: ChildProcess | undefined;
  #backOff = FIRST_BACK_OFF;
  #restart: NodeJS.Timeout | undefined;

  constructor(parts: GatewayProcessParts) {
    this.#parts = parts;
  }

  dispose(): void {
    this.stop();
    this.#changed.dispose();
  }

  get state(): GatewayState {
    return this.#state;
  }

  /** The gateway's key, made at the first start and kept in the system's key store. */
  async key(): Promise<string> {
    const known = await this.#parts.secrets.get(KEY);
    if (known !== undefined) return known;
    const made = `svc-${randomBytes(24).toString('base64url')}`;
    await this.#parts.secrets.store(KEY, made);
    return made;
  }

  /** Resolves with the address when it listens. Rejects with what the gateway said when it can't. */
  async start(): Promise<string> {
    if (this.#state.kind === 'running') return this.#state.url;
    this.stop();
    this.#set({ kind: 'starting' });
    return this.#spawn(await this.key());
  }

  stop(): void {
    clearTimeout(this.#restart);
    const child = this.#child;
    this.#child = undefined;
    child?.kill('SIGTERM');
    if (this.#state.kind !== 'stopped') this.#set({ kind: 'stopped' });
  }

  #spawn(key: string): Promise<string> {
    const args = [this.#parts.cli, 'serve', '--exit-with-stdin', '--port', String(this.#parts.port())];
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const child = spawn(process.execPath, args, {
      // ELECTRON_RUN_AS_NODE: a desktop VS Code's own binary serves as Node. The key never stands in the arguments.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', SVC_GATEWAY_KEY: key },
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(folder?.scheme === 'file' ? { cwd: folder.fsPath } : {}),
    });
    this.#child = child;
    const startedAt = Date.now();
    return new Promise((resolve, reject) => {
      let said = '';
      const read = (chunk: Buffer) => {
        const text = chunk.toString('utf8');
        said = (said + text).slice(-4000);
        this.#parts.log.debug(text.trimEnd());
        const url = LISTENING.exec(said)?.[1];
        if (url === undefined || this.#state.kind !== 'starting' || this.#child !== child) return;
        this.#set({ kind: 'running', url });
        resolve(url);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', (error) => this.#ended(child, error.message, startedAt, reject));
      child.once('exit', (code) => this.#ended(child, said.trim() || `It ended with code ${code}.`, startedAt, reject));
    });
  }

  #ended(child: ChildProcess, reason: string, startedAt: number, reject: (error: Error) => void): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    reject(new Error(reason));
    if (Date.now() - startedAt > STEADY_MS) this.#backOff = FIRST_BACK_OFF;
    this.#parts.log.error(`The local gateway ended: ${reason}`);
    this.#set({ kind: 'failed', reason });
    this.#restart = setTimeout(() => {
      this.#set({ kind: 'starting' });
      // A failure is already in the log and the state.
      void this.key()
        .then((key) => this.#spawn(key))
        .catch(() => undefined);
    }, this.#backOff);
    this.#backOff = Math.min(this.#backOff * 2, LAST_BACK_OFF);
  }

  #set(state: GatewayState): void {
    this.#state = state;
    this.#changed.fire(state);
  }
}
