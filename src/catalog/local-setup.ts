/**
 * Which models a machine can run, and the commands that download and serve them. Sizes and licences are those of the
 * pages of the models at ollama.com and huggingface.co.
 */

import { ollamaAddress } from './ollama-address.ts';

/** What decides how large a model may be. Memory in GB. */
export interface Machine {
  readonly memory: number;
  readonly cores: number;
  /** `unified`: it shares the memory of the processor. */
  readonly gpu?: { readonly name: string; readonly memory: number; readonly unified?: true };
}

export type LocalUse = 'completion' | 'nextEdit' | 'chat';
export type LocalProgram = 'ollama' | 'llamacpp';

interface LocalModel {
  readonly name: string;
  /** GB of the download from Ollama. */
  readonly size: number;
  /** GB of the file of `hf`, if it differs. */
  readonly hfSize?: number;
  readonly license: string;
  readonly ollama: string;
  /** The repository for `llama-server -hf`. */
  readonly hf: string;
  /** KB of the cache for a token, in 8 bits. */
  readonly cache: number;
  /** Too slow without a graphics card. */
  readonly needsGpu?: true;
}

const APACHE = 'Apache 2.0';

const coder = (size: string, gb: number, hfSize: number, cache: number): LocalModel => ({
  name: `Qwen2.5-Coder ${size}`,
  size: gb,
  hfSize,
  license: APACHE,
  ollama: `qwen2.5-coder:${size.toLowerCase()}-base`,
  hf: `ggml-org/Qwen2.5-Coder-${size}-Q8_0-GGUF`,
  cache,
});

const CODERS = {
  '0.5B': coder('0.5B', 0.5, 0.5, 7),
  '1.5B': coder('1.5B', 1, 1.65, 15),
  '7B': coder('7B', 4.7, 8.1, 30),
} as const;

const sweep = (size: string, gb: number, cache: number): LocalModel => ({
  name: `Sweep Next-Edit ${size}`,
  size: gb,
  license: APACHE,
  ollama: `hf.co/sweepai/sweep-next-edit-${size}`,
  hf: `sweepai/sweep-next-edit-${size}`,
  cache,
});

const qwen = (size: string, gb: number, cache: number): LocalModel => ({
  name: `Qwen3 ${size}`,
  size: gb,
  license: APACHE,
  ollama: `qwen3:${size.toLowerCase()}`,
  hf: `Qwen/Qwen3-${size}-GGUF`,
  cache,
});

/** The best first. */
const AGENTS: readonly LocalModel[] = [
  {
    name: 'Qwen3-Coder 30B',
    size: 19,
    license: APACHE,
    ollama: 'qwen3-coder:30b',
    hf: 'unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF:Q4_K_M',
    cache: 52,
  },
  {
    name: 'gpt-oss 20B',
    size: 14,
    hfSize: 12.1,
    license: APACHE,
    ollama: 'gpt-oss:20b',
    hf: 'ggml-org/gpt-oss-20b-GGUF',
    cache: 25,
  },
  { ...qwen('14B', 9.3, 87), needsGpu: true },
  { ...qwen('8B', 5.2, 78), needsGpu: true },
  qwen('4B', 2.6, 78),
];

/** Windows of the agent, the best first. */
const WINDOWS = [32_768, 16_384, 8_192];
/** Window of completions and next edits, whose requests take at most that (docs/completion.md). */
const SMALL_WINDOW = 8_192;
/** GB that a loaded model takes in addition to its file and its cache. */
const OVERHEAD = 0.5;
/** A part of the memory is needed by the system, the editor and the desktop. */
const USABLE = { gpu: 0.92, unified: 0.7, processor: 0.55 } as const;

export interface PlannedModel {
  readonly use: LocalUse;
  readonly name: string;
  readonly size: number;
  readonly license: string;
  /** Its id at the server. */
  readonly id: string;
  readonly command: string;
  readonly baseURL: string;
}

export interface LocalPlan {
  readonly program: LocalProgram;
  /** Starts the server. Absent if each model has its own server. */
  readonly serve?: string;
  readonly window: number;
  readonly models: readonly PlannedModel[];
}

/**
 * One model for each use that fits into the memory together with the others. The agent may be missing.
 * @param shell the program that runs the commands. @param ollama the address of Ollama, without a path.
 */
export function planLocalModels(
  machine: Machine,
  program: LocalProgram,
  shell: string,
  ollama = ollamaAddress({}),
): LocalPlan {
  const { gpu } = machine;
  const unified = gpu?.unified === true;
  const memory = gpu && !unified ? gpu.memory * USABLE.gpu : machine.memory * USABLE[gpu ? 'unified' : 'processor'];
  const slow = gpu === undefined;
  const size = slow ? (machine.cores < 8 ? '0.5B' : '1.5B') : memory < 32 ? '1.5B' : '7B';
  const fileOf = (model: LocalModel) => (program === 'ollama' ? model : { ...model, size: model.hfSize ?? model.size });
  const completion = fileOf(CODERS[size]);
  const nextEdit = slow ? sweep('0.5B', 0.5, 7) : sweep('1.5B', 1.6, 15);
  // Ollama gives all models the same window.
  const others = (window: number) => {
    const own = program === 'ollama' ? window : SMALL_WINDOW;
    return neededMemory(completion, own) + neededMemory(nextEdit, own);
  };
  const agent = AGENTS.map(fileOf)
    .filter(({ needsGpu }) => !(needsGpu && slow))
    .flatMap((model) => WINDOWS.map((window) => ({ model, window })))
    .find(({ model, window }) => neededMemory(model, window) + others(window) <= memory);
  const window = agent?.window ?? SMALL_WINDOW;
  const chosen: readonly (readonly [LocalUse, LocalModel, number])[] = [
    ['completion', completion, SMALL_WINDOW],
    ['nextEdit', nextEdit, SMALL_WINDOW],
    ...(agent ? [['chat', agent.model, window] as const] : []),
  ];
  const models = chosen.map(([use, model, own]) => {
    const planned = program === 'ollama' ? fromOllama(model, ollama) : fromLlamaServer(use, model, own);
    return { use, name: model.name, size: model.size, license: model.license, ...planned };
  });
  return { program, window, models, ...(program === 'ollama' ? { serve: serveOllama(window, shell) } : {}) };
}

/** The window for a server that was started by someone else: it may keep the cache in 16 bits, which take twice the memory. */
export function foreignWindow(window: number): number {
  return Math.max(SMALL_WINDOW, window / 2);
}

function neededMemory({ size, cache }: LocalModel, window: number): number {
  return size + (cache * window) / 1e6 + OVERHEAD;
}

type Served = Pick<PlannedModel, 'id' | 'command' | 'baseURL'>;

function fromOllama({ ollama }: LocalModel, address: string): Served {
  // Ollama adds the tag to the names of models that have none.
  const id = ollama.includes(':') ? ollama : `${ollama}:latest`;
  return { id, command: `ollama pull ${ollama}`, baseURL: `${address}/v1` };
}

/** llama.vscode uses 8012 for completions. */
const PORTS: Readonly<Record<LocalUse, number>> = { completion: 8012, nextEdit: 8013, chat: 8080 };

function fromLlamaServer(use: LocalUse, { name, hf }: LocalModel, window: number): Served {
  const id = name.toLowerCase().replaceAll(' ', '-');
  const port = PORTS[use];
  const own = use === 'chat' ? '--jinja' : '--cache-reuse 256 --ubatch-size 1024';
  const cache = '--flash-attn on --cache-type-k q8_0 --cache-type-v q8_0';
  return {
    id,
    command: `llama-server -hf ${hf} --alias ${id} --port ${port} --ctx-size ${window} --parallel 1 ${cache} ${own}`,
    baseURL: `http://127.0.0.1:${port}/v1`,
  };
}

/** A model stays loaded for an hour, because a completion can't wait until it is loaded. */
function serveOllama(window: number, shell: string): string {
  const variables = [
    ['OLLAMA_CONTEXT_LENGTH', `${window}`],
    ['OLLAMA_FLASH_ATTENTION', '1'],
    ['OLLAMA_KV_CACHE_TYPE', 'q8_0'],
    ['OLLAMA_KEEP_ALIVE', '1h'],
  ] as const;
  const all = (write: (name: string, value: string) => string) =>
    variables.map(([name, value]) => write(name, value)).join('');
  if (/(?:powershell|pwsh)(?:\.exe)?$/i.test(shell)) {
    return `${all((name, value) => `$env:${name}='${value}'; `)}ollama serve`;
  }
  if (/cmd\.exe$/i.test(shell)) return `${all((name, value) => `set "${name}=${value}" && `)}ollama serve`;
  return `${all((name, value) => `${name}=${value} `)}ollama serve`;
}

/** The command that installs Ollama (ollama.com/download), for the platforms on which one command does. */
export function installOllama(platform: NodeJS.Platform, hasBrew: boolean): string | undefined {
  if (platform === 'linux') return 'curl -fsSL https://ollama.com/install.sh | sh';
  if (platform === 'win32') return 'winget install --id Ollama.Ollama -e';
  return hasBrew ? 'brew install ollama' : undefined;
}

/** The editor and its terminals keep their PATH on Windows, so they lack the folder of an Ollama installed since. */
export function pathWithOllama(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): { readonly PATH: string } | undefined {
  const { PATH = '', LOCALAPPDATA } = env;
  return platform === 'win32' && LOCALAPPDATA ? { PATH: `${PATH};${LOCALAPPDATA}\\Programs\\Ollama` } : undefined;
}
