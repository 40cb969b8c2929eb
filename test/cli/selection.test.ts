import assert from 'node:assert/strict';
import { ProjectFolder } from '../config/project-folder.ts';
import { streamFrames } from '../upstream/answers.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { svc } from './run-svc.ts';

/** Sources: anomalyco/opencode#819, #1433, #6338, #10407. Each input once sent the prompt to another provider. */
describe('terminal: the model is selected after the lists of models are there', () => {
  let folder: ProjectFolder;
  let listing: Upstream;
  let other: Upstream;
  const server = (models: readonly string[], text: string) =>
    startUpstream(({ path, method }, response) => {
      if (method === 'GET') {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
      } else if (path.includes('/fim') || path.endsWith('/v1/completions')) {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ choices: [{ text, message: { role: 'assistant', content: text } }] }));
      } else {
        response.setHeader('content-type', 'text/event-stream');
        response.end(
          streamFrames('chat', { text: [text] })
            .map((frame) => `${frame}\n\n`)
            .join(''),
        );
      }
    });
  beforeEach(async () => {
    folder = new ProjectFolder();
    folder.env.SVC_DISABLE_CATALOG_REFRESH = '1';
    listing = await server(['listed-coder'], 'listing');
    other = await server(['other-model'], 'other');
  });
  afterEach(async () => {
    await Promise.all([listing.close(), other.close()]);
    folder[Symbol.dispose]();
  });

  const posts = (upstream: Upstream) => upstream.requests.filter(({ method }) => method === 'POST').length;
  /** Requests for the list of models. */
  const gets = (upstream: Upstream) => upstream.requests.filter(({ path }) => path === '/v1/models').length;
  /** A provider whose models only its server knows. */
  const unlisted = () => ({ options: { baseURL: `${listing.url}/v1` } });
  /** Found without a request, but after the one above in the configuration. */
  const known = () => ({ fim: 'mistral', options: { baseURL: `${other.url}/v1` }, models: { 'aaa-coder': {} } });
  const modelOf = async (line: string) => {
    const { out } = await svc(folder, ['config']);
    return new RegExp(`^${line}: (\\S+)`, 'm').exec(out)?.[1];
  };

  it('chat: an own provider without models precedes a provider that only has a key', async () => {
    folder.env.OPENAI_API_KEY = 'CANARY-KEY';
    folder.global({ provider: { lmstudio: unlisted() } });
    assert.equal(await modelOf('Model'), 'lmstudio/listed-coder');
    assert.deepEqual(await svc(folder, ['chat', 'hello']), { code: 0, out: 'listing\n', err: '' });
  });

  it('chat and fim: nothing is sent while the own file can’t be read', async () => {
    const file = folder.global('{"provider": {"other": }');
    folder.env.SVC_CONFIG_CONTENT = JSON.stringify({ provider: { other: known() } });
    const text = folder.write('a.ts', 'const a = 1;\n');
    for (const args of [
      ['chat', 'hello'],
      ['chat', '-m', 'other/aaa-coder', 'hello'],
      ['fim', `${text}:1:1`],
      ['edit', `${text}:1:1`],
    ]) {
      const { code, out, err } = await svc(folder, args);
      assert.deepEqual([code, out], [1, ''], err);
      assert.ok(err.startsWith(`svc: ${file}:1:24: A value is expected. Nothing is sent`), err);
    }
    folder.global({});
    folder.env.SVC_CONFIG = 'none.jsonc';
    assert.match(
      (await svc(folder, ['chat', 'hello'])).err,
      /none\.jsonc \(from SVC_CONFIG\) does not exist\. Nothing/,
    );
    assert.equal(posts(other), 0);
    delete folder.env.SVC_CONFIG_CONTENT;
    delete folder.env.SVC_CONFIG;
    // A project's file is not the user's.
    folder.global({ provider: { lmstudio: unlisted() } });
    folder.write('project/svc.json', '{');
    const { code, out } = await svc(folder, ['chat', 'hello']);
    assert.deepEqual([code, out], [0, 'listing\n']);
  });

  it('chat: an own provider without models precedes a project’s provider with models', async () => {
    folder.global({ provider: { lmstudio: unlisted() } });
    folder.write('project/svc.json', { provider: { theirs: known() } });
    for (const allowed of [false, true]) {
      if (allowed) await svc(folder, ['trust', '.']);
      assert.equal(await modelOf('Model'), 'lmstudio/listed-coder');
      assert.equal((await svc(folder, ['chat', 'hello'])).out, 'listing\n');
    }
    assert.equal(posts(other), 0);
  });

  it('chat: does not ask a project’s server for its models before the project is allowed', async () => {
    folder.global({ provider: { lmstudio: unlisted() } });
    folder.write('project/svc.json', { provider: { theirs: { options: { baseURL: `${other.url}/v1` } } } });
    assert.equal((await svc(folder, ['chat', 'hello'])).out, 'listing\n');
    assert.equal(gets(other), 0);
    assert.equal((await svc(folder, ['chat', '-m', 'theirs/other-model', 'hello'])).out, 'other\n');
  });

  it('chat: the last used model is found in a list', async () => {
    folder.global({ provider: { known: known(), lmstudio: unlisted() } });
    await svc(folder, ['chat', '-m', 'lmstudio/listed-coder', 'hello']);
    assert.equal(await modelOf('Model'), 'lmstudio/listed-coder');
    assert.equal((await svc(folder, ['chat', 'hello'])).out, 'listing\n');
  });

  it('chat: a last used model that its server no longer has leads to the next rule', async () => {
    folder.global({ provider: { known: known(), lmstudio: unlisted() } });
    await svc(folder, ['chat', '-m', 'lmstudio/listed-coder', 'hello']);
    folder.global({ provider: { known: known(), lmstudio: { ...unlisted(), blacklist: ['listed-coder'] } } });
    assert.equal(await modelOf('Model'), 'known/aaa-coder');
    assert.equal((await svc(folder, ['chat', 'hello'])).out, 'other\n');
  });

  it('fim: an own server without models precedes a provider that only has a key', async () => {
    folder.env.MISTRAL_API_KEY = 'CANARY-KEY';
    folder.global({ provider: { ollama: { ...unlisted(), fim: 'mistral' } } });
    folder.write('project/a.ts', 'const a = ');
    assert.equal(await modelOf('Completion model'), 'ollama/listed-coder');
    const { out, code } = await svc(folder, ['fim', 'a.ts:1:11']);
    assert.deepEqual({ code, out: out.trim() }, { code: 0, out: 'listing' });
  });

  it('chat: a model that is known needs no list, and a named one only that of its provider', async () => {
    folder.global({ model: 'known/aaa-coder', provider: { lmstudio: unlisted(), known: known() } });
    await svc(folder, ['chat', 'hello']);
    assert.deepEqual([gets(listing), gets(other)], [0, 0]);
    folder.global({ provider: { lmstudio: unlisted(), second: { options: { baseURL: `${other.url}/v1` } } } });
    await svc(folder, ['chat', '-m', 'second/other-model', 'hello']);
    // Servers on this machine are also asked for the window that they serve.
    assert.deepEqual([gets(listing), gets(other) > 0], [0, true]);
  });

  it('chat: a server that does not answer is named, and the next provider is used', async () => {
    const gone = { options: { baseURL: 'http://127.0.0.1:1/v1' } };
    folder.global({ provider: { lmstudio: gone, known: known() } });
    const { out, err } = await svc(folder, ['chat', 'hello']);
    assert.equal(out, 'other\n');
    assert.match(err, /Could not list the models of lmstudio/);
  });
});
