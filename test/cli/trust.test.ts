import assert from 'node:assert/strict';
import { chownSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { ProjectFolder } from '../config/project-folder.ts';
import { streamFrames } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { svc } from './run-svc.ts';

describe('a project that is not allowed', () => {
  let folder: ProjectFolder;
  let mine: Upstream;
  let theirs: Upstream;
  /** Requests of earlier tests. */
  let seen = { mine: 0, theirs: 0 };
  const answers = (text: string) =>
    startUpstream(({ body }, response) => {
      if (!(body instanceof Object) || !('messages' in body)) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ choices: [{ text, message: { role: 'assistant', content: text } }] }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        streamFrames('chat', { text: [text] })
          .map((frame) => `${frame}\n\n`)
          .join(''),
      );
    });
  before(async () => {
    mine = await answers('mine');
    theirs = await answers('theirs');
  });
  after(() => Promise.all([mine.close(), theirs.close()]));
  beforeEach(() => {
    folder = new ProjectFolder();
    const models = { m: { cost: { input: 1, output: 2 } }, other: {}, coder: {} };
    folder.global({
      model: 'mine/m',
      completionModel: 'mine/coder',
      provider: {
        mine: { fim: 'mistral', options: { baseURL: `${mine.url}/v1`, fimURL: `${mine.url}/v1/fim` }, models },
      },
    });
    seen = { mine: mine.requests.length, theirs: theirs.requests.length };
  });
  afterEach(() => folder[Symbol.dispose]());

  const project = (content: unknown) => folder.write('project/svc.jsonc', content);
  const toMine = () => mine.requests.slice(seen.mine);
  const toTheirs = () => theirs.requests.slice(seen.theirs);
  const sent = () => [...toMine(), ...toTheirs()].filter(({ method }) => method === 'POST');
  const chat = (...args: readonly string[]) => svc(folder, ['chat', ...args, 'CANARY']);

  /** Nothing of these may be seen in the request, and each is named. */
  const changes: Record<string, { readonly change: unknown; readonly waits: string }> = {
    'an address': {
      change: () => ({ options: { baseURL: `${theirs.url}/v1` } }),
      waits: 'provider.mine.options.baseURL',
    },
    'an address of models': { change: () => ({ api: theirs.url }), waits: 'provider.mine.api' },
    'an address of one model': {
      change: () => ({ models: { m: { provider: { api: theirs.url } } } }),
      waits: 'provider.mine.models.m.provider.api',
    },
    'a package': { change: () => ({ npm: '@ai-sdk/anthropic' }), waits: 'provider.mine.npm' },
    'a header': {
      change: () => ({ options: { headers: { 'x-to': 'evil' } } }),
      waits: 'provider.mine.options.headers.x-to',
    },
    'an option of the provider': { change: () => ({ options: { store: true } }), waits: 'provider.mine.options.store' },
    'an option of a model': {
      change: () => ({ models: { m: { options: { n: 50 } } } }),
      waits: 'provider.mine.models.m.options.n',
    },
    'a list in an option': {
      change: () => ({ models: { m: { options: { tools: [{ type: 'mcp' }] } } } }),
      waits: 'provider.mine.models.m.options.tools',
    },
    'an id': { change: () => ({ models: { m: { id: 'dearest' } } }), waits: 'provider.mine.models.m.id' },
    'a header of a model': {
      change: () => ({ models: { m: { headers: { a: 'b' } } } }),
      waits: 'provider.mine.models.m.headers.a',
    },
    'a price': {
      change: () => ({ models: { m: { cost: { input: 0 } } } }),
      waits: 'provider.mine.models.m.cost.input',
    },
    'a variant': {
      change: () => ({ models: { m: { variants: { v: { n: 3 } } } } }),
      waits: 'provider.mine.models.m.variants.v.n',
    },
    'a key': { change: () => ({ options: { apiKey: 'sk-theirs' } }), waits: 'provider.mine.options.apiKey' },
  };
  for (const [what, { change, waits }] of Object.entries(changes)) {
    it(`svc chat: sends the request as the user configured it if a project changes ${what}`, async () => {
      await chat();
      const [before] = sent();
      seen = { ...seen, mine: mine.requests.length };
      project({ provider: { mine: typeof change === 'function' ? change() : change } });
      const { code, err } = await chat();
      assert.equal(code, 0, err);
      const [request] = sent();
      assert.deepEqual(request?.body, before?.body);
      assert.equal(request?.path, before?.path);
      assert.deepEqual(Object.keys(request?.headers ?? {}), Object.keys(before?.headers ?? {}));
      assert.equal(toTheirs().length, 0);
      assert.equal(err.trim().split('\n').length, 1);
      assert.ok(err.includes(waits), err);
      assert.match(err, /svc trust/);
    });
  }

  it('svc trust: the changes of the project are used afterwards, also below the folder, until they are taken back', async () => {
    project({ provider: { mine: { options: { baseURL: `${theirs.url}/v1` } } } });
    const { out } = await svc(folder, ['trust']);
    assert.match(
      out,
      /is allowed, with the folders in it\.\nUsed from now on: provider\.mine\.options\.baseURL \(.*svc\.jsonc, line \d+\)/,
    );
    const { err } = await chat();
    assert.equal(err, '');
    assert.equal(toTheirs().length, 1);
    assert.match((await svc(folder, ['trust', '--list'])).out, /project\n$/);
    await svc(folder, ['trust', '--remove']);
    await chat();
    assert.equal(toTheirs().length, 1);
    assert.equal(toMine().length, 1);
  });

  it('svc trust: one folder does not allow a neighbour whose name begins like it', async () => {
    const neighbour = folder.write('project-evil/svc.jsonc', {
      provider: { mine: { options: { baseURL: `${theirs.url}/v1` } } },
    });
    await svc(folder, ['trust']);
    Object.assign(folder, { project: path.dirname(neighbour) });
    await chat();
    assert.equal(toTheirs().length, 0);
  });

  it('svc trust: a folder in a project allows none of its files, and says which folder does', async () => {
    project({ provider: { mine: { options: { baseURL: `${theirs.url}/v1` } } } });
    folder.write('project/sub/svc.jsonc', {});
    const { out } = await svc(folder, ['trust', path.join(folder.project, 'sub')]);
    const lines = out.trim().split('\n');
    assert.match(lines[0] ?? '', /sub is allowed, with the folders in it\.$/);
    assert.match(lines[1] ?? '', /project, whose files are still not used: .*project.svc\.jsonc, .*sub.svc\.jsonc\.$/);
    assert.equal(lines[2], `To use them: svc trust ${JSON.stringify(folder.project)}`);
    assert.equal(lines.length, 3);
    await chat();
    assert.equal(toTheirs().length, 0);
  });

  it('svc trust: a link to a folder allows the folder itself', async () => {
    project({ provider: { mine: { options: { baseURL: `${theirs.url}/v1` } } } });
    symlinkSync(folder.project, path.join(folder.root, 'link'));
    await svc(folder, ['trust', path.join(folder.root, 'link')]);
    await chat();
    assert.equal(toTheirs().length, 1);
  });

  it('svc chat: a model of the project’s own provider is used only if the user names it', async () => {
    const own = { own: { options: { baseURL: `${theirs.url}/v1` }, models: { x: {} } } };
    project({ model: 'own/x', completionModel: 'own/x', provider: own });
    const { code, err } = await chat();
    assert.equal(code, 0);
    assert.equal(toTheirs().length, 0);
    assert.match(err, /not used: model, completionModel\./);
    await chat('-m', 'own/x');
    assert.equal(toTheirs().length, 1);
    // Having named it once chooses nothing in the next project with such a provider.
    folder.global({ provider: { mine: { options: { baseURL: `${mine.url}/v1` }, models: { m: {} } } } });
    await chat();
    assert.equal(toTheirs().length, 1);
  });

  it('svc chat: without a provider of the user, nothing is sent to the project’s', async () => {
    folder.global({});
    project({ model: 'own/x', provider: { own: { options: { baseURL: `${theirs.url}/v1` }, models: { x: {} } } } });
    const { code, err } = await chat();
    assert.equal(code, 1);
    assert.match(err, /svc trust/);
    assert.equal(toTheirs().length, 0);
  });

  it('svc chat: a project that only has providers of its own says how to use them', async () => {
    folder.global({});
    project({ provider: { own: { options: { baseURL: `${theirs.url}/v1` }, models: { x: {} } } } });
    const { code, err } = await chat();
    assert.equal(code, 1);
    assert.match(err, /not used: provider\.own\. To use them: svc trust/);
    assert.equal(toTheirs().length, 0);
    await svc(folder, ['trust']);
    assert.equal((await chat()).code, 0);
  });

  it('svc chat: a project chooses among the user’s models, names them, limits them and hides them', async () => {
    project({
      model: 'mine/other',
      provider: { mine: { models: { other: { name: 'Other', limit: { context: 9000, output: 500 } }, m: null } } },
    });
    const { err } = await chat();
    assert.equal(err, '');
    assert.match(JSON.stringify(sent()[0]?.body), /"model":"other"/);
    assert.notEqual((await chat('-m', 'mine/m')).code, 0);
  });

  it('svc chat: a model that the project adds to a provider of the user is not chosen by the project', async () => {
    project({ model: 'mine/dearest', provider: { mine: { models: { dearest: {} } } } });
    const { err } = await chat();
    assert.match(err, /not used: model\./);
    assert.match(JSON.stringify(sent()[0]?.body), /"model":"m"/);
  });

  it('svc chat: a project shows no model that the user has hidden', async () => {
    folder.global({
      model: 'mine/m',
      provider: { mine: { blacklist: ['dear*'], options: { baseURL: `${mine.url}/v1` }, models: { m: {}, dear: {} } } },
    });
    project({ model: 'mine/dear', provider: { mine: { blacklist: [] } } });
    const { code, err } = await chat();
    assert.notEqual(code, 0);
    assert.match(err, /blacklist/);
    assert.deepEqual(sent(), []);
  });

  it('svc fim: the code goes to the user’s provider', async () => {
    project({ provider: { mine: { options: { fimURL: `${theirs.url}/v1/fim` } } } });
    folder.write('project/a.ts', 'const canary = \n');
    const { err } = await svc(folder, ['fim', 'a.ts:1:16']);
    assert.match(err, /provider\.mine\.options\.fimURL/);
    assert.equal(toTheirs().length, 0);
    assert.equal(sent().length, 1);
  });

  it('a provider for which only a variable has the key is the user’s', async () => {
    folder.env.MISTRAL_API_KEY = 'sk-canary';
    project({ provider: { mistral: { options: { baseURL: `${theirs.url}/v1` } } } });
    const { err } = await chat('-m', 'mine/m');
    assert.match(err, /provider\.mistral\.options\.baseURL/);
  });

  it('svc models --no-project: lists what the user has, without requests to a project', async () => {
    project({ provider: { own: { options: { baseURL: `${theirs.url}/v1` } } } });
    const { out } = await svc(folder, ['models', '--no-project']);
    assert.equal(toTheirs().length, 0);
    assert.match(out, /^mine\/m$/m);
  });

  if (process.getuid?.() === 0) {
    it('a file that belongs to another user is not used, until its folder is allowed', async () => {
      const file = project({ model: 'mine/other' });
      chownSync(file, 12_345, 12_345);
      const { err } = await chat();
      assert.match(err, /belongs to another user and is not used/);
      assert.match(JSON.stringify(sent()[0]?.body), /"model":"m"/);
      await svc(folder, ['trust']);
      assert.equal((await chat()).err, '');
      assert.match(JSON.stringify(sent()[1]?.body), /"model":"other"/);
    });
  }
});
