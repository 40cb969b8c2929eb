import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
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
import { catalogOnDisk, registryFor, reportDiagnostics, terminalInput } from '../cli-context.ts';
import { lastUsedStore } from '../input/last-used.ts';
import { type Io, UsageError } from '../io.ts';
import { OPTIONS } from '../options.ts';

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
  const { settings, registry } = await loadAndCompare(io);
  if (values.json) await io.out(`${JSON.stringify(reportSettings(settings), null, 2)}\n`);
  else {
    await io.out(describe(settings, await modelsInForce(settings, registry, io)));
    await reportDiagnostics(settings, io);
  }
  return settings.diagnostics.some(({ severity }) => severity === 'error') ? 1 : 0;
}

/** The settings with the diagnostics that need the catalog. */
async function loadAndCompare(io: Io): Promise<{ readonly settings: Settings; readonly registry: Registry }> {
  const [settings, snapshot] = await Promise.all([loadSettings(terminalInput(io)), loadSnapshot()]);
  const catalog = await catalogOnDisk(settings, snapshot, io);
  const registry = await registryFor(settings, catalog, io);
  const found = registryDiagnostics(settings, registry, catalog, 'error');
  const compared = { ...settings, diagnostics: [...settings.diagnostics, ...found] };
  return { settings: compared, registry };
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

function describe(settings: Settings, models: ModelsInForce): string {
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
    const key = provider.apiKey === undefined ? 'no key' : `key from ${provider.apiKey.origin.source.path}`;
    const models = `${provider.models.size} configured model${provider.models.size === 1 ? '' : 's'}`;
    lines.push(`  ${id}: ${models}, ${key}${provider.problem === undefined ? '' : `. ${provider.problem}`}`);
    for (const value of settings.values.at(['provider', id])) {
      const [, , section] = value.path;
      if (section !== 'models')
        lines.push(`    ${value.path.slice(2).join('.')}: ${shown(value)}  (${sourceLocation(value.origin)})`);
    }
  }
  if (settings.providers.size === 0) lines.push('  none');
  return `${lines.join('\n')}\n`;
}

function shown({ secret, value }: SetValue): string {
  return secret ? 'set, not shown' : JSON.stringify(value);
}
