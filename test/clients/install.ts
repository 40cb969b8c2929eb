import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const CACHE = path.join(import.meta.dirname, '..', '..', '.cache', 'clients');

/** The packages of each client with their versions. A new version is installed again. */
const CLIENTS = {
  openai: ['openai@7.59.0'],
  'anthropic-sdk': ['@anthropic-ai/sdk@1.14.0', 'zod@4.6.7'],
  'openai-agents': ['@openai/agents@0.20.0', 'zod@4.6.7'],
  'ai-sdk': [
    'ai@7.0.173',
    '@ai-sdk/openai@4.0.118',
    '@ai-sdk/anthropic@4.0.105',
    '@ai-sdk/mistral@4.0.87',
    '@ai-sdk/openai-compatible@3.0.92',
    'zod@4.6.7',
  ],
  langchain: [
    'langchain@1.5.14',
    '@langchain/core@1.4.0',
    '@langchain/openai@1.6.0',
    '@langchain/anthropic@1.5.11',
    'zod@4.6.7',
  ],
  mistralai: ['@mistralai/mistralai@2.7.0'],
  'claude-agent-sdk': ['@anthropic-ai/claude-agent-sdk@0.3.332', 'zod@4.6.7'],
  codex: ['@openai/codex@0.171.0'],
  copilot: ['@github/copilot@1.0.102'],
  kimi: ['@moonshot-ai/kimi-code@2.1.0'],
  'claude-code': ['@anthropic-ai/claude-code@2.1.332'],
  opencode: ['opencode-ai@1.18.33'],
  kilo: ['@kilocode/cli@7.7.7'],
  'qwen-code': ['@qwen-code/qwen-code@0.24.4'],
  pi: ['@mariozechner/pi-coding-agent@0.73.1'],
  continue: ['@continuedev/cli@1.5.47'],
  cline: ['cline@3.0.65'],
} as const;

export type ClientName = keyof typeof CLIENTS;

/**
 * Installs a client from npm into the cache, once for its versions, and returns the folder. Install scripts do not run:
 * the programs of the clients are in packages of their own for each platform.
 */
export function installClient(name: ClientName): string {
  const packages = CLIENTS[name];
  const folder = path.join(CACHE, name);
  const done = path.join(folder, 'installed');
  const wanted = packages.join('\n');
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  const args = ['install', ...packages, '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact'];
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stdout}\n${stderr}`);
  writeFileSync(done, wanted);
  return folder;
}
