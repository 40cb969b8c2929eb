/**
 * One process of test/bench/config.ts: what it measures, in milliseconds, is written to its output as JSON.
 * Arguments: the home folder and the number of its models. `cold` after them: the first load and registry alone.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Settings } from '../../src/config/settings/settings.ts';

async function measure(home: string, models: number, coldOnly: boolean): Promise<void> {
  const sample: Record<string, number> = {};
  let mark = performance.now();
  const step = (name: string) => {
    const now = performance.now();
    sample[name] = now - mark;
    mark = now;
  };
  const { loadSettings } = await import('../../src/config/load/load.ts');
  const { buildRegistry } = await import('../../src/catalog/registry/registry.ts');
  const { loadSnapshot } = await import('../../src/catalog/public/snapshot.ts');
  step('modules');
  const env = { BENCH_KEY: 'k', SVC_MANAGED_CONFIG_DIR: path.join(home, 'none') };
  const input = { env, platform: process.platform, home, cwd: home, trustedWorkspace: true };
  let settings: Settings | undefined;
  mark = performance.now();
  const cold = await longestStep(async () => {
    settings = await loadSettings(input);
    step('load, cold');
  });
  if (settings === undefined) throw new Error('Nothing was loaded.');
  sample['load, cold: longest step'] = cold;
  mark = performance.now();
  const catalog = await loadSnapshot();
  step('catalog');
  const registry = buildRegistry({ settings, catalog, env });
  step('registry, cold');
  if (registry.models.size !== models || settings.diagnostics.length > 0)
    throw new Error('The configuration was not read.');
  if (coldOnly) {
    console.log(JSON.stringify(sample));
    return;
  }
  for (let turn = 0; turn < 5; turn++) await loadSettings(input);
  mark = performance.now();
  await loadSettings(input);
  step('load, warm');
  sample['load, warm: longest step'] = await longestStep(() => loadSettings(input));
  mark = performance.now();
  buildRegistry({ settings, catalog, env });
  step('registry, warm');
  const text = readFileSync(path.join(home, '.config/svc/svc.jsonc'), 'utf8');
  mark = performance.now();
  JSON.parse(text);
  step('JSON.parse of the bytes');
  const { proposalsAt, providerKeys, subjectAt } = await import('../../src/config/editing/assist.ts');
  const end = text.lastIndexOf('"model-') + 3;
  const nothing = () => [];
  const knowledge = { providers: nothing, models: nothing, refs: nothing, variants: nothing, environment: nothing };
  // Requests of VS Code for a keystroke and a hover at the end of the file, the slowest position.
  const keystroke = () => {
    mark = performance.now();
    proposalsAt(text, end, knowledge);
    step('keystroke: completion');
    subjectAt(text, end);
    step('keystroke: hover');
    providerKeys(text);
    step('keystroke: code lenses');
  };
  for (let turn = 0; turn < 6; turn++) keystroke();
  console.log(JSON.stringify(sample));
}

/** The longest time that the event loop was blocked during `work`. */
async function longestStep(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let done = false;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!done) setImmediate(look);
  };
  setImmediate(look);
  await work();
  done = true;
  look();
  return longest;
}

const [home, models, coldOnly] = process.argv.slice(2);
if (home === undefined) throw new Error('Name the home folder whose .config/svc/svc.jsonc is read.');
await measure(home, Number(models), coldOnly === 'cold');
