import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { COMMANDS } from '../../src/cli/command-table.ts';
import { lastUsedFile, lastUsedStore } from '../../src/cli/input/last-used.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { svc, svcProcess } from './run-svc.ts';

const TWO = {
  provider: {
    b: {
      options: { baseURL: 'http://127.0.0.1:1', apiKey: 'CANARY-KEY' },
      models: { z: {}, 'org/a:1': { cost: { input: 1, cache_read: 2 }, variants: { v: { x: 1 } } } },
    },
    a: { options: { baseURL: 'http://127.0.0.1:1' }, models: { Z: {}, m: {} } },
  },
};

describe('svc models', () => {
  it('svc models: prints sorted references, one per line', async () => {
    using folder = new ProjectFolder();
    folder.global(TWO);
    assert.deepEqual(await svc(folder, ['models']), { code: 0, out: 'a/Z\na/m\nb/org/a:1\nb/z\n', err: '' });
    assert.equal((await svc(folder, ['models', '--provider', 'b'])).out, 'b/org/a:1\nb/z\n');
  });

  it('svc models --json: uses the field names of the configuration', async () => {
    using folder = new ProjectFolder();
    folder.global(TWO);
    const { out } = await svc(folder, ['models', '--provider', 'b', '--json']);
    assert.ok(!out.includes('CANARY-KEY'));
    assert.deepEqual(JSON.parse(out), [
      {
        id: 'b/org/a:1',
        provider: 'b',
        name: 'org/a:1',
        limit: { context: 0, output: 0 },
        cost: { input: 1, output: 0, cache_read: 2 },
        modalities: { input: ['text'], output: ['text'] },
        reasoning: false,
        tool_call: true,
        attachment: false,
        variants: ['v'],
        source: 'config',
      },
      {
        id: 'b/z',
        provider: 'b',
        name: 'z',
        limit: { context: 0, output: 0 },
        cost: null,
        modalities: { input: ['text'], output: ['text'] },
        reasoning: false,
        tool_call: true,
        attachment: false,
        variants: [],
        source: 'config',
      },
    ]);
  });

  it('svc models: the output in a pipe is complete and sorted', async () => {
    using folder = new ProjectFolder();
    folder.env.OPENROUTER_API_KEY = 'k';
    const models = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`model-${index}`.padEnd(60, 'x'), {}]),
    );
    folder.global({ provider: { p: { options: { baseURL: 'http://127.0.0.1:1' }, models } } });
    const { code, out } = await svcProcess(folder, ['models']);
    const lines = out.trimEnd().split('\n');
    assert.equal(code, 0);
    assert.ok(lines.length > 5_300, String(lines.length));
    assert.deepEqual(lines, [...lines].sort());
  });

  it('svc models: requests the list of a provider without models, and warns if that fails', async () => {
    using folder = new ProjectFolder();
    let authorization: string | undefined;
    const server = createServer((request, response) => {
      if (request.url !== '/v1/models') response.writeHead(404).end();
      else {
        authorization = request.headers.authorization;
        response.end(JSON.stringify({ data: [{ id: 'two' }, { id: 'one' }, { object: 'model' }] }));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    const baseURL = `http://127.0.0.1:${address.port}/v1`;
    folder.global({
      provider: { here: { options: { baseURL, apiKey: 'k' } }, gone: { options: { baseURL: `${baseURL}/x` } } },
    });
    const { out, err, code } = await svc(folder, ['models']);
    server.close();
    server.closeAllConnections();
    assert.deepEqual([code, out], [0, 'here/one\nhere/two\n']);
    assert.equal(authorization, 'Bearer k');
    assert.match(err, /Could not list the models of gone: .*404/);
  });

  it('svc models: an unknown provider or flag exits with 2 and a suggestion, without a stack', async () => {
    using folder = new ProjectFolder();
    folder.global({ provider: { mistral: {} } });
    const unknown = await svc(folder, ['models', '--provider', 'mistrall']);
    assert.deepEqual(
      [unknown.code, unknown.out, unknown.err],
      [2, '', 'svc: The provider mistrall does not exist. Did you mean mistral?\n'],
    );
    const flag = await svc(folder, ['models', '--jsn']);
    assert.equal(flag.code, 2);
    assert.doesNotMatch(flag.err, /\n\s+at /);
  });

  it('svc models: a project cannot add a line with a line break in an id', async () => {
    using folder = new ProjectFolder();
    const options = { baseURL: 'http://127.0.0.1:1' };
    folder.write('project/svc.jsonc', {
      provider: { q: { options, models: { 'm\nopenai/gpt-5': {}, n: {} } }, 'r\ns/m': { options, models: { n: {} } } },
    });
    const { out, err } = await svc(folder, ['models']);
    assert.equal(out, 'q/n\n');
    assert.match(err, /^error: .*: provider\.q\.models\.m␊openai\/gpt-5: .*\nerror: .*: provider\.r␊s\/m: .*\n$/);
  });

  it('svc models: a server cannot add a line with a line break in a listed id', async () => {
    using folder = new ProjectFolder();
    const server = createServer((_request, response) => {
      response.end(JSON.stringify({ data: [{ id: 'one\nopenai/gpt-5' }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    folder.write('project/svc.jsonc', {
      provider: { q: { options: { baseURL: `http://127.0.0.1:${address.port}` } } },
    });
    const { out } = await svc(folder, ['models']);
    server.close();
    server.closeAllConnections();
    assert.equal(out, 'q/one␊openai/gpt-5\n');
  });

  it('svc models: exits with 1 for an invalid managed configuration', async () => {
    using folder = new ProjectFolder();
    folder.write('managed/svc.json', '{');
    const { code, out, err } = await svc(folder, ['models']);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /managed/);
  });
});

describe('svc config', () => {
  it('svc config: a project cannot add a line with a line break in a key or a reference', async () => {
    using folder = new ProjectFolder();
    const options = { baseURL: 'http://127.0.0.1:1', 'x\n  other: 1 model': 1, apiKey: '{file:x\nforged}' };
    const model = 'm\nerror: forged/m';
    folder.write('project/svc.jsonc', { model, 'k\u001b[2J\nerror: forged': 1, provider: { q: { options } } });
    const { out, err } = await svc(folder, ['config']);
    assert.doesNotMatch(`${out}${err}`, /^( *other|error: forged|forged)/m);
    assert.doesNotMatch(`${out}${err}`, /[^\P{Cc}\n]/u);
    assert.match(out, /^ {4}options\.x␊ {2}other: 1 model: 1 /m);
    assert.match(err, /k␛\[2J␊error: forged: This key is not known/);
    const chat = await svc(folder, ['chat', 'hi']);
    assert.doesNotMatch(chat.err, /^error: forged/m);
  });

  it('svc config --json: prints sources, diagnostics, models and providers without credentials', async () => {
    using folder = new ProjectFolder();
    folder.env.KEY = 'CANARY-ENV';
    const file = folder.global({
      model: 'a/m',
      provider: {
        a: {
          options: {
            apiKey: '{env:KEY}',
            baseURL: 'https://h/v1?key=CANARY-QUERY',
            headers: { Authorization: 'Bearer CANARY-HEADER' },
            accessToken: 'CANARY-OPTION',
            nested: { password: 'CANARY-NESTED', list: ['{env:KEY}'] },
          },
          models: { m: { headers: { 'x-api-key': 'CANARY-MODEL' } } },
        },
      },
      gateway: { organizations: { o: { byok: { a: 'CANARY-BYOK' } } } },
    });
    const { code, out } = await svc(folder, ['config', '--json']);
    assert.equal(code, 0);
    assert.ok(!out.includes('CANARY'), out);
    const report: unknown = JSON.parse(out);
    assert.ok(
      typeof report === 'object' &&
        report !== null &&
        'sources' in report &&
        'providers' in report &&
        'model' in report,
    );
    assert.equal(report.model, 'a/m');
    assert.ok(Array.isArray(report.sources));
    assert.deepEqual(report.sources[1], { path: file, kind: 'global', trusted: true, status: 'loaded' });
    assert.match(JSON.stringify(report.providers), /"apiKey":\{"set":true,"from":"[^"]*svc\.jsonc:6"\}/);
    assert.ok('origins' in report);
    assert.match(JSON.stringify(report.origins), /"provider\.a\.options\.apiKey":"[^"]*svc\.jsonc:6:19"/);
    const plain = await svc(folder, ['config']);
    assert.ok(!plain.out.includes('CANARY'));
    assert.match(plain.out, /^ {4}options\.apiKey: set, not shown {2}\(.*svc\.jsonc:6:19\)$/m);
    assert.match(plain.out, /^ {4}options\.baseURL: "https:\/\/h\/v1\?…" {2}\(.*svc\.jsonc:7:20\)$/m);
  });

  it('svc config: exits with 1 for an error and with 0 for a warning', async () => {
    using folder = new ProjectFolder();
    folder.global({ modle: 'x' });
    assert.equal((await svc(folder, ['config', '--json'])).code, 0);
    folder.global({ model: 5 });
    const { code, out, err } = await svc(folder, ['config']);
    assert.equal(code, 1);
    assert.match(err, /^error: .*svc\.jsonc:2:12: model: This must be a model as <provider_id>\/<model_id>/);
    assert.match(out, /Sources/);
  });

  it('svc config: an unknown model is an error that names file and line, with exit code 1', async () => {
    using folder = new ProjectFolder();
    const models = { m: {} };
    for (const key of ['model', 'completionModel']) {
      for (const ref of ['own/n', 'other/m']) {
        const file = folder.global({ [key]: ref, provider: { own: { options: { baseURL: 'https://h/v1' }, models } } });
        const { code, err } = await svc(folder, ['config']);
        assert.equal(code, 1);
        assert.ok(err.startsWith(`error: ${file}:2:`), err);
      }
    }
  });

  it('svc config path: prints the file to edit', async () => {
    using folder = new ProjectFolder();
    assert.equal((await svc(folder, ['config', 'path'])).out, `${folder.home}/.config/svc/svc.jsonc\n`);
    const json = folder.global({}, 'svc.json');
    assert.equal((await svc(folder, ['config', 'path'])).out, `${json}\n`);
    assert.equal((await svc(folder, ['config', 'pth'])).code, 2);
  });

  it('svc config: warns of an unknown provider', async () => {
    using folder = new ProjectFolder();
    const file = folder.global('{"provider": {"mistrl": {"options": {"apiKey": "k"}}}}');
    const { code, err } = await svc(folder, ['config']);
    assert.equal(code, 0);
    assert.match(err, /^warning: .*: provider\.mistrl: .*Did you mean `mistral`\?\n$/);
    assert.ok(err.includes(`${file}:1:15:`));
  });
});

describe('svc', () => {
  it('svc: prints its commands, and an error with a suggestion for an unknown command', async () => {
    using folder = new ProjectFolder();
    assert.match((await svc(folder, ['--help'])).out, /models .*\n[\s\S]*config /);
    assert.equal((await svc(folder, [])).code, 2);
    assert.deepEqual(await svc(folder, ['modles']), {
      code: 2,
      out: '',
      err: 'svc: Unknown command "modles". Did you mean `svc models`?\n',
    });
    assert.match((await svc(folder, ['models', '--help'])).out, /^svc models \[--provider ID\]/);
  });

  it('svc: loads a command only if it is called, and prints its errors without a stack', async () => {
    using folder = new ProjectFolder();
    const broken = {
      name: 'broken',
      usage: '',
      summary: '',
      examples: [],
      load: async () => ({ run: async () => Promise.reject(new Error('It broke.')) }),
    };
    const never = { name: 'never', usage: '', summary: '', examples: [], load: () => assert.fail('loaded') };
    assert.deepEqual(await svc(folder, ['broken'], [broken, never]), { code: 1, out: '', err: 'svc: It broke.\n' });
  });

  it('svc config: names the variable of a reference and counts listed models', async () => {
    using folder = new ProjectFolder();
    const upstream = await startUpstream((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"data":[{"id":"a"},{"id":"b"}]}');
    });
    try {
      const options = { baseURL: `${upstream.url}/v1`, apiKey: '{env:ACME_KEY}' };
      folder.env.ACME_KEY = 'CANARY-ACME';
      folder.global({ provider: { acme: { options } } });
      const { out } = await svc(folder, ['config']);
      assert.match(out, /acme: 2 listed models, key from \{env:ACME_KEY\}/);
      assert.match(out, /options\.apiKey: set, not shown {2}\(\{env:ACME_KEY\} in \S+svc\.jsonc/);
      assert.ok(!out.includes('CANARY-ACME'));
    } finally {
      await upstream.close();
    }
  });

  it('svc config: shows the models in force and where each choice comes from', async () => {
    using folder = new ProjectFolder();
    const options = { baseURL: 'http://127.0.0.1:1' };
    const provider = { local: { options, fim: 'openai-completions', models: { plain: {}, coder: {} } } };
    folder.global({ model: 'local/plain', provider });
    const { out } = await svc(folder, ['config']);
    assert.match(out, /\nModel: local\/plain {2}\(\S+svc\.jsonc?:2:12\)\n/);
    assert.match(out, /\nCompletion model: local\/coder {2}\(selected automatically\)\n/);
    folder.global({});
    assert.match((await svc(folder, ['config'])).out, /\nModel: none\nCompletion model: none\n/);
  });

  it('svc: suggests an option for an unknown one, and names the help', async () => {
    using folder = new ProjectFolder();
    const { code, err } = await svc(folder, ['serve', '--prot', '1']);
    assert.deepEqual([code, err], [2, 'svc: Unknown option --prot. Did you mean --port? Options: svc serve --help\n']);
  });

  it('svc models: without models, says how to begin on standard error', async () => {
    using folder = new ProjectFolder();
    const { code, out, err } = await svc(folder, ['models']);
    assert.deepEqual([code, out], [0, '']);
    assert.match(
      err,
      /^No models are available\. Set a provider’s key, for example MISTRAL_API_KEY, or add a provider/,
    );
  });

  it('svc: the help of each command has examples', async () => {
    using folder = new ProjectFolder();
    for (const { name } of COMMANDS) {
      assert.match((await svc(folder, [name, '--help'])).out, /\nExamples:\n {2}\S*.*svc /, name);
    }
  });

  it('lastUsedStore: returns the last used models, latest first, and ignores a damaged file', async () => {
    using folder = new ProjectFolder();
    const io = { env: { XDG_STATE_HOME: `${folder.root}/state` }, platform: 'linux', home: folder.home } as const;
    const store = lastUsedStore(io);
    assert.deepEqual(await store.read(), []);
    for (const ref of ['a/1', 'a/2', 'a/1', 'a/3', 'a/4', 'a/5', 'a/6']) await store.write(ref);
    assert.deepEqual(await store.read(), ['a/6', 'a/5', 'a/4', 'a/3', 'a/1']);
    assert.match(readFileSync(lastUsedFile(io), 'utf8'), /^\{"recent":\[/);
    for (const damaged of ['', '{"recent": 5}', '{"recent": [1]}']) {
      writeFileSync(lastUsedFile(io), damaged);
      assert.deepEqual(await store.read(), []);
    }
  });
});
