import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CLI } from '../svc-program.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { ServeHarness } from './serve-harness.ts';
import { until, untilEqual } from './until.ts';

describe('a reload of the configuration while the gateway runs', () => {
  let harness: ServeHarness;
  beforeEach(async () => {
    harness = await ServeHarness.start();
  });
  afterEach(() => harness?.close());

  const PRICE = '"cost":{"input":1,"output":2}';
  /** What becomes of the file, and what the log says about it. */
  const MISTAKES: Readonly<Record<string, readonly [(text: string) => string | undefined, RegExp]>> = {
    'a missing brace': [(text) => text.slice(0, -1), /"line":1,"column":\d+/],
    'a negative price': [
      (text) => text.replace(PRICE, '"cost":{"input":-5,"output":2}'),
      /"key":"provider\.up\.models\.m\.cost\.input"/,
    ],
    'a price as text': [
      (text) => text.replace(PRICE, '"cost":{"input":"3","output":2}'),
      /"key":"provider\.up\.models\.m\.cost\.input"/,
    ],
    'a near miss of an address': [
      (text) => text.replace('"baseURL"', '"baseUrl"'),
      /"key":"provider\.up\.options\.baseUrl"/,
    ],
    'a variable that is not set': [
      (text) => text.replaceAll('"sk-canary"', '"{env:SVC_TEST_NOT_SET}"'),
      /"key":"provider\.up\.options\.apiKey"/,
    ],
    'an empty file': [() => '', /"providers":0|no provider any more/],
    'an empty object': [() => '{}', /no provider any more/],
    'no file': [() => undefined, /no provider any more/],
  };

  for (const [what, [change, logged]] of Object.entries(MISTAKES)) {
    it(`${what}: the last valid part stays, and the log says what is wrong`, async () => {
      const file = path.join(harness.folder, 'svc.jsonc');
      const good = readFileSync(file, 'utf8');
      const gateway = await harness.serve();
      assert.equal((await harness.send(gateway.url)).status, 200);
      const changed = change(good);
      if (changed === undefined) rmSync(file);
      else writeFileSync(file, changed);
      await gateway.logged('config-reload-failed');
      assert.match(gateway.written(), logged);
      const answer = await harness.send(gateway.url);
      assert.equal(answer.status, 200, await answer.text());
      const asked = harness.upstream.requests.filter((request) => request.path.endsWith('/chat/completions'));
      assert.equal(asked.at(-1)?.headers.authorization, 'Bearer sk-canary');
      assert.ok(!gateway.written().includes('A project cannot'), gateway.written());
      assert.equal((await fetch(`${gateway.url}/readyz`)).status, 200);
      const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
      assert.match(metrics, /^svc_gateway_config_reload_failed_total [1-9]/m);
      writeFileSync(file, good.replace('"m":{', '"n":{},"m":{'));
      await untilEqual(
        'the mended file is used',
        async () => (await harness.send(gateway.url, { model: 'up/n' })).status,
        200,
      );
    });
  }

  it('a change: the gateway stays ready while it requests the lists of models again', async () => {
    const file = path.join(harness.folder, 'svc.jsonc');
    const listing = await startUpstream();
    try {
      const config = JSON.parse(readFileSync(file, 'utf8'));
      config.provider.lists = { options: { baseURL: `${listing.url}/v1` } };
      writeFileSync(file, JSON.stringify(config));
      const gateway = await harness.serve();
      const ready = async () => (await fetch(`${gateway.url}/readyz`)).status;
      await untilEqual('it is ready', ready, 200);
      let held = 0;
      listing.respond(({ path: asked }) => {
        if (asked === '/v1/models') held += 1;
      });
      config.provider.up.models.later = {};
      writeFileSync(file, JSON.stringify(config));
      await gateway.logged('the configuration was reloaded');
      await until('the list is requested again', () => held > 0);
      assert.equal(await ready(), 200);
    } finally {
      await listing.close();
    }
  });

  it('a mistake in one provider: changes of another one are used', async () => {
    const gateway = await harness.serve();
    const options = { baseURL: `${harness.upstream.url}/v1`, apiKey: 'sk-canary' };
    const up = { options, models: { m: { cost: { input: -1 } } } };
    const provider = { up, other: { options, models: { later: {} } } };
    writeFileSync(path.join(harness.folder, 'svc.jsonc'), JSON.stringify({ provider }));
    await gateway.logged('config-reload-failed');
    for (const model of ['up/m', 'other/later']) assert.equal((await harness.send(gateway.url, { model })).status, 200);
  });

  it('a mistake that was there at the start does not stop later changes', async () => {
    const file = path.join(harness.folder, 'svc.jsonc');
    const wrong = readFileSync(file, 'utf8').replace('"m":{', '"wrong":{"limit":{"context":-1}},"m":{');
    writeFileSync(file, wrong);
    const gateway = await harness.serve();
    await gateway.logged('"key":"provider.up.models.wrong.limit.context"');
    writeFileSync(file, wrong.replace('"m":{', '"n":{},"m":{'));
    await untilEqual(
      'the change is used',
      async () => (await harness.send(gateway.url, { model: 'up/n' })).status,
      200,
    );
  });

  it('without any configuration, the gateway starts, is not ready, and says what to do', async () => {
    const { PATH } = process.env;
    const own = {
      HOME: harness.folder,
      XDG_CONFIG_HOME: path.join(harness.folder, 'none'),
      XDG_DATA_HOME: harness.folder,
    };
    const env = { PATH, ...own, SVC_DISABLE_CATALOG_REFRESH: '1' };
    const child = spawn(process.execPath, [CLI, 'serve', '--port', '0', '--no-project'], { cwd: harness.folder, env });
    harness.add(child);
    let written = '';
    const url = new Promise<string>((resolve) => {
      for (const output of [child.stdout, child.stderr]) {
        output.on('data', (chunk) => {
          written += chunk;
          const found = /listening on (http\S+)/.exec(written)?.[1];
          if (found) resolve(found);
        });
      }
    });
    const ready = await fetch(`${await url}/readyz`);
    assert.deepEqual([ready.status, ((await ready.json()) as { readonly models: string }).models], [503, 'none']);
    await untilEqual(
      'the log says so',
      async () => /"alert":"no-models".*No provider is configured/.test(written),
      true,
    );
  });

  it('a named configuration without any provider is an error that says what to do', async () => {
    writeFileSync(path.join(harness.folder, 'svc.jsonc'), '');
    await assert.rejects(harness.serve(), /No provider is configured.*svc\.jsonc/s);
  });
});
