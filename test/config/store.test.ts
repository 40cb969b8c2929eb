import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EMPTY_CATALOG } from '../../src/catalog/public/catalog.ts';
import { buildRegistry } from '../../src/catalog/registry/registry.ts';
import { SettingsStore } from '../../src/config/load/store.ts';
import type { Settings } from '../../src/config/settings/settings.ts';
import { ProjectFolder } from './project-folder.ts';

/** Resolves with the first snapshot that matches. */
function next(store: SettingsStore, fits: (settings: Settings) => boolean): Promise<Settings> {
  return new Promise((resolve) => {
    const listening = store.onChange((settings) => {
      if (!fits(settings)) return;
      listening.dispose();
      resolve(settings);
    });
  });
}

describe('the settings store', () => {
  it('SettingsStore: returns the current snapshot and reports new ones until dispose', async () => {
    using folder = new ProjectFolder();
    const store = new SettingsStore(() => folder.input());
    assert.throws(() => store.current, /before their first load/);
    folder.global({ model: 'a/1' });
    const seen: (string | undefined)[] = [];
    const listening = store.onChange(({ model }) => seen.push(model?.value));
    await store.refresh();
    assert.equal(store.current.model?.value, 'a/1');
    folder.global({ model: 'a/2' });
    await store.refresh();
    listening.dispose();
    folder.global({ model: 'a/3' });
    await store.refresh();
    assert.deepEqual(seen, ['a/1', 'a/2']);
    assert.equal(store.current.model?.value, 'a/3');
    store.dispose();
  });

  it('SettingsStore: many simultaneous refreshes are two loads, and the last one reads the newest file', async () => {
    using folder = new ProjectFolder();
    let loads = 0;
    const store = new SettingsStore(() => folder.input());
    store.onChange(() => loads++);
    folder.global({ model: 'a/1' });
    const first = store.refresh();
    folder.global({ model: 'a/2' });
    const others = await Promise.all([store.refresh(), store.refresh(), store.refresh()]);
    await first;
    assert.equal(loads, 2);
    assert.deepEqual(
      others.map(({ model }) => model?.value),
      ['a/2', 'a/2', 'a/2'],
    );
    store.dispose();
  });

  it('SettingsStore: watches written, replaced, new and referenced files', async () => {
    using folder = new ProjectFolder();
    const store = new SettingsStore(() => folder.input(), { debounceMs: 5, settleMs: 20 });
    await store.refresh();
    await store.watch();
    let changed = next(store, ({ model }) => model?.value === 'a/project');
    writeFileSync(path.join(folder.project, 'svc.json'), '{"model": "a/project"}');
    await changed;
    changed = next(store, ({ completionModel }) => completionModel?.value === 'a/global');
    folder.global({ completionModel: 'a/global' });
    await changed;
    changed = next(store, ({ completionModel }) => completionModel?.value === 'a/replaced');
    const part = folder.write('part.json', {
      completionModel: 'a/replaced',
      provider: { p: { options: { apiKey: '{file:k}' } } },
    });
    renameSync(part, path.join(folder.home, '.config/svc/svc.jsonc'));
    await changed;
    changed = next(store, ({ providers }) => providers.get('p')?.apiKey?.secret.reveal() === 'new');
    folder.write('home/.config/svc/k', 'new');
    await changed;
    store.dispose();
  });

  it('SettingsStore: the settings are never empty during a save', async () => {
    using folder = new ProjectFolder();
    const file = folder.global({ model: 'a/1' });
    // The first read happens during the save; the save is complete at the second read.
    let finish: (() => void) | undefined;
    let looks = 0;
    const store = new SettingsStore(
      () => {
        looks++;
        if (looks === 2) finish?.();
        return folder.input();
      },
      { settleMs: 1 },
    );
    await store.refresh();
    const seen: (string | undefined)[] = [];
    store.onChange(({ model }) => seen.push(model?.value));
    for (const begin of [() => truncateSync(file), () => rmSync(file)]) {
      begin();
      looks = 0;
      finish = () => writeFileSync(file, '{"model": "a/2"}');
      await store.refresh();
    }
    assert.deepEqual(seen, ['a/2', 'a/2']);
    writeFileSync(file, '{"model": "a/');
    await store.refresh();
    assert.deepEqual(seen.at(-1), 'a/2');
    store.dispose();
  });

  it('SettingsStore: a file that remains missing is removed, and an invalid one keeps its last content', async () => {
    using folder = new ProjectFolder();
    const file = folder.global({ model: 'a/1' });
    const store = new SettingsStore(() => folder.input(), { settleMs: 5 });
    await store.refresh();
    writeFileSync(file, '{"model": "a/');
    assert.equal((await store.refresh()).model?.value, 'a/1');
    rmSync(file);
    assert.equal((await store.refresh()).model, undefined);
    store.dispose();
  });

  it('SettingsStore: on every load, a key of the file in SVC_CONFIG is withheld from the address of a project', async () => {
    using folder = new ProjectFolder();
    const options = { baseURL: 'https://good.example/v1', apiKey: '{env:GOOD_KEY}' };
    const named = folder.write('project/svc.jsonc', { provider: { p: { options, models: { m: {} } } } });
    folder.write('project/sub/svc.jsonc', { provider: { p: { options: { baseURL: 'https://evil.example/v1' } } } });
    const env = { ...folder.env, SVC_CONFIG: named, GOOD_KEY: 'CANARY-KEY' };
    const store = new SettingsStore(() => folder.input({ env, cwd: path.join(folder.project, 'sub') }));
    for (const load of ['first', 'second', 'third']) {
      const settings = await store.refresh();
      const { endpoint } = buildRegistry({ settings, catalog: EMPTY_CATALOG, env }).find('p/m') ?? {};
      assert.equal(settings.providers.get('p')?.apiKey?.trusted, true, load);
      assert.equal(endpoint?.baseURL, 'https://evil.example/v1', load);
      assert.equal(endpoint?.apiKey, undefined, load);
      assert.equal(endpoint?.withheld?.to, 'https://evil.example', load);
    }
    store.dispose();
  });

  it('SettingsStore: reads its input for every load', async () => {
    using folder = new ProjectFolder();
    let trustedWorkspace = false;
    mkdirSync(path.join(folder.project, 'x'));
    folder.write('project/svc.json', { model: 'a/1' });
    const store = new SettingsStore(() => folder.input({ trustedWorkspace }));
    assert.equal((await store.refresh()).model, undefined);
    trustedWorkspace = true;
    assert.equal((await store.refresh()).model?.value, 'a/1');
    store.dispose();
  });
});
