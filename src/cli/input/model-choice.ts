import { outputCap } from '../../catalog/limits.ts';
import { listedRegistry } from '../../catalog/live-registry.ts';
import type { Model } from '../../catalog/model.ts';
import { selectCompletionModel, selectModel } from '../../catalog/model-selection.ts';
import type { Registry } from '../../catalog/registry/registry.ts';
import { modelLister } from '../../provider/list-models.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import { type UndiciTransport, undiciTransport } from '../../provider/transport/undici-transport.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { openContext, reportDiagnostics } from '../cli-context.ts';
import type { Io } from '../io.ts';
import { lastUsedStore } from './last-used.ts';

/** A model that a command talks to, and what it talks through. */
export interface CliModelChoice {
  readonly model: Model;
  readonly transport: UndiciTransport;
  /** Most tokens of an answer. */
  readonly outputCap: number;
  readonly simulated: boolean;
}

/**
 * The model for a command by the order of the specification: flag, configuration, last used, first by priority.
 *
 * @throws SvcError for a model that there is not, and where no model is set up at all.
 */
export async function chooseModel(
  io: Io,
  use: 'chat' | 'completion',
  flag: string | undefined,
): Promise<CliModelChoice> {
  const { settings, registry: known } = await openContext(io);
  await reportDiagnostics(settings, io);
  const transport = undiciTransport();
  const configured = use === 'chat' ? settings.model : settings.completionModel;
  const registry = await withListed(known, flag ?? configured?.value, io, transport);
  const store = lastUsedStore(io);
  const lastUsed = use === 'chat' ? await store.read() : [];
  const select = use === 'chat' ? selectModel : selectCompletionModel;
  const { model, warnings } = select({ flag, settings, lastUsed, registry, unknownConfigured: 'error' });
  for (const warning of warnings) await io.err(`warning: ${warning}\n`);
  if (model === undefined) throw noModel(use);
  if (use === 'chat' && flag !== undefined) await remember(store, model.ref, io);
  const { cap, warning } = outputCap(io.env);
  if (warning !== undefined) await io.err(`warning: ${warning}\n`);
  const simulated = registry.providers.get(model.provider)?.simulated ?? false;
  return { model, transport, outputCap: cap, simulated };
}

/** Asks endpoints for their models only where the wanted one is not known without: nobody waits for a list in vain. */
async function withListed(
  registry: Registry,
  wanted: string | undefined,
  io: Io,
  transport: Transport,
): Promise<Registry> {
  if (wanted === undefined ? registry.models.size > 0 : registry.find(wanted) !== undefined) return registry;
  const unlisted = (id: string, reason: string) => io.err(`warning: ${id} does not list its models: ${reason}\n`);
  return listedRegistry(registry, { listModels: modelLister(transport), unlisted }, io.signal);
}

async function remember(store: ReturnType<typeof lastUsedStore>, ref: string, io: Io): Promise<void> {
  try {
    await store.write(ref);
  } catch (thrown) {
    // A home that can't be written to is no reason not to answer.
    await io.err(`warning: the model is not remembered: ${thrown instanceof Error ? thrown.message : thrown}\n`);
  }
}

function noModel(use: 'chat' | 'completion'): SvcError {
  return new SvcError({
    errorType: 'configuration_error',
    message: use === 'chat' ? 'No model is set up.' : 'No model is set up that can complete code.',
    action: 'Set a provider’s key, for example MISTRAL_API_KEY, or name a provider in svc.jsonc: `svc config path`.',
  });
}
