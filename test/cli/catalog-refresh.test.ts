import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { ProjectFolder } from '../config/project-folder.ts';
import { svc, svcProcess } from './run-svc.ts';

const MODEL = { id: 'brand-new', name: 'Brand New', modalities: { input: ['text'], output: ['text'] }, limit: {} };
const CATALOG = { openai: { name: 'OpenAI', npm: '@ai-sdk/openai', env: [], models: { 'brand-new': MODEL } } };

describe('catalog refresh in the terminal', () => {
  let folder: ProjectFolder;
  let server: Server;
  let cacheFile: string;
  let requests: { readonly request: IncomingMessage; readonly response: ServerResponse }[];

  beforeEach(async () => {
    folder = new ProjectFolder();
    requests = [];
    server = createServer((request, response) => {
      requests.push({ request, response });
      server.emit('catalogRequest');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    folder.env.SVC_CATALOG_URL = `http://127.0.0.1:${address.port}/api.json`;
    folder.env.SVC_DISABLE_CATALOG_REFRESH = undefined;
    folder.env.XDG_CACHE_HOME = path.join(folder.root, 'cache');
    cacheFile = path.join(folder.root, 'cache/svc/models.json');
    folder.global({ provider: { openai: { options: { apiKey: 'k' } } } });
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
    folder[Symbol.dispose]();
  });

  /** Runs a command in this process and collects the commands that it would start detached. */
  async function leftBy(args: readonly string[]) {
    const left: (readonly string[])[] = [];
    const finished = await svc(folder, args, undefined, '', (rest) => left.push(rest));
    return { ...finished, left };
  }

  /** Resolves when the detached process has written the cache. */
  async function cacheWritten(): Promise<void> {
    mkdirSync(path.dirname(cacheFile), { recursive: true });
    const watcher = watch(path.dirname(cacheFile));
    while (!existsSync(cacheFile)) await once(watcher, 'change');
    watcher.close();
  }

  /** Sets the time of the last refresh to more than an hour ago. */
  function anHourPasses(): void {
    const { checked: _checked, ...cache } = existsSync(cacheFile) ? JSON.parse(readFileSync(cacheFile, 'utf8')) : {};
    if (existsSync(cacheFile)) writeFileSync(cacheFile, JSON.stringify({ ...cache, checked: 0 }));
    for (const file of [cacheFile, `${cacheFile}.asked`]) if (existsSync(file)) utimesSync(file, 0, 0);
  }

  const answered = (finished: { readonly response: ServerResponse }) => {
    finished.response.setHeader('etag', '"1"');
    finished.response.end(JSON.stringify(CATALOG));
  };

  it('catalog refresh: a command starts a detached process and does not wait for it', async () => {
    const asked = once(server, 'catalogRequest');
    // The server answers after the command has ended.
    const first = await svcProcess(folder, ['models']);
    assert.deepEqual([first.code, first.err], [0, '']);
    assert.doesNotMatch(first.out, /brand-new/);
    await asked;
    assert.equal(existsSync(cacheFile), false);
    for (const each of requests) answered(each);
    await cacheWritten();
    const second = await svcProcess(folder, ['models']);
    assert.match(second.out, /^openai\/brand-new$/m);
    assert.equal(requests.length, 1);
  });

  it('catalog refresh: only one command an hour starts a refresh, even if it fails', async () => {
    assert.deepEqual((await leftBy(['models'])).left, [['models', '--refresh']]);
    assert.deepEqual((await leftBy(['models'])).left, []);
    assert.deepEqual((await leftBy(['chat', '-m', 'openai/none', 'Hi'])).left, []);
    anHourPasses();
    assert.deepEqual((await leftBy(['chat', '-m', 'openai/none', 'Hi'])).left, [['models', '--refresh']]);
  });

  it('catalog refresh: does not run if refreshing is disabled', async () => {
    folder.env.SVC_DISABLE_CATALOG_REFRESH = '1';
    assert.deepEqual((await leftBy(['models'])).left, []);
    folder.env.SVC_DISABLE_CATALOG_REFRESH = undefined;
    folder.global({ catalog: { refresh: false } });
    assert.deepEqual((await leftBy(['models'])).left, []);
    const { err, left } = await leftBy(['models', '--refresh']);
    assert.match(err, /disabled/);
    assert.deepEqual([left, requests.length], [[], 0]);
  });

  it('svc models --refresh: requests the catalog with its ETag, at most once an hour', async () => {
    server.once('catalogRequest', () => requests.forEach(answered));
    const first = await leftBy(['models', '--refresh']);
    assert.match(first.out, /^openai\/brand-new$/m);
    assert.deepEqual(first.left, []);
    await leftBy(['models', '--refresh']);
    assert.equal(requests.length, 1);
    anHourPasses();
    server.once('catalogRequest', () => requests.at(-1)?.response.writeHead(304).end());
    assert.match((await leftBy(['models', '--refresh'])).out, /^openai\/brand-new$/m);
    assert.equal(requests.length, 2);
    assert.equal(requests[1]?.request.headers['if-none-match'], '"1"');
  });

  it('svc models --refresh: a failed request is a warning with the reason', async () => {
    server.once('catalogRequest', () => requests.at(-1)?.response.writeHead(500).end());
    const { code, err } = await leftBy(['models', '--refresh']);
    assert.deepEqual(
      [code, err],
      [0, 'warning: Could not refresh the model catalog: The model catalog answered 500.\n'],
    );
  });
});
