import { outputCap } from '../../catalog/limits.ts';
import type { Model } from '../../catalog/model.ts';
import {
  providersToListBefore,
  selectCompletionModel,
  selectEditModel,
  selectModel,
} from '../../catalog/model-selection.ts';
import type { Settings } from '../../config/settings/settings.ts';
import { type UndiciTransport, undiciTransport } from '../../provider/transport/undici-transport.ts';
import { SvcError } from '../../wire/errors/svc-error.ts';
import { openSendingContext, reportDiagnostics } from '../cli-context.ts';
import type { Io } from '../io.ts';
import { lastUsedStore } from './last-used.ts';
import { keyStoreNote, listModels } from './listed-models.ts';

/** The model of a command and the transport for its requests. */
export interface CliModelChoice {
  readonly model: Model;
  readonly transport: UndiciTransport;
  /** Maximum output tokens. */
  readonly outputCap: number;
  readonly simulated: boolean;
  /** The advice if the provider refuses requests for lack of a key. */
  readonly keyNote: string | undefined;
}

/** The purpose for which a command needs a model. */
type ModelUse = 'chat' | 'completion' | 'edit';

const SELECTIONS = {
  chat: ({ model }: Settings) => ({ configured: model, select: selectModel }),
  completion: ({ completionModel }: Settings) => ({ configured: completionModel, select: selectCompletionModel }),
  edit: ({ nextEditModel }: Settings) => ({ configured: nextEditModel, select: selectEditModel }),
};

const MISSING: Readonly<Record<ModelUse, string>> = {
  chat: 'No model is set up.',
  completion: 'No model that can complete code is set up.',
  edit: 'No model that can predict edits is set up. Mercury, Sweep and Zeta models can; `edit` in svc.jsonc adds others.',
};

/**
 * Selects the model for a command in the order of the specification: flag, configuration, last used, first by priority.
 *
 * @throws SvcError for an unknown model, and if no model is configured.
 */
export async function chooseModel(io: Io, use: ModelUse, flag: string | undefined): Promise<CliModelChoice> {
  const { settings, registry: known } = await openSendingContext(io);
  await reportDiagnostics(settings, io);
  const transport = undiciTransport({ localOnly: settings.localOnly });
  const { configured, select } = SELECTIONS[use](settings);
  const store = lastUsedStore(io);
  const lastUsed = use === 'chat' ? await store.read() : [];
  const question = { flag, settings, lastUsed, unknownConfigured: 'error' } as const;
  const providers = providersToListBefore({ ...question, registry: known }, configured?.value);
  const { registry, keyNote: listNote } = await listModels(known, transport, io, { providers });
  const { model, warnings } = select({ ...question, registry });
  for (const warning of warnings) await io.err(`warning: ${warning.message}\n`);
  if (model === undefined) throw noModel(use, listNote);
  if (use === 'chat' && flag !== undefined) await remember(store, model.ref, io);
  const { cap, warning } = outputCap(io.env);
  if (warning !== undefined) await io.err(`warning: ${warning}\n`);
  const simulated = registry.providers.get(model.provider)?.simulated ?? false;
  const keyNote = keyStoreNote(io, registry.providers.get(model.provider));
  return { model, transport, outputCap: cap, simulated, keyNote };
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

function noModel(use: ModelUse, note: string | undefined): SvcError {
  return new SvcError({
    errorType: 'configuration_error',
    message: MISSING[use],
    action:
      note ??
      'Set a provider’s key, for example MISTRAL_API_KEY, or configure a provider in svc.jsonc: `svc config path`.',
  });
}
