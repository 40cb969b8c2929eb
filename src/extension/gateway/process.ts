import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { type DetachedGateway, findDetached, startDetached, stopDetached } from './detached-gateway.ts';
import { gatewayLaunch } from './launch.ts';

export interface GatewayProcessDeps {
  /** Absolute path of the terminal program that ships with the extension. */
  readonly cli: string;
  readonly secrets: vscode.SecretStorage;
  readonly log: vscode.LogOutputChannel;
  /** Port to listen on; 0: any. */
  readonly port: () => number;
  /** Whether it goes on when the window is closed. */
  readonly keep: () => boolean;
  readonly memory: vscode.Memento;
  /** Folder for the log of one that goes on. */
  readonly storage: vscode.Uri;
}

export type GatewayState =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly url: string; readonly pid: number; readonly kept: boolean }
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
 * with the window, because its standard input closes then, unless the person wants to keep it, and is started
 * again with back-off, at the same port, when it fails.
 */
export class GatewayProcess implements vscode.Disposable {
  readonly #deps: GatewayProcessDeps;
  readonly #changed = new vscode.EventEmitter<GatewayState>();
  readonly onDidChange = this.#changed.event;
  #state: GatewayState = { kind: 'stopped' };
  #child: ChildProcess | undefined;
  #backOff = FIRST_BACK_OFF;
  #restart: NodeJS.Timeout | undefined;
  #kept: DetachedGateway | undefined;
  #starting: Promise<string> | undefined;
  /** Counts what was asked for: a start that was overtaken by a stop comes to nothing. */
  #turn = 0;
  /** Where it listened last: what other tools were told stays true. */
  #lastPort = 0;

  constructor(deps: GatewayProcessDeps) {
    this.#deps = deps;
  }

  dispose(): void {
    if (this.#kept === undefined) this.stop();
    this.#changed.dispose();
  }

  get state(): GatewayState {
    return this.#state;
  }

  /** The gateway's key, made at the first start and kept in the system's key store. */
  async key(): Promise<string> {
    const known = await this.#deps.secrets.get(KEY);
    if (known !== undefined) return known;
    const made = `svc-${randomBytes(24).toString('base64url')}`;
    await this.#deps.secrets.store(KEY, made);
    return made;
  }

  /** Takes over the gateway that an earlier window has kept running. */
  async adopt(): Promise<void> {
    const kept = await findDetached(this.#deps.memory, () => this.key());
    if (kept !== undefined && this.#state.kind === 'stopped') this.#hold(kept);
  }

  /** Resolves with the address when it listens. Rejects with what the gateway said when it can't. */
  async start(): Promise<string> {
    if (this.#state.kind === 'running') return this.#state.url;
    if (this.#starting) return this.#starting;
    const starting = this.#begin().finally(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    this.#starting = starting;
    return starting;
  }

  async #begin(): Promise<string> {
    this.#end();
    const turn = this.#turn;
    this.#set({ kind: 'starting' });
    const key = await this.key();
    if (turn !== this.#turn) throw new Error(vscode.l10n.t('It was stopped.'));
    return this.#deps.keep() ? this.#startDetached(key, turn) : this.#spawn(key);
  }

  stop(): void {
    this.#end();
    if (this.#state.kind !== 'stopped') this.#set({ kind: 'stopped' });
  }

  #end(): void {
    this.#turn += 1;
    this.#starting = undefined;
    clearTimeout(this.#restart);
    const child = this.#child;
    this.#child = undefined;
    child?.kill('SIGTERM');
    if (this.#kept) void stopDetached(this.#deps.memory, this.#kept);
    this.#kept = undefined;
  }

  async #startDetached(key: string, turn: number): Promise<string> {
    const { cli, port, memory, storage } = this.#deps;
    try {
      const found = await findDetached(memory, async () => key);
      const launch = { file: process.execPath, ...launchHere(cli), env: environment(key) };
      const kept = found ?? (await startDetached(memory, { ...launch, port: port(), storage: storage.fsPath }));
      if (turn !== this.#turn) {
        await stopDetached(memory, kept);
        throw new Error(vscode.l10n.t('It was stopped.'));
      }
      this.#hold(kept);
      return kept.url;
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (turn === this.#turn) this.#set({ kind: 'failed', reason });
      throw thrown;
    }
  }

  #hold(kept: DetachedGateway): void {
    this.#kept = kept;
    this.#set({ kind: 'running', ...kept, kept: true });
  }

  #spawn(key: string): Promise<string> {
    const port = this.#deps.port() || this.#lastPort;
    const { args, cwd } = launchHere(this.#deps.cli);
    const child = spawn(process.execPath, [...args, '--exit-with-stdin', '--port', String(port)], {
      env: environment(key),
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd,
    });
    this.#child = child;
    const startedAt = Date.now();
    return new Promise((resolve, reject) => {
      let said = '';
      const read = (chunk: Buffer) => {
        const text = chunk.toString('utf8');
        said = (said + text).slice(-4000);
        this.#deps.log.debug(text.trimEnd());
        const url = LISTENING.exec(said)?.[1];
        if (url === undefined || this.#state.kind !== 'starting' || this.#child !== child) return;
        this.#lastPort = Number(new URL(url).port);
        this.#set({ kind: 'running', url, pid: child.pid ?? 0, kept: false });
        resolve(url);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', (error) => this.#ended(child, error.message, startedAt, reject));
      child.once('exit', (code) => this.#ended(child, said.trim() || `It ended with code ${code}.`, startedAt, reject));
    });
  }

  #ended(child: ChildProcess, reason: string, startedAt: number, reject: (error: Error) => void): void {
    // Also one that was stopped meanwhile: somebody waits for it.
    reject(new Error(reason));
    if (this.#child !== child) return;
    this.#child = undefined;
    // Somebody else may have taken the port meanwhile.
    if (this.#state.kind === 'starting') this.#lastPort = 0;
    if (Date.now() - startedAt > STEADY_MS) this.#backOff = FIRST_BACK_OFF;
    this.#deps.log.error(`The local gateway ended: ${reason}`);
    this.#set({ kind: 'failed', reason });
    // A failure is already in the log and the state.
    this.#restart = setTimeout(() => void this.start().catch(() => undefined), this.#backOff);
    this.#backOff = Math.min(this.#backOff * 2, LAST_BACK_OFF);
  }

  #set(state: GatewayState): void {
    this.#state = state;
    this.#changed.fire(state);
  }
}

/** ELECTRON_RUN_AS_NODE: a desktop VS Code's own binary serves as Node. The key never stands in the arguments. */
function environment(key: string): NodeJS.ProcessEnv {
  return { ...process.env, ELECTRON_RUN_AS_NODE: '1', SVC_GATEWAY_KEY: key };
}

function launchHere(cli: string): { args: string[]; cwd: string } {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return gatewayLaunch({
    cli,
    trusted: vscode.workspace.isTrusted,
    folder: folder?.scheme === 'file' ? folder.fsPath : undefined,
    home: homedir(),
  });
}
