import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Provider } from '../../catalog/model.ts';
import { type Selection, selectCompletionModel, selectModel } from '../../catalog/model-selection.ts';
import { loadSnapshot } from '../../catalog/public/snapshot.ts';
import type { Registry } from '../../catalog/registry/registry.ts';
import { registryDiagnostics } from '../../catalog/registry/registry-diagnostics.ts';
import { reportSettings, sourceLocation } from '../../config/editing/report.ts';
import { loadSettings } from '../../config/load/load.ts';
import { globalFolder } from '../../config/load/sources.ts';
import type { Located } from '../../config/settings/origin.ts';
import type { Settings } from '../../config/settings/settings.ts';
import type { SetValue } from '../../config/settings/values.ts';
import { undiciTransport } from '../../provider/transport/undici-transport.ts';
import {
  type Context,
  catalogOnDisk,
  forSending,
  registryFor,
  reportDiagnostics,
  terminalInput,
} from '../cli-context.ts';
import { lastUsedStore } from '../input/last-used.ts';
import { listModels } from '../input/listed-models.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';
import { forTerminalLine } from '../output/output.ts';

/** `svc config`: shows the configuration and its sources. The exit code is 1 if it contains an error. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: OPTIONS.config });
  const [word, ...more] = positionals;
  if (more.length > 0 || (word !== undefined && word !== 'path')) {
    throw new UsageError(`svc config supports only \`path\`, not ${JSON.stringify(more[0] ?? word)}.`);
  }
  if (word === 'path') {
    await io.out(`${ownFile(io)}\n`);
    return 0;
  }
  const { settings, registry, catalog } = await loadAndCompare(io);
  if (values.json) await io.out(`${JSON.stringify(reportSettings(settings), null, 2)}\n`);
  else {
    const listed = await listedModels(registry, settings, io);
    const used = await forSending(settings, catalog, io);
    // The same lists again, so their failures are not reported twice.
    const silent: Io = { ...io, err: async () => undefined };
    const available = used.settings === settings ? listed : await listedModels(used.registry, settings, silent);
    await io.out(describe(settings, listed, await modelsInForce(used.settings, available, io)));
    await reportDiagnostics(settings, io, true);
  }
  return settings.diagnostics.some(({ severity }) => severity === 'error') ? 1 : 0;
}

/** With the models that endpoints list, as in `svc models`. */
async function listedModels(registry: Registry, { localOnly }: Settings, io: Io): Promise<Registry> {
  const transport = undiciTransport({ env: io.env, localOnly });
  try {
    return (await listModels(registry, transport, io, { timeout: LIST_TIMEOUT_MS })).registry;
  } finally {
    await transport.close();
  }
}

/** Time limit for a model list, in milliseconds. */
const LIST_TIMEOUT_MS = 3_000;

/** The settings with the diagnostics that need the catalog. */
async function loadAndCompare(io: Io): Promise<Context> {
  const [settings, snapshot] = await Promise.all([loadSettings(terminalInput(io)), loadSnapshot()]);
  const catalog = await catalogOnDisk(settings, snapshot, io);
  const registry = await registryFor(settings, catalog, io);
  const found = registryDiagnostics(settings, registry, catalog, 'error');
  const compared = { ...settings, diagnostics: [...settings.diagnostics, ...found] };
  return { settings: compared, registry, catalog };
}

interface ModelsInForce {
  readonly chat: string;
  readonly completion: string;
}

/** The models that commands use if no model is given, and where each choice comes from. */
async function modelsInForce(settings: Settings, registry: Registry, io: Io): Promise<ModelsInForce> {
  const lastUsed = await lastUsedStore(io).read();
  const chat = selectModel({ settings, registry, lastUsed, unknownConfigured: 'warn' });
  const completion = selectCompletionModel({ settings, registry, unknownConfigured: 'warn' });
  return {
    chat: describeSelection(chat, settings.model),
    completion: describeSelection(completion, settings.completionModel),
  };
}

function describeSelection({ model, from }: Selection, configured: Located<string> | undefined): string {
  if (model === undefined) return 'none';
  if (from === 'config' && configured !== undefined) return `${model.ref}  (${sourceLocation(configured.origin)})`;
  return `${model.ref}  (${from === 'last-used' ? 'last used' : 'selected automatically'})`;
}

/** The user's configuration file. If several exist, the one with the highest precedence. */
function ownFile(io: Io): string {
  const folder = globalFolder(terminalInput(io));
  const [jsonc, json] = [path.join(folder, 'svc.jsonc'), path.join(folder, 'svc.json')];
  return existsSync(json) && !existsSync(jsonc) ? json : jsonc;
}

function describe(settings: Settings, registry: Registry, models: ModelsInForce): string {
  const report = reportSettings(settings);
  const sources = report.sources.filter(({ status }) => status !== 'missing');
  const lines = ['Sources (later sources override earlier ones):'];
  for (const { path: file, kind, trusted, status } of sources) {
    lines.push(
      `  ${file}  (${kind}, ${trusted ? 'trusted' : 'not trusted'}${status === 'loaded' ? '' : `, ${status}`})`,
    );
  }
  if (sources.length === 0) lines.push('  none');
  lines.push('', `Model: ${models.chat}`, `Completion model: ${models.completion}`, '', 'Providers:');
  for (const [id, provider] of settings.providers) {
    const known = registry.providers.get(id);
    const key = describeKey(settings, known, id);
    lines.push(
      `  ${id}: ${countModels(known)}, ${key}${provider.problem === undefined ? '' : `. ${provider.problem}`}`,
    );
    for (const value of settings.values.at(['provider', id])) {
      const [, , section] = value.path;
      // `null` marks an address that cannot be used. The line of the provider shows it.
      if (section !== 'models' && (value.value !== null || provider.problem === undefined))
        lines.push(`    ${value.path.slice(2).join('.')}: ${shown(value)}  (${describePlace(value)})`);
    }
  }
  if (settings.providers.size === 0) lines.push('  none');
  return lines.map((line) => `${forTerminalLine(line)}\n`).join('');
}

/** Where the key comes from: a reference, a file, an environment variable or the key store of VS Code. */
function describeKey(settings: Settings, provider: Provider | undefined, id: string): string {
  const [written] = settings.values.at(['provider', id, 'options', 'apiKey']);
  if (written !== undefined) return `key from ${written.reference ?? written.origin.source.path}`;
  const { apiKey } = provider?.endpoint ?? {};
  return apiKey === undefined ? 'no key' : `key from ${apiKey.origin.source.path}`;
}

function countModels(provider: Provider | undefined): string {
  const models = [...(provider?.models.values() ?? [])];
  const listed = models.filter(({ source }) => source === 'listed').length;
  const other = models.length - listed;
  const text = (count: number, kind: string) => `${count} ${kind}model${count === 1 ? '' : 's'}`;
  if (listed === 0) return text(other, '');
  return other === 0 ? text(listed, 'listed ') : `${text(other, '')}, ${text(listed, 'listed ')}`;
}

function describePlace({ origin, reference }: SetValue): string {
  const place = sourceLocation(origin);
  return reference === undefined ? place : `${reference} in ${place}`;
}

function shown({ secret, value }: SetValue): string {
  return secret ? 'set, not shown' : JSON.stringify(value);
}
