import assert from 'node:assert/strict';
import { load } from '../../src/config/load/load.ts';
import { codes, ProjectFolder } from './project-folder.ts';

const provider = (over: object) => ({ provider: { p: { options: { baseURL: 'http://127.0.0.1:1/v1' }, ...over } } });

describe('configuration file', () => {
  const cases: readonly [string, string | Uint8Array, string, number, number][] = [
    ['a missing comma', '{\n  "model": "a/b"\n  "provider": {}\n}', 'syntax', 3, 3],
    ['single quotes', "{ 'model': 'a/b' }", 'syntax', 1, 3],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'unreadable', 1, 1],
    ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), 'unreadable', 1, 1],
    ['a NUL byte', '{"model": "a/b\u0000"}', 'unreadable', 1, 1],
    ['an array', '\n []', 'root-not-object', 2, 2],
    ['null', 'null', 'root-not-object', 1, 1],
    ['a string', '"x"', 'root-not-object', 1, 1],
    ['text after the object', '{} x', 'syntax', 1, 4],
    ['an open object', '{"model": "a/b"', 'syntax', 1, 16],
    ['10,000 levels', '{"a":'.repeat(10_000), 'too-deep', 1, 501],
    ['10,000 lists', `{"a":${'['.repeat(10_000)}`, 'too-deep', 1, 105],
    ['more than 1 MiB', `{"a":"${'x'.repeat(1024 * 1024)}"}`, 'unreadable', 1, 1],
  ];
  for (const [name, content, code, line, column] of cases) {
    it(`configuration file: rejects ${name} with its position`, async () => {
      using folder = new ProjectFolder();
      folder.global(content);
      const settings = await folder.load();
      const first = settings.diagnostics[0];
      assert.deepEqual([first?.code, first?.severity, first?.line, first?.column], [code, 'error', line, column]);
      assert.equal(settings.sources.find(({ path }) => path.endsWith('.config/svc/svc.jsonc'))?.status, 'invalid');
    });
  }

  for (const [name, content] of [
    ['a byte order mark', '\ufeff{"model":"a/b"}'],
    ['CRLF, comments and trailing commas', '// x\r\n{\r\n/* y */ "model": "a/b",\r\n}\r\n'],
  ] as const) {
    it(`configuration file: accepts ${name} in both names`, async () => {
      for (const file of ['svc.json', 'svc.jsonc']) {
        using folder = new ProjectFolder();
        folder.global(content, file);
        const settings = await folder.load();
        assert.equal(settings.model?.value, 'a/b');
        assert.deepEqual(settings.diagnostics, []);
      }
    });
  }

  for (const content of ['', ' \n', '// nothing yet\n', '/* x */']) {
    it(`configuration file: ${JSON.stringify(content)} is an empty object`, async () => {
      using folder = new ProjectFolder();
      folder.global(content);
      assert.deepEqual((await folder.load()).diagnostics, []);
    });
  }

  it('configuration file: the last of duplicate keys is used completely, with a warning', async () => {
    using folder = new ProjectFolder();
    folder.global('{"provider": {"p": {"name": "one", "whitelist": ["a"]},\n "p": {"name": "two"}}}');
    const settings = await folder.load();
    assert.equal(settings.providers.get('p')?.name, 'two');
    assert.equal(settings.providers.get('p')?.whitelist, undefined);
    const [diagnostic] = settings.diagnostics;
    assert.deepEqual(
      [diagnostic?.code, diagnostic?.severity, diagnostic?.line, diagnostic?.column, diagnostic?.key],
      ['duplicate-key', 'warning', 2, 2, 'provider.p'],
    );
  });

  it('configuration file: a syntax error after many duplicate keys is reported, and the file is not used', async () => {
    using folder = new ProjectFolder();
    folder.global(`{${'"model": "a/b",'.repeat(100)} "provider": {"p": {"options": {"baseURL": oops}}}`);
    const settings = await folder.load();
    const errors = settings.diagnostics.filter(({ severity }) => severity === 'error');
    assert.deepEqual([errors[0]?.code, errors[0]?.key], ['syntax', 'provider.p.options.baseURL']);
    assert.deepEqual([settings.model, settings.providers.size], [undefined, 0]);
  });

  it('configuration file: at most 50 syntax errors and 50 duplicate keys are reported', async () => {
    using folder = new ProjectFolder();
    folder.global(`{${'"model": "a/b",'.repeat(100)}${'x,'.repeat(100)}}`);
    const { diagnostics } = await folder.load();
    const count = (code: string) => diagnostics.filter((each) => each.code === code).length;
    assert.deepEqual([count('syntax'), count('duplicate-key')], [50, 50]);
  });

  it('configuration file: __proto__ and constructor are ordinary names', async () => {
    using folder = new ProjectFolder();
    folder.global(
      '{"provider": {"__proto__": {"name": "x", "models": {"constructor": {}, "__proto__": {"limit": {"context": 5}}}, "options": {"__proto__": {"polluted": true}}}}}',
    );
    const settings = await folder.load();
    const found = settings.providers.get('__proto__');
    assert.deepEqual([...(found?.models.keys() ?? [])], ['constructor', '__proto__']);
    assert.equal(found?.models.get('__proto__')?.limit?.context, 5);
    assert.equal(Reflect.get({}, 'polluted'), undefined);
    assert.equal(Object.getPrototypeOf(found?.options), Object.prototype);
  });

  it('configuration file: an unknown key gets a suggestion, and all other keys are applied', async () => {
    using folder = new ProjectFolder();
    folder.global({ ...provider({ modles: {}, name: 'kept' }), modle: 'a/b' });
    const settings = await folder.load();
    assert.equal(settings.providers.get('p')?.name, 'kept');
    const found = settings.diagnostics.map(({ severity, key, suggestion }) => [severity, key, suggestion]);
    assert.deepEqual(found, [
      ['warning', 'provider.p.modles', 'models'],
      ['warning', 'modle', 'model'],
    ]);
  });

  it('configuration file: omits only the invalid model', async () => {
    using folder = new ProjectFolder();
    folder.global(provider({ models: { good: { name: 'Good' }, bad: { limit: { output: 'x' } } } }));
    const settings = await folder.load();
    assert.deepEqual([...(settings.providers.get('p')?.models.keys() ?? [])], ['good']);
    const [diagnostic] = settings.diagnostics;
    assert.equal(diagnostic?.key, 'provider.p.models.bad.limit.output');
    assert.match(diagnostic?.message ?? '', /number of tokens/);
  });

  const wrong: readonly [string, object, string][] = [
    ['timeout true', { options: { timeout: true } }, 'provider.p.options.timeout'],
    ['timeout 0', { options: { timeout: 0 } }, 'provider.p.options.timeout'],
    ['timeout below 0', { options: { timeout: -1 } }, 'provider.p.options.timeout'],
    ['chunkTimeout false', { options: { chunkTimeout: false } }, 'provider.p.options.chunkTimeout'],
    ['chunkTimeout 1500.5', { options: { chunkTimeout: 1500.5 } }, 'provider.p.options.chunkTimeout'],
    ['chunkTimeout text', { options: { chunkTimeout: '15s' } }, 'provider.p.options.chunkTimeout'],
    ['a header that is a number', { options: { headers: { a: 1 } } }, 'provider.p.options.headers.a'],
    ['a header with a line break', { options: { headers: { a: 'x\r\ny: z' } } }, 'provider.p.options.headers.a'],
    ['a header name with a space', { options: { headers: { 'a b': 'x' } } }, 'provider.p.options.headers.a b'],
    ['a header that picks the host', { options: { headers: { Host: 'x' } } }, 'provider.p.options.headers.Host'],
    ['a dialect that is not known', { fim: 'mistrall' }, 'provider.p.fim'],
    [
      'modalities without output',
      { models: { m: { modalities: { input: ['text'] } } } },
      'provider.p.models.m.modalities.output',
    ],
    [
      'an unknown modality',
      { models: { m: { modalities: { input: ['text', 'smell'], output: [] } } } },
      'provider.p.models.m.modalities.input.1',
    ],
    ['a negative limit', { models: { m: { limit: { context: -5 } } } }, 'provider.p.models.m.limit.context'],
    ['whitelist text', { whitelist: 'a' }, 'provider.p.whitelist'],
    ['an address with a password', { options: { baseURL: 'https://me:secret@h/v1' } }, 'provider.p.options.baseURL'],
    ['an address that is not a URL', { options: { baseURL: 'h/v1' } }, 'provider.p.options.baseURL'],
  ];
  for (const [name, over, key] of wrong) {
    it(`configuration file: reports ${name} by its key`, async () => {
      using folder = new ProjectFolder();
      folder.global({ provider: { p: over, q: { name: 'q' } } });
      const settings = await folder.load();
      assert.deepEqual(
        settings.diagnostics.map((each) => [each.severity, each.key]),
        [['error', key]],
      );
      assert.equal(settings.providers.get('q')?.name, 'q');
      assert.ok(settings.providers.has('p'));
      assert.ok(!JSON.stringify(settings.diagnostics).includes('secret'));
    });
  }

  it('configuration file: suggests a similar value of an enumeration', async () => {
    using folder = new ProjectFolder();
    folder.global(
      provider({ fim: 'mistrall', models: { m: { modalities: { input: ['texts'], output: ['smell'] } } } }),
    );
    const found = (await folder.load()).diagnostics.map(({ suggestion, message }) => [
      suggestion,
      /Did you mean/.test(message),
    ]);
    assert.deepEqual(found, [
      ['mistral', true],
      ['text', true],
      [undefined, false],
    ]);
  });

  it('configuration file: accepts partial limits, timeout false and an empty modality list', async () => {
    using folder = new ProjectFolder();
    folder.global({
      provider: {
        p: {
          options: { timeout: false, chunkTimeout: 15000 },
          models: { m: { limit: { context: 10 }, modalities: { input: [], output: ['text'] } } },
        },
      },
    });
    const settings = await folder.load();
    assert.deepEqual(settings.diagnostics, []);
    assert.equal(settings.providers.get('p')?.timeout, false);
    assert.deepEqual(settings.providers.get('p')?.models.get('m')?.limit, { context: 10 });
  });

  it('configuration file: a valid provider remains if another file has an invalid value for it', async () => {
    using folder = new ProjectFolder();
    folder.global(provider({ name: 'mine' }));
    folder.write('project/svc.json', { provider: 'x' });
    const settings = await folder.load();
    assert.equal(settings.providers.get('p')?.name, 'mine');
    assert.deepEqual(
      settings.diagnostics.map(({ key, severity }) => [key, severity]),
      [['provider', 'error']],
    );
  });

  it('configuration file: an invalid address stops all requests to its provider', async () => {
    using folder = new ProjectFolder();
    folder.global({
      provider: {
        openai: { options: { baseURL: 5, apiKey: 'k' } },
        mistral: { options: { baseURL: '{env:NOT_SET}' } },
      },
    });
    const settings = await folder.load();
    assert.match(settings.providers.get('openai')?.problem ?? '', /options\.baseURL/);
    assert.match(settings.providers.get('mistral')?.problem ?? '', /options\.baseURL/);
  });

  const address = { baseURL: 'https://proxy.example/v1' };
  for (const [where, content] of Object.entries({
    'a misspelt key': { provider: { openai: { option: address } } },
    'options of options': { provider: { openai: { options: { openai: address } } } },
    'a list': { provider: { openai: [{ options: address }] } },
    'a list of options': { provider: { openai: { options: [address] } } },
    'a misspelt section': { providers: { openai: { base_url: 'https://proxy.example/v1' } } },
    'a section of its own': { openai: { options: address } },
  })) {
    it(`configuration file: an address in ${where} stops all requests to its provider`, async () => {
      using folder = new ProjectFolder();
      folder.global(content);
      const { providers } = await folder.load();
      assert.match(providers.get('openai')?.problem ?? '', /`api`\) cannot be used .*svc\.jsonc, line [2-5]\)/);
    });
  }

  for (const [where, model] of Object.entries({
    'of a wrong scheme': { provider: { api: 'ftp://a' } },
    'from a variable that is not set': { provider: { api: '{env:NOT_SET}' } },
    'in its options': { options: address },
    'in a variant': { variants: { high: address } },
    'one level too high': { api: address.baseURL },
  })) {
    it(`configuration file: a model with an address ${where} is not available, others are`, async () => {
      using folder = new ProjectFolder();
      folder.global({ provider: { openai: { models: { m: model, n: { provider: { api: address.baseURL } } } } } });
      const openai = (await folder.load()).providers.get('openai');
      // `null` hides the model of the public catalog.
      assert.equal(openai?.models.get('m')?.off, true);
      assert.equal(openai?.models.get('n')?.off, undefined);
      assert.equal(openai?.problem, undefined);
    });
  }

  it('configuration files: objects are merged, lists are replaced, null disables', async () => {
    using folder = new ProjectFolder();
    folder.global({
      provider: {
        p: {
          whitelist: ['a', 'b'],
          options: { apiKey: 'key', headers: { A: '1', Gone: 'x' } },
          models: { m: { name: 'M' }, n: { name: 'N', variants: { high: { effort: 1 }, low: {} } } },
        },
        off: {},
      },
    });
    folder.write('project/svc.json', {
      provider: {
        p: {
          whitelist: ['c'],
          options: { headers: { B: '2', gone: null } },
          models: { m: null, n: { variants: { high: null, low: { disabled: true }, mid: { disabled: false, x: 1 } } } },
        },
        off: null,
      },
    });
    const settings = await folder.load();
    const p = settings.providers.get('p');
    assert.deepEqual(p?.whitelist, ['c']);
    assert.deepEqual([...(p?.headers.keys() ?? [])].sort(), ['a', 'b']);
    assert.equal(p?.apiKey?.secret.reveal(), 'key');
    assert.equal(p?.models.get('m')?.off, true);
    assert.deepEqual(
      [...(p?.models.get('n')?.variants ?? [])],
      [
        ['high', null],
        ['low', null],
        ['mid', { x: 1 }],
      ],
    );
    assert.deepEqual([...settings.disabledProviders], ['off']);
    assert.ok(!settings.providers.has('off'));
  });

  it('configuration file: each value has its position', async () => {
    using folder = new ProjectFolder();
    const file = folder.global('{\n  "model": "a/b",\n  "provider": {\n    "p": {\n      "npm": "x"\n    }\n  }\n}');
    const { model, providers } = await folder.load();
    assert.deepEqual([model?.origin.source.path, model?.origin.line, model?.origin.column], [file, 2, 12]);
    assert.deepEqual([providers.get('p')?.npm?.origin.line, providers.get('p')?.npm?.origin.column], [5, 14]);
  });

  it('configuration file: the last valid content is used while the file is invalid', async () => {
    using folder = new ProjectFolder();
    folder.global({ model: 'a/first' });
    const first = await load(folder.input());
    folder.global('{"model": "a/sec');
    const second = await load(folder.input(), first.memory);
    assert.equal(second.settings.model?.value, 'a/first');
    assert.equal(second.settings.sources.find(({ status }) => status === 'last-good')?.kind, 'global');
    assert.ok(codes(second.settings).includes('syntax'));
    folder.global({ model: 'a/third' });
    assert.equal((await load(folder.input(), second.memory)).settings.model?.value, 'a/third');
  });

  it('configuration file: only an invalid managed file stops the program', async () => {
    using folder = new ProjectFolder();
    folder.global('{');
    assert.equal((await folder.load()).managedProblem, undefined);
    folder.write('managed/svc.json', '{\n "model": 5 }');
    assert.match((await folder.load()).managedProblem ?? '', /managed\/svc\.json.*line 2/);
  });

  it('configuration file: an organization with an invalid policy is omitted completely', async () => {
    using folder = new ProjectFolder();
    folder.global({
      gateway: {
        listen: { port: 0 },
        organizations: { a: { policy: { deny: [1] } }, b: { policy: { deny: ['{env:NO}'] } }, c: {} },
      },
    });
    const { gateway } = await folder.load();
    assert.deepEqual([...gateway.organizations.keys()], ['c']);
    assert.deepEqual(gateway.listen, { host: '127.0.0.1', port: 0 });
  });

  it('configuration file: gateway and variable names are read from trusted sources only', async () => {
    using folder = new ProjectFolder();
    folder.global({ gateway: { listen: { port: 4999 } }, provider: { p: { env: ['MINE'] } } });
    folder.write('project/svc.json', {
      gateway: { listen: { host: '0.0.0.0' } },
      provider: { p: { env: ['AWS_SECRET'] } },
    });
    const settings = await folder.load();
    assert.deepEqual(settings.gateway.listen, { host: '127.0.0.1', port: 4999 });
    assert.deepEqual(settings.providers.get('p')?.env, ['MINE']);
    assert.deepEqual(codes(settings).sort(), ['untrusted-env', 'untrusted-gateway']);
  });

  it('configuration file: a project cannot enable a provider that a trusted source disables', async () => {
    using folder = new ProjectFolder();
    folder.global({ provider: { p: null } });
    folder.write('project/svc.json', { provider: { p: { name: 'back' } } });
    assert.deepEqual([...(await folder.load()).disabledProviders], ['p']);
  });
});
