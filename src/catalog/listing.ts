import type { Provider } from './model.ts';
import { providersToList, type Registry } from './registry.ts';

/** Ids that a provider's own list names. Rejects when it can't be asked. */
export type ListModels = (provider: Provider, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * The registry with the models that providers without any list themselves. All are asked at once; one
 * that fails is reported and stays empty.
 */
export async function fillListedModels(
  registry: Registry,
  list: ListModels,
  signal: AbortSignal,
  failed: (provider: string, reason: string) => void | Promise<void>,
): Promise<Registry> {
  const asked = providersToList(registry);
  const answers = await Promise.allSettled(asked.map((provider) => list(provider, signal)));
  let filled = registry;
  for (const [index, answer] of answers.entries()) {
    const id = asked[index]?.id ?? '';
    if (answer.status === 'fulfilled') filled = filled.withListedModels(id, answer.value);
    else await failed(id, answer.reason instanceof Error ? answer.reason.message : String(answer.reason));
  }
  return filled;
}
