import { parseArgs } from 'node:util';
import { defined } from '../../base/json.ts';
import { nearMisses } from '../../base/near-miss.ts';
import { shortTokens } from '../../base/text.ts';
import type { Model } from '../../catalog/model.ts';
import type { Registry } from '../../catalog/registry/registry.ts';
import { largerWindow } from '../../catalog/served-window.ts';
import { loadSettings } from '../../config/load/load.ts';
import { undiciTransport } from '../../provider/transport/undici-transport.ts';
import { refreshNow } from '../catalog-refresh.ts';
import { type Context, openContext, reportDiagnostics, terminalInput, withoutProject } from '../cli-context.ts';
import { listModels } from '../input/listed-models.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { forTerminalLine } from '../output/output.ts';

/** `svc models`: prints `<provider_id>/<model_id>`, sorted, one per line. */
export async function run(args: string[], outer: Io): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS.models });
  const io = withoutProject(outer, values['no-project']);
  if (values.refresh) await refreshNow(await loadSettings(terminalInput(io)), io);
  const { spawnDetached: _, ...staying } = io;
  const context = await openContext(values.refresh ? staying : io);
  await reportDiagnostics(context.settings, io);
  const { registry, keyNote } = await withListed(context, io);
  const { provider } = values;
  if (provider !== undefined && !registry.providers.has(provider)) {
    const [near] = nearMisses(provider, registry.providers.keys());
    throw new UsageError(
      `The provider ${provider} does not exist.${near === undefined ? '' : ` Did you mean ${near}?`}`,
    );
  }
  const models = listed(registry).filter((model) => provider === undefined || model.provider === provider);
  if (models.length === 0 && !values.json) {
    await io.err(provider === undefined ? `${NO_MODELS}\n` : `The provider ${provider} has no models.\n`);
  }
  if (keyNote !== undefined) await io.err(`${keyNote}\n`);
  // Programs read the names from the output, one a line.
  if (!values.json) await io.err(models.map(windowNote).join(''));
  // Ids that a server lists are not checked like those in a file.
  const lines = () => models.map(({ ref }) => `${forTerminalLine(ref)}\n`).join('');
  await io.out(values.json ? `${JSON.stringify(models.map(describe), null, 2)}\n` : lines());
  return 0;
}

/** A line about a model whose server has less than it was trained for. */
function windowNote(model: Model): string {
  const { context = 0, trained = 0 } = model.served ?? {};
  if (trained <= context) return '';
  const command = largerWindow(model);
  const larger = command === undefined ? '' : ` For more: ${command}`;
  return `${forTerminalLine(`${model.ref}: ${shortTokens(context)} of ${shortTokens(trained)} served.${larger}`)}\n`;
}

const NO_MODELS =
  'No models are available. Set a provider’s key, for example MISTRAL_API_KEY, or add a provider to svc.jsonc. `svc config path` prints its path.';

/** Time limit for a model list, in milliseconds. */
const LIST_TIMEOUT_MS = 5_000;

async function withListed({ registry, settings }: Context, io: Io): ReturnType<typeof listModels> {
  const transport = undiciTransport({ env: io.env, localOnly: settings.localOnly });
  try {
    return await listModels(registry, transport, io, { timeout: LIST_TIMEOUT_MS });
  } finally {
    await transport.close();
  }
}

/**
 * Sorted by code unit, so that the order is the same on every machine. A provider that only an environment variable
 * adds and that can't be called is omitted.
 */
function listed(registry: Registry): readonly Model[] {
  const callable = (model: Model) =>
    model.endpoint.problem === undefined || registry.providers.get(model.provider)?.source === 'config';
  return [...registry.models.values()].filter(callable).sort((a, b) => (a.ref < b.ref ? -1 : 1));
}

function describeServed(model: Model) {
  const { context, trained } = model.served ?? {};
  return defined({ context, trained, larger: largerWindow(model) });
}

/** The JSON form of a model. The field names are those of the configuration. */
export function describe(model: Model) {
  const { cost } = model;
  return {
    id: model.ref,
    provider: model.provider,
    name: model.name,
    limit: model.limit,
    ...(model.served && { served: describeServed(model) }),
    cost:
      cost === undefined
        ? null
        : {
            input: cost.input,
            output: cost.output,
            ...defined({ cache_read: cost.cacheRead, cache_write: cost.cacheWrite, cache_write_1h: cost.cacheWrite1h }),
          },
    modalities: model.modalities,
    reasoning: model.reasoning,
    tool_call: model.toolCall,
    attachment: model.attachment,
    variants: [...model.variants.keys()],
    source: model.source,
  };
}
