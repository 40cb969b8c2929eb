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

/** The model of a command and the transport for its requests. */
export interface CliModelChoice {
  readonly model: Model;
  readonly transport: UndiciTransport;
  /** Maximum output tokens. */
  readonly outputCap: number;
  readonly simulated: boolean;
}

/**
 * Selects the model for a command in the order of the specification: flag, configuration, last used, first by priority.
 *
 * @throws SvcError for an unknown model, and if no model is configured.
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
  for (const warning of warnings) await io.err(`warning: ${warning.message}\n`);
  if (model === undefined) throw noModel(use);
  if (use === 'chat' && flag !== undefined) await remember(store, model.ref, io);
  const { cap, warning } = outputCap(io.env);
  if (warning !== undefined) await io.err(`warning: ${warning}\n`);
  const simulated = registry.providers.get(model.provider)?.simulated ?? false;
  return { model, transport, outputCap: cap, simulated };
}

/** Requests model lists only if the wanted model is not known without them, to avoid an unnecessary wait. */
async function withListed(
  registry: Registry,
  wanted: string | undefined,
  io: Io,
  transport: Transport,
): Promise<Registry> {
  if (wanted === undefined ? registry.models.size > 0 : registry.find(wanted) !== undefined) return registry;
  const unlisted = (id: string, reason: string) => io.err(`warning: Could not list the models of ${id}: ${reason}\n`);
  return listedRegistry(registry, { listModels: modelLister(transport), unlisted }, io.signal);
}

async function remember(store: ReturnType<typeof lastUsedStore>, ref: string, io: Io): Promise<void> {
  try {
    await store.write(ref);
  } catch (thrown) {
    // A read-only home folder must not prevent an answer.
    await io.err(
      `warning: Could not store the last used model: ${thrown instanceof Error ? thrown.message : thrown}\n`,
    );
  }
}

function noModel(use: 'chat' | 'completion'): SvcError {
  return new SvcError({
    errorType: 'configuration_error',
    message: use === 'chat' ? 'No model is set up.' : 'No model that can complete code is set up.',
    action:
      'Set a provider’s key, for example MISTRAL_API_KEY, or configure a provider in svc.jsonc: `svc config path`.',
  });
}
