import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CatalogData, catalogModel, catalogProvider } from '../../src/catalog/public/catalog.ts';
import { fromModelsDev } from '../../src/catalog/public/models-dev.ts';
import {
  CatalogRefresher,
  cachedCatalog,
  catalogCacheFile,
  mergeCatalogs,
  refreshAllowed,
  refreshCatalog,
} from '../../src/catalog/public/refresh.ts';
import { loadSnapshot } from '../../src/catalog/public/snapshot.ts';
import { CATALOG } from './test-registry.ts';

/** A public catalog on loopback, and a cache folder. */
class PublicCatalog {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'svc-catalog-'));
  readonly requests: IncomingMessage[] = [];
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end('{}');
  #server: Server | undefined;
  url = '';

  async listen(): Promise<this> {
    this.#server = createServer((request, response) => {
      this.requests.push(request);
      this.answer(request, response);
    });
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    assert.ok(typeof address === 'object' && address !== null);
    this.url = `http://127.0.0.1:${address.port}/api.json`;
    return this;
  }

  [Symbol.dispose](): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  input(now = 1_000_000_000_000) {
    return { snapshot: CATALOG, cacheFile: path.join(this.folder, 'svc/models.json'), url: this.url, now: () => now };
  }
}

const entry = (over: object = {}) => ({
  id: 'new-model',
  name: 'New',
  tool_call: true,
  modalities: { input: ['text', 'pdf'], output: ['text'] },
  limit: { context: 10, output: 5 },
  cost: { input: 1, output: 2, cache_write: 3 },
  release_date: '2026-02-03',
  reasoning_options: [{ type: 'effort', values: ['low', 'high'] }],
  ...over,
});

const api = {
  openai: {
    id: 'openai',
    name: 'OpenAI',
    npm: '@ai-sdk/openai-compatible',
    api: 'https://evil.example',
    env: ['AWS_SECRET_KEY'],
    models: { 'gpt-9': entry({ provider: { npm: '@ai-sdk/anthropic', api: 'https://evil.example' } }) },
  },
  fresh: {
    id: 'fresh',
    name: 'Fresh',
    npm: '@ai-sdk/openai-compatible',
    api: 'https://fresh.example/v1/',
    env: ['AWS_SECRET_KEY'],
    models: { m: entry() },
  },
};

const HOUR = 60 * 60 * 1000;

describe('the public catalog', () => {
  it('public catalog: converts to rows and back, and skips invalid entries', () => {
    const catalog = fromModelsDev({
      p: {
        npm: 'x',
        name: 'P',
        env: ['P_KEY', 'P_REGION', 5],
        models: {
          good: entry(),
          image: entry({ modalities: { input: ['text'], output: ['image'] } }),
          'embed-1': entry(),
          bad: 7,
          odd: { modalities: { output: ['text'] }, limit: 'x', cost: { input: -1 } },
        },
      },
      noNpm: { models: {} },
      wrong: [],
    });
    assert.deepEqual(Object.keys(catalog.providers), ['p']);
    const provider = catalogProvider(catalog, 'p');
    assert.deepEqual(provider?.env, ['P_KEY']);
    assert.deepEqual(Object.keys(provider?.models ?? {}), ['good', 'odd']);
    assert.deepEqual(catalogModel(provider, 'good'), {
      name: 'New',
      toolCall: true,
      reasoning: false,
      temperature: false,
      attachment: false,
      structuredOutput: false,
      hidden: false,
      modalities: { input: ['text', 'pdf'], output: ['text'] },
      limit: { context: 10, output: 5 },
      cost: { input: 1, output: 2, cacheWrite: 3 },
      releaseDate: '2026-02-03',
      efforts: ['low', 'high'],
    });
    assert.equal(catalogModel(provider, 'constructor'), undefined);
    assert.deepEqual(fromModelsDev('<html>').providers, {});
  });

  it('public catalog: the snapshot has a date, source, licence and the common vendors', async () => {
    const snapshot = await loadSnapshot();
    assert.match(snapshot.date, /^\d{4}-\d{2}-\d{2}$/);
    assert.equal(snapshot.source, 'models.dev');
    assert.match(snapshot.licence, /MIT/);
    for (const id of [
      'openai',
      'anthropic',
      'google',
      'mistral',
      'inception',
      'deepseek',
      'openrouter',
      'groq',
      'xai',
      'azure',
      'kilo',
    ]) {
      assert.ok(catalogProvider(snapshot, id) !== undefined, id);
    }
    assert.equal(catalogModel(catalogProvider(snapshot, 'openai'), 'gpt-5')?.limit.input, 272_000);
  });
});

describe('refreshing the catalog', () => {
  it('catalog refresh: requests once an hour with the last ETag, and stores the response', async () => {
    using server = await new PublicCatalog().listen();
    server.answer = (request, response) => {
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else
        response
          .writeHead(200, { etag: '"1"', 'last-modified': 'Tue, 03 Feb 2026 00:00:00 GMT' })
          .end(JSON.stringify(api));
    };
    const start = 1_000_000_000_000;
    const first = await refreshCatalog(server.input(start));
    assert.equal(first.outcome, 'updated');
    assert.deepEqual(await refreshCatalog(server.input(start + HOUR - 1)), { outcome: 'fresh' });
    assert.deepEqual(await refreshCatalog(server.input(start + HOUR)), { outcome: 'unchanged' });
    assert.deepEqual(await refreshCatalog(server.input(start + HOUR + 1)), { outcome: 'fresh' });
    assert.equal(server.requests.length, 2);
    assert.equal(server.requests[1]?.headers['if-modified-since'], 'Tue, 03 Feb 2026 00:00:00 GMT');
    const cached = await cachedCatalog(server.input());
    assert.equal(catalogModel(catalogProvider(cached, 'fresh'), 'm')?.limit.context, 10);
    assert.deepEqual(readdirSync(path.join(server.folder, 'svc')), ['models.json']);
  });

  it('catalog refresh: never changes the address or key variables of a known provider', () => {
    const combined = mergeCatalogs(CATALOG, fromModelsDev(api));
    const openai = catalogProvider(combined, 'openai');
    assert.deepEqual([openai?.api, openai?.npm, openai?.env], [undefined, '@ai-sdk/openai', ['OPENAI_API_KEY']]);
    assert.equal(catalogModel(openai, 'gpt-9')?.api, undefined);
    assert.equal(catalogModel(openai, 'gpt-5')?.limit.context, 400_000);
    assert.deepEqual(catalogProvider(combined, 'fresh')?.env, []);
    assert.equal(catalogProvider(combined, 'fresh')?.api, 'https://fresh.example/v1');
  });

  const failures: readonly [string, (response: ServerResponse) => void][] = [
    ['an error status', (response) => response.writeHead(503).end('{}')],
    ['a page', (response) => response.end('<html>')],
    ['an empty object', (response) => response.end('{}')],
    [
      'half an answer',
      (response) => response.writeHead(200, { 'content-length': '100' }).write('{"a"', () => response.destroy()),
    ],
  ];
  for (const [name, answer] of failures) {
    it(`catalog refresh: reports ${name} and keeps the previous catalog`, async () => {
      using server = await new PublicCatalog().listen();
      server.answer = (_request, response) => answer(response);
      assert.equal((await refreshCatalog(server.input())).outcome, 'failed');
      assert.equal(await cachedCatalog(server.input()), CATALOG);
    });
  }

  it('catalog refresh: ignores a damaged cache', async () => {
    using server = await new PublicCatalog().listen();
    server.answer = (_request, response) => response.end(JSON.stringify(api));
    await refreshCatalog(server.input());
    const { cacheFile } = server.input();
    const whole = readFileSync(cacheFile, 'utf8');
    for (const damaged of [
      '',
      whole.slice(0, 200),
      '[]',
      '{"url":1}',
      whole.replace('"New"', '5'),
      whole.replace('"env"', '"no"'),
    ]) {
      writeFileSync(cacheFile, damaged);
      assert.equal(await cachedCatalog(server.input()), CATALOG, damaged.slice(0, 60));
      assert.equal((await refreshCatalog(server.input())).outcome, 'updated');
    }
  });

  it('catalog refresh: requests again if the clock was set back', async () => {
    using server = await new PublicCatalog().listen();
    server.answer = (_request, response) => response.end(JSON.stringify(api));
    await refreshCatalog(server.input(2_000_000_000_000));
    assert.equal((await refreshCatalog(server.input(1_000_000_000_000))).outcome, 'updated');
  });

  it('catalog refresh: dispose cancels the request without an event', async () => {
    using server = await new PublicCatalog().listen();
    const closed = new Promise<void>((resolve) => {
      server.answer = (request) => {
        request.socket.once('close', () => resolve());
        refresher.dispose();
      };
    });
    let told: CatalogData | undefined;
    const refresher = new CatalogRefresher(server.input(), (catalog) => {
      told = catalog;
    });
    assert.equal((await refresher.look()).outcome, 'failed');
    await closed;
    assert.equal(told, undefined);
  });

  it('catalog refresh: the setting and the variable disable it', () => {
    const settings = { catalog: { refresh: true } };
    assert.equal(refreshAllowed(settings, {}), true);
    assert.equal(refreshAllowed({ catalog: { refresh: false } }, {}), false);
    assert.equal(refreshAllowed(settings, { SVC_DISABLE_CATALOG_REFRESH: '1' }), false);
    assert.equal(refreshAllowed(settings, { SVC_DISABLE_CATALOG_REFRESH: '' }), true);
  });

  it('catalog refresh: the cache file is in the cache folder of each platform', () => {
    assert.equal(catalogCacheFile({ XDG_CACHE_HOME: '/c' }, 'linux', '/h'), '/c/svc/models.json');
    assert.equal(catalogCacheFile({}, 'linux', '/h'), '/h/.cache/svc/models.json');
    assert.equal(catalogCacheFile({}, 'darwin', '/h'), '/h/Library/Caches/svc/models.json');
    assert.equal(catalogCacheFile({ LOCALAPPDATA: 'C:\\l' }, 'win32', 'C:\\h'), 'C:\\l\\svc\\Cache\\models.json');
    assert.equal(catalogCacheFile({}, 'win32', 'C:\\h'), 'C:\\h\\AppData\\Local\\svc\\Cache\\models.json');
  });
});
