import { homedir } from 'node:os';
import { loadSnapshot } from '../src/catalog/public/snapshot.ts';
import { buildRegistry } from '../src/catalog/registry/registry.ts';
import { loadSettings } from '../src/config/load/load.ts';

/** Where model servers listen when they are started without options. */
const LOCAL_SERVERS = [
  { id: 'ollama', name: 'Ollama', port: 11434 },
  { id: 'lmstudio', name: 'LM Studio', port: 1234 },
  { id: 'llamacpp', name: 'llama.cpp', port: 8080 },
  { id: 'vllm', name: 'vLLM', port: 8000 },
] as const;

export interface LocalServer {
  readonly id: string;
  readonly name: string;
  readonly baseURL: string;
}

/** Providers that have a key in the environment or in the user's svc.jsonc. */
export async function providersWithKeys(): Promise<readonly string[]> {
  const { env, platform } = process;
  const settings = await loadSettings({ env, platform, home: homedir(), folders: [], trustedWorkspace: true });
  const registry = buildRegistry({ settings, catalog: await loadSnapshot(), env });
  return [...registry.providers.values()]
    .filter(({ endpoint }) => endpoint.apiKey !== undefined)
    .map(({ name }) => name);
}

/** Model servers on loopback that answer with a list of models. */
export async function localServers(): Promise<readonly LocalServer[]> {
  const found = await Promise.all(LOCAL_SERVERS.map(probe));
  return found.filter((server) => server !== undefined);
}

async function probe({ id, name, port }: (typeof LOCAL_SERVERS)[number]): Promise<LocalServer | undefined> {
  const baseURL = `http://127.0.0.1:${port}/v1`;
  try {
    const response = await fetch(`${baseURL}/models`, { signal: AbortSignal.timeout(500) });
    const body: unknown = await response.json();
    const lists = typeof body === 'object' && body !== null && 'data' in body && Array.isArray(body.data);
    return response.ok && lists ? { id, name, baseURL } : undefined;
  } catch {
    // No server, or a server without models.
    return undefined;
  }
}
