import assert from 'node:assert/strict';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
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

  /** Sources: zed-industries/zed#38936, #48729; openshift/lightspeed-service#2955. */
  const LINKS: Record<string, (places: { home: string; other: string }) => (model: string) => void> = {
    'a file in another folder, which is written': ({ home, other }) => {
      symlinkSync(path.join(other, 'svc.jsonc'), path.join(home, 'svc.jsonc'));
      return (model) => writeFileSync(path.join(other, 'svc.jsonc'), JSON.stringify({ model }));
    },
    'a file in another folder, which is replaced': ({ home, other }) => {
      symlinkSync(path.join(other, 'svc.jsonc'), path.join(home, 'svc.jsonc'));
      return (model) => {
        writeFileSync(path.join(other, 'new'), JSON.stringify({ model }));
        renameSync(path.join(other, 'new'), path.join(other, 'svc.jsonc'));
      };
    },
    'a chain of relative links': ({ home, other }) => {
      mkdirSync(path.join(other, 'deep'));
      symlinkSync(path.join('deep', 'last.jsonc'), path.join(other, 'svc.jsonc'));
      symlinkSync(path.relative(home, path.join(other, 'svc.jsonc')), path.join(home, 'svc.jsonc'));
      return (model) => writeFileSync(path.join(other, 'deep', 'last.jsonc'), JSON.stringify({ model }));
    },
    'a volume of Kubernetes, whose ..data is swapped': ({ home }) => {
      symlinkSync(path.join('..data', 'svc.jsonc'), path.join(home, 'svc.jsonc'));
      return (model) => {
        mkdirSync(path.join(home, `..${model.slice(2)}`));
        writeFileSync(path.join(home, `..${model.slice(2)}`, 'svc.jsonc'), JSON.stringify({ model }));
        symlinkSync(`..${model.slice(2)}`, path.join(home, '..data_tmp'));
        renameSync(path.join(home, '..data_tmp'), path.join(home, '..data'));
      };
    },
  };
  for (const [name, link] of Object.entries(LINKS)) {
    it(`SettingsStore: follows svc.jsonc as a link to ${name}`, async () => {
      using folder = new ProjectFolder();
      const home = path.join(folder.home, '.config/svc');
      const other = path.join(folder.home, 'dotfiles');
      for (const each of [home, other]) mkdirSync(each, { recursive: true });
      const write = link({ home, other });
      write('a/1');
      const store = new SettingsStore(() => folder.input(), { debounceMs: 5, settleMs: 20 });
      await store.refresh();
      await store.watch();
      assert.equal(store.current.model?.value, 'a/1');
      for (const model of ['a/2', 'a/3']) {
        const changed = next(store, (settings) => settings.model?.value === model);
        write(model);
        await changed;
      }
      store.dispose();
    });
  }

  it('SettingsStore: follows a key file of a Kubernetes secret', async () => {
    using folder = new ProjectFolder();
    const secret = path.join(folder.home, 'secret');
    mkdirSync(secret);
    const swap = (key: string) => {
      mkdirSync(path.join(secret, `..${key}`));
      writeFileSync(path.join(secret, `..${key}`, 'key'), key);
      symlinkSync(`..${key}`, path.join(secret, '..data_tmp'));
      renameSync(path.join(secret, '..data_tmp'), path.join(secret, '..data'));
    };
    swap('first');
    symlinkSync(path.join('..data', 'key'), path.join(secret, 'key'));
    folder.global({ provider: { p: { options: { apiKey: `{file:${path.join(secret, 'key')}}` } } } });
    const store = new SettingsStore(() => folder.input(), { debounceMs: 5, settleMs: 20 });
    await store.refresh();
    await store.watch();
    for (const key of ['second', 'third']) {
      const changed = next(store, ({ providers }) => providers.get('p')?.apiKey?.secret.reveal() === key);
      swap(key);
      await changed;
    }
    store.dispose();
  });

  it('SettingsStore: finds a change that the system does not report', async () => {
    using folder = new ProjectFolder();
    const file = folder.global({ model: 'a/1' });
    // Writing through another name of the file is not reported in its own folder.
    const other = path.join(folder.home, 'other-name');
    linkSync(file, other);
    const store = new SettingsStore(() => folder.input(), { debounceMs: 5, settleMs: 20, checkMs: 20 });
    await store.refresh();
    await store.watch();
    const changed = next(store, ({ model }) => model?.value === 'a/unreported');
    writeFileSync(other, '{"model": "a/unreported"}');
    await changed;
    store.dispose();
  });

  it('SettingsStore: a link to itself is a missing file', async () => {
    using folder = new ProjectFolder();
    const home = path.join(folder.home, '.config/svc');
    mkdirSync(home, { recursive: true });
    symlinkSync('svc.jsonc', path.join(home, 'svc.jsonc'));
    const store = new SettingsStore(() => folder.input(), { debounceMs: 5, settleMs: 20 });
    await store.refresh();
    await store.watch();
    const changed = next(store, ({ model }) => model?.value === 'a/real');
    rmSync(path.join(home, 'svc.jsonc'));
    folder.global({ model: 'a/real' });
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
