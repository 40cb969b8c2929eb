import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { defined } from '../../base/json.ts';
import { findProgram } from '../../base/run-git.ts';
import type { Machine } from '../../catalog/local-setup.ts';

const GB = 1e9;
const TIMEOUT_MS = 3_000;
/** Graphics of a processor have a small part of the memory. */
const LEAST_GPU_GB = 3;

/** Memory, cores and graphics card of this machine. */
export async function readMachine(): Promise<Machine> {
  // In a container, its limit.
  const limit = process.constrainedMemory();
  const memory = Math.min(totalmem(), limit > 0 ? limit : Infinity) / GB;
  const processors = cpus();
  const model = processors[0]?.model ?? '';
  const apple = process.platform === 'darwin' && model.startsWith('Apple');
  const gpu = apple ? { name: model, memory, unified: true as const } : ((await nvidia()) ?? (await amd()));
  return { memory, cores: processors.length, ...defined({ gpu }) };
}

async function nvidia(): Promise<Machine['gpu']> {
  const program = findProgram('nvidia-smi', process.env, process.platform);
  if (program === undefined) return undefined;
  try {
    const query = ['--query-gpu=memory.total,name', '--format=csv,noheader,nounits'];
    const { stdout } = await promisify(execFile)(program, query, { timeout: TIMEOUT_MS });
    const cards = [...stdout.matchAll(/^(\d+), (.+)$/gm)];
    const memory = cards.reduce((sum, [, mib]) => sum + (Number(mib) * 1024 * 1024) / GB, 0);
    return memory > LEAST_GPU_GB ? { name: cards[0]?.[2]?.trim() ?? 'NVIDIA', memory } : undefined;
  } catch {
    // A driver that does not run.
    return undefined;
  }
}

/** The driver of AMD's cards tells their memory in a file (Linux). */
async function amd(): Promise<Machine['gpu']> {
  const folder = '/sys/class/drm';
  const cards = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    cards.map((card) => readFile(`${folder}/${card}/device/mem_info_vram_total`, 'utf8').catch(() => '')),
  );
  const memory = Math.max(0, ...sizes.map(Number)) / GB;
  return memory > LEAST_GPU_GB ? { name: 'AMD', memory } : undefined;
}
