import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { TASK, type Toolbox } from '../upstream/strict/scripted-model.ts';
import {
  type Course,
  type StrictFormat,
  type StrictProvider,
  startStrictProvider,
} from '../upstream/strict/strict-provider.ts';
import { formatOfRequests, type Workspace, writeFixture } from './fixtures.ts';
import { type Recorder, startRecorder } from './recorder.ts';
import type { MakeToolbox } from './toolboxes.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const CLI = path.join(ROOT, 'src', 'cli', 'main.ts');
const CLIENT_LIMIT_MS = 120_000;

export const KEY = 'svc_key_of_the_judges';
export const FORMATS: readonly StrictFormat[] = ['chat', 'responses', 'messages'];

/** The models of each provider. Clients know some by name and treat the others as unknown. */
const MODELS = [
  'm',
  'gpt-5.5',
  'gpt-6.1-sol',
  'claude-sonnet-4-5',
  'claude-opus-4-6',
  'claude-sonnet-5',
  'mistral-large-latest',
];

/** `svc serve` as a process, with the strict provider as `chat/…`, `mistral/…`, `responses/…` and `messages/…`. */
export class Judges {
  readonly provider: StrictProvider;
  readonly recorder: Recorder;
  readonly #folder: string;
  readonly #gateway: ChildProcess;
  #log = '';
  #toolbox: Toolbox | undefined;

  /** @param config the configuration over the strict provider at an address. */
  static async start(config: (url: string) => unknown = (url) => ({ provider: providers(url) })): Promise<Judges> {
    const provider = await startStrictProvider();
    const folder = mkdtempSync(path.join(tmpdir(), 'svc-clients-'));
    writeFileSync(path.join(folder, 'svc.jsonc'), JSON.stringify(config(provider.url)));
    const gateway = spawn(
      process.execPath,
      [CLI, 'serve', '--port', '0', '--no-project', '--config', path.join(folder, 'svc.jsonc')],
      { cwd: folder, env: { ...homeEnv(folder), SVC_GATEWAY_KEY: KEY }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const recorder = await startRecorder(await listening(gateway));
    return new Judges(provider, folder, gateway, recorder);
  }

  private constructor(provider: StrictProvider, folder: string, gateway: ChildProcess, recorder: Recorder) {
    this.provider = provider;
    this.#folder = folder;
    this.#gateway = gateway;
    this.recorder = recorder;
    gateway.stderr?.on('data', (chunk) => {
      this.#log += chunk;
    });
  }

  /** The address for the client: the gateway's, through the recorder. */
  get url(): string {
    return this.recorder.url;
  }

  /** A new workspace with the file of the task; the provider forgets all that came before. */
  begin(toolbox: MakeToolbox, course: Course = {}): Workspace {
    this.recorder.requests.length = 0;
    this.#log = '';
    const folder = mkdtempSync(path.join(this.#folder, 'run-'));
    const work = path.join(folder, 'work');
    const home = path.join(folder, 'home');
    for (const each of [work, home]) mkdirSync(each);
    writeFileSync(path.join(work, TASK.file), TASK.before);
    this.#toolbox = toolbox(work);
    this.provider.begin(this.#toolbox, [], course);
    return { work, home };
  }

  /**
   * The task is done: the file is edited, the provider refused nothing, each call came back as it was made with the
   * result of its tool, and the client shows the answer.
   */
  assertDone({ work }: Workspace, output: string): void {
    const { refusals, requests, made } = this.provider;
    const failed = this.recorder.requests.filter(({ status }) => status >= 400);
    const context = `\nfailed: ${failed.map(({ method, path, status }) => `${method} ${path} ${status}`)}\nrefusals: ${refusals.join('\n')}\noutput: ${output.slice(-3_000)}\nlog: ${this.#log.slice(-3_000)}`;
    assert.deepEqual(refusals, [], context);
    const main = requests.filter(({ model }) => model.tools.length > 0);
    const last = main.at(-1)?.model;
    const seen = (last?.turns ?? []).flat().filter(({ name }) => name !== this.#toolbox?.discover?.name);
    const ids = seen.map(({ name, input }) => ({ name, input: parsed(input) }));
    const expected = made.map(({ name, input }) => ({
      name,
      input: typeof input === 'string' ? bridged(ids, input) : input,
    }));
    assert.deepEqual(ids, expected, `The calls came back changed.${context}`);
    seen.slice(0, 4).forEach((call, index) => {
      const result = last?.results.get(call.id) ?? 'no result';
      assert.ok(result.includes(TASK.results[index] ?? ''), `Result of call ${index}: ${result}${context}`);
    });
    assert.equal(readFileSync(path.join(work, TASK.file), 'utf8'), TASK.after, context);
    assert.ok(output.replaceAll(/\s+/g, ' ').includes(TASK.answer), `The answer is not shown.${context}`);
  }

  /** Thinking that a client requests goes on after the first call. */
  assertThinking(context: string): void {
    const main = this.provider.requests.filter(({ model }) => model.tools.length > 0);
    if (main[0]?.model.thinks !== true) return;
    assert.ok(
      main.every(({ model }) => model.thinks),
      `Thinking was turned off after the first call.${context}`,
    );
    if (main[0].format === 'chat') return;
    const calls = main.at(-1)?.model.turns.flat() ?? [];
    assert.ok(
      calls.every(({ afterThinking }) => afterThinking),
      `The thinking before a call is lost.${context}`,
    );
  }

  /** With SVC_RECORD, keeps the requests of a run whose provider has the format of the client. */
  record(title: string, format: StrictFormat, workspace: Workspace): void {
    const { requests } = this.recorder;
    if (process.env.SVC_RECORD && formatOfRequests(requests) === format) writeFixture(title, requests, workspace);
  }

  async close(): Promise<void> {
    if (this.#gateway.exitCode === null) {
      this.#gateway.kill('SIGKILL');
      await once(this.#gateway, 'exit');
    }
    await this.recorder.close();
    await this.provider.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The models of all providers by their names at the gateway. */
export const MODEL_NAMES = FORMATS.flatMap((format) => MODELS.map((model) => `${format}/${model}`));

function providers(url: string): Record<string, unknown> {
  const model = {
    tool_call: true,
    modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
    limit: { context: 200_000, output: 64_000 },
    reasoning: true,
  };
  const models = Object.fromEntries(MODELS.map((name) => [name, model]));
  const options = { baseURL: `${url}/v1`, apiKey: 'sk-provider' };
  return {
    chat: { options, models },
    mistral: { npm: '@ai-sdk/mistral', options: { ...options, baseURL: `${url}/mistral/v1` }, models },
    responses: { npm: '@ai-sdk/openai', options, models },
    messages: { npm: '@ai-sdk/anthropic', options, models },
  };
}

/** Only what a program needs to run: the developer's keys and settings stay out. */
function homeEnv(home: string): Record<string, string | undefined> {
  return {
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
    HOME: home,
    USERPROFILE: home,
    TMPDIR: tmpdir(),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    XDG_CONFIG_HOME: path.join(home, '.config'),
    XDG_DATA_HOME: path.join(home, '.local', 'share'),
    XDG_CACHE_HOME: path.join(home, '.cache'),
    XDG_STATE_HOME: path.join(home, '.local', 'state'),
    // No client installs anything during a run.
    npm_config_offline: 'true',
    SVC_MANAGED_CONFIG_DIR: path.join(home, 'managed'),
    SVC_DISABLE_CATALOG_REFRESH: '1',
  };
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let written = '';
    const read = (chunk: Buffer) => {
      written += chunk.toString('utf8');
      const url = /listening on (http\S+)/.exec(written)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', (code) => reject(new Error(`The gateway ended with code ${code}:\n${written}`)));
  });
}

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a client in the workspace and returns what it prints. It is ended after two minutes. */
export async function runProgram({ file, args, env }: Program, { work, home }: Workspace): Promise<string> {
  const child = spawn(file, args, {
    cwd: work,
    env: { ...homeEnv(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  });
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const timer = setTimeout(() => {
    output += `\n[ended after ${CLIENT_LIMIT_MS} ms]`;
    endTree(child);
  }, CLIENT_LIMIT_MS);
  await once(child, 'exit');
  clearTimeout(timer);
  endTree(child);
  return output;
}

/** Ends the client with the processes that it started. */
function endTree(child: ChildProcess): void {
  try {
    if (process.platform === 'win32' || child.pid === undefined) child.kill();
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All have ended.
  }
}

function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** The text of a custom tool, as it is or as the `input` of a function. */
function bridged(seen: readonly { readonly input: unknown }[], text: string): unknown {
  return seen.some(({ input }) => input === text) ? text : { input: text };
}
