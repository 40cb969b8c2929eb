import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { type DetachedGateway, findDetached, provenProcess, startDetached, stopDetached } from './detached-gateway.ts';
import { gatewayLaunch } from './launch.ts';

export interface GatewayProcessDeps {
  /** Absolute path of the terminal program that ships with the extension. */
  readonly cli: string;
  readonly secrets: vscode.SecretStorage;
  /** Variables by which the gateway finds the keys of this window. */
  readonly windowVariables: Promise<Readonly<Record<string, string>>>;
  readonly log: vscode.LogOutputChannel;
  /** Port to listen on; 0: any free port. */
  readonly port: () => number;
  /** Whether the gateway keeps running after the window is closed. */
  readonly keep: () => boolean;
  readonly memory: vscode.Memento;
  /** Folder for the log of a gateway that keeps running. */
  readonly storage: vscode.Uri;
}

export type ProcessState =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'running'; readonly url: string; readonly pid: number; readonly kept: boolean }
  | { readonly kind: 'failed'; readonly reason: string };

const KEY = 'svc.gatewayKey';
const LISTENING = /listening on (http\S+)/;
/** Milliseconds. Doubled with each consecutive failure. */
const FIRST_BACK_OFF = 1_000;
const LAST_BACK_OFF = 60_000;
/** After running for this long, a failure resets the back-off. */
const STEADY_MS = 30_000;

/**
 * The local gateway: runs `svc serve` as a child process on a loopback address with its own key. It ends with the
 * window, because its standard input is closed then, unless the user wants to keep it running. After a failure it is
 * started again on the same port, with back-off.
 */
export class GatewayProcess implements vscode.Disposable {
  readonly #deps: GatewayProcessDeps;
  readonly #changed = new vscode.EventEmitter<ProcessState>();
  readonly onDidChange = this.#changed.event;
  #state: ProcessState = { kind: 'stopped' };
  #child: ChildProcess | undefined;
  #backOff = FIRST_BACK_OFF;
  #restart: NodeJS.Timeout | undefined;
  #kept: DetachedGateway | undefined;
  #starting: Promise<string> | undefined;
  /** Incremented by each start and stop, to cancel a start that was followed by a stop. */
  #generation = 0;
  /** The last port. It is reused, so that the address in other tools stays valid. */
  #lastPort = 0;

  constructor(deps: GatewayProcessDeps) {
    this.#deps = deps;
  }

  dispose(): void {
    if (this.#kept === undefined) this.stop();
    this.#changed.dispose();
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** The gateway's key. Created on the first start and stored in the system's key store. */
  async key(): Promise<string> {
    const known = await this.#deps.secrets.get(KEY);
    if (known !== undefined) return known;
    const made = `svc-${randomBytes(24).toString('base64url')}`;
    await this.#deps.secrets.store(KEY, made);
    return made;
  }

  /** Connects to a gateway that an earlier window left running. */
  async adopt(): Promise<void> {
    const kept = await findDetached(this.#deps.memory, () => this.key());
    if (kept !== undefined && this.#state.kind === 'stopped') this.#setKept(kept);
  }

  /** Resolves with the address when the gateway listens. Rejects with its output if it fails. */
  async start(): Promise<string> {
    const running = this.#state.kind === 'running' ? await this.address() : undefined;
    if (running !== undefined) return running;
    if (this.#starting) return this.#starting;
    const starting = this.#startOnce().finally(() => {
      if (this.#starting === starting) this.#starting = undefined;
    });
    this.#starting = starting;
    return starting;
  }

  /**
   * The address of the running gateway. A gateway that was kept proves itself again: it may have ended, and another
   * program may listen at its port by now. Must be called before the key is sent or shown with the address.
   */
  async address(): Promise<string | undefined> {
    if (this.#state.kind !== 'running') return undefined;
    const { url } = this.#state;
    const kept = this.#kept;
    if (kept === undefined || (await provenProcess(url, await this.key())) !== undefined) return url;
    if (this.#kept === kept) {
      this.#kept = undefined;
      this.#set({ kind: 'stopped' });
    }
    return undefined;
  }

  async #startOnce(): Promise<string> {
    this.#end();
    const generation = this.#generation;
    this.#set({ kind: 'starting' });
    const key = await this.key();
    const env = environment(key, await this.#deps.windowVariables);
    if (generation !== this.#generation) throw new Error(vscode.l10n.t('The gateway was stopped.'));
    return this.#deps.keep() ? this.#startDetached(key, env, generation) : this.#spawn(env);
  }

  stop(): void {
    this.#end();
    if (this.#state.kind !== 'stopped') this.#set({ kind: 'stopped' });
  }

  #end(): void {
    this.#generation += 1;
    this.#starting = undefined;
    clearTimeout(this.#restart);
    const child = this.#child;
    this.#child = undefined;
    child?.kill('SIGTERM');
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept) void this.key().then((key) => stopDetached(this.#deps.memory, key, kept));
  }

  async #startDetached(key: string, env: NodeJS.ProcessEnv, generation: number): Promise<string> {
    const { cli, port, memory, storage } = this.#deps;
    try {
      const found = await findDetached(memory, async () => key);
      const launch = { file: process.execPath, ...launchHere(cli), env };
      const kept = found ?? (await startDetached(memory, key, { ...launch, port: port(), storage: storage.fsPath }));
      if (generation !== this.#generation) {
        await stopDetached(memory, key, kept);
        throw new Error(vscode.l10n.t('The gateway was stopped.'));
      }
      this.#setKept(kept);
      return kept.url;
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      if (generation === this.#generation) this.#set({ kind: 'failed', reason });
      throw thrown;
    }
  }

  #setKept(kept: DetachedGateway): void {
    this.#kept = kept;
    this.#set({ kind: 'running', ...kept, kept: true });
  }

  #spawn(env: NodeJS.ProcessEnv): Promise<string> {
    const port = this.#deps.port() || this.#lastPort;
    const { args, cwd } = launchHere(this.#deps.cli);
    const child = spawn(process.execPath, [...args, '--exit-with-stdin', '--port', String(port)], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      cwd,
    });
    this.#child = child;
    const startedAt = Date.now();
    return new Promise((resolve, reject) => {
      let output = '';
      const read = (chunk: Buffer) => {
        const text = chunk.toString('utf8');
        output = (output + text).slice(-4000);
        this.#deps.log.debug(text.trimEnd());
        const url = LISTENING.exec(output)?.[1];
        if (url === undefined || this.#state.kind !== 'starting' || this.#child !== child) return;
        this.#lastPort = Number(new URL(url).port);
        this.#set({ kind: 'running', url, pid: child.pid ?? 0, kept: false });
        resolve(url);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('error', (error) => this.#ended(child, error.message, startedAt, reject));
      child.once('exit', (code) =>
        this.#ended(child, output.trim() || `It ended with code ${code}.`, startedAt, reject),
      );
    });
  }

  #ended(child: ChildProcess, reason: string, startedAt: number, reject: (error: Error) => void): void {
    // Also reject if it was stopped in the meantime: a caller is waiting for it.
    reject(new Error(reason));
    if (this.#child !== child) return;
    this.#child = undefined;
    // Another process may have taken the port.
    if (this.#state.kind === 'starting') this.#lastPort = 0;
    if (Date.now() - startedAt > STEADY_MS) this.#backOff = FIRST_BACK_OFF;
    this.#deps.log.error(`The local gateway ended: ${reason}`);
    this.#set({ kind: 'failed', reason });
    // A failure is already reported in the log and the state.
    this.#restart = setTimeout(() => void this.start().catch(() => undefined), this.#backOff);
    this.#backOff = Math.min(this.#backOff * 2, LAST_BACK_OFF);
  }

  #set(state: ProcessState): void {
    this.#state = state;
    this.#changed.fire(state);
  }
}

/** ELECTRON_RUN_AS_NODE makes the VS Code binary run as Node. The key is not passed in the arguments. */
function environment(key: string, window: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...process.env, ...window, ELECTRON_RUN_AS_NODE: '1', SVC_GATEWAY_KEY: key };
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
