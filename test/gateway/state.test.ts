import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EMPTY_CATALOG } from '../../src/catalog/public/catalog.ts';
import { buildRegistry } from '../../src/catalog/registry/registry.ts';
import { credentialFor } from '../../src/gateway/access/organization.ts';
import { SvcError } from '../../src/wire/errors/svc-error.ts';
import { FrameSplitter } from '../../src/wire/stream/frame-splitter.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { startTestGateway } from './gateway-under-test.ts';
import { ledgerRow } from './ledger-row.ts';
import { StateUnderTest, stateFile } from './state-under-test.ts';

describe('ledger on a full disk', () => {
  it('ledger on a full disk: reports it, keeps rows and costs, and writes them when space is free', async () => {
    const state = await StateUnderTest.open();
    state.fillDisk(4);
    const ledger = state.process();
    for (let n = 0; n < 100; n += 1) ledger.record(ledgerRow({ tags: { long: 'r'.repeat(2_000) } }));
    assert.equal(ledger.flush(), false);
    assert.match(ledger.failures.join(), /full/);
    assert.deepEqual([ledger.waiting, ledger.broken, ledger.spent()], [100, true, 50e9]);
    state.freeDisk();
    assert.equal(ledger.flush(), true);
    assert.deepEqual([ledger.waiting, ledger.broken, ledger.spent()], [0, false, 50e9]);
    assert.equal(state.rowCount, 100);
    state.close();
  });
});

describe('gateway on a full disk', () => {
  it('gateway on a full disk: accepts requests while rows fit into memory, then rejects them until space is free', async () => {
    const gateway = await startTestGateway();
    try {
      const ask = { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] };
      const send = async () => {
        const answer = await gateway.post('/chat/completions', ask);
        const { error_type } = JSON.parse(await answer.text());
        return [answer.status, error_type, answer.headers.get('retry-after')];
      };
      const ready = async (query = '') => (await gateway.get(`/readyz${query}`)).status;
      assert.equal(await ready('?strict'), 200);
      gateway.state.fillDisk();
      gateway.record(ledgerRow({ tags: { long: 'r'.repeat(2_000_000) } }));
      assert.equal(gateway.flush(), false);
      assert.deepEqual([await ready(), await ready('?strict')], [200, 503]);
      while (!gateway.ledger.full) {
        if (gateway.ledger.waiting === 1_000)
          assert.deepEqual([await send(), await ready()], [[200, undefined, null], 200]);
        gateway.record(ledgerRow());
      }
      assert.deepEqual([await send(), await ready()], [[503, 'temporarily_unavailable', '10'], 503]);
      const waiting = gateway.ledger.waiting;
      gateway.state.freeDisk();
      assert.equal(gateway.rows().length, waiting);
      assert.deepEqual([await send(), await ready()], [[200, undefined, null], 200]);
    } finally {
      await gateway.close();
    }
  });
});

const withKey = {
  provider: { up: { options: { baseURL: 'https://up.example/v1' }, models: { m: {} } } },
  gateway: { organizations: { acme: { byok: { up: 'sk-byok' } } } },
};
const byokIn = async (folder: ProjectFolder) => {
  const settings = await folder.load();
  const model = buildRegistry({ settings, catalog: EMPTY_CATALOG, env: {} }).models.get('up/m');
  assert.ok(model);
  return credentialFor(settings.gateway.organizations.get('acme'), model, settings);
};

describe('keys of organizations', () => {
  it('organization key: is sent to the address of trusted configuration', async () => {
    using folder = new ProjectFolder();
    folder.global(withKey);
    folder.write('project/svc.jsonc', { provider: { up: { models: { m: { name: 'Mine' } } } } });
    assert.equal((await byokIn(folder))?.secret.reveal(), 'sk-byok');
  });

  for (const [what, change] of Object.entries({
    'base URL': { options: { baseURL: 'https://evil.example/v1' } },
    package: { npm: '@ai-sdk/anthropic' },
    'model’s address': { models: { m: { provider: { api: 'https://evil.example/v1' } } } },
    headers: { options: { headers: { 'X-Forward-To': 'evil.example' } } },
  })) {
    it(`organization key: is withheld if a project changes the ${what}`, async () => {
      using folder = new ProjectFolder();
      folder.global(withKey);
      folder.write('project/svc.jsonc', { provider: { up: change } });
      await assert.rejects(byokIn(folder), (error) => {
        assert.ok(error instanceof SvcError);
        assert.equal(error.errorType, 'credential_withheld');
        return true;
      });
    });
  }
});

describe('keys of organizations for a provider of a project', () => {
  it('organization key: is withheld from a provider that only a project configures', async () => {
    using folder = new ProjectFolder();
    folder.global({ gateway: withKey.gateway });
    folder.write('project/svc.jsonc', { provider: withKey.provider });
    await assert.rejects(byokIn(folder), { errorType: 'credential_withheld' });
  });
});

describe('state file', () => {
  const rows: readonly (readonly [NodeJS.Platform, Record<string, string>, string, string])[] = [
    ['linux', {}, '/home/ann', '/home/ann/.local/share/svc/gateway.db'],
    ['linux', { XDG_DATA_HOME: '/data' }, '/home/ann', '/data/svc/gateway.db'],
    ['linux', { XDG_DATA_HOME: 'relative' }, '/home/ann', '/home/ann/.local/share/svc/gateway.db'],
    ['darwin', {}, '/Users/ann', '/Users/ann/Library/Application Support/svc/gateway.db'],
    ['win32', {}, 'C:\\Users\\ann', 'C:\\Users\\ann\\AppData\\Local\\svc\\gateway.db'],
    ['win32', { LOCALAPPDATA: 'D:\\local' }, 'C:\\Users\\ann', 'D:\\local\\svc\\gateway.db'],
  ];
  for (const [platform, env, home, expected] of rows) {
    it(`state file: ${platform}: ${expected}`, () => assert.equal(stateFile({ platform, env, home }), expected));
  }
});

describe('parts of the gateway', () => {
  it('FrameSplitter: splits only after blank lines, for any reads, without data loss', () => {
    const piece = fc.stringMatching(/^[\r\nab]{0,4}$/);
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const cutter = new FrameSplitter();
        const passed = pieces.flatMap((text) => cutter.push(Buffer.from(text)) ?? []);
        for (const frames of passed) assert.match(frames.toString(), /(\n\n|\r\r|\n\r|[\r\n]\r\n)$/);
        const rest = cutter.rest()?.toString() ?? '';
        assert.equal(Buffer.concat(passed).toString() + rest, pieces.join(''));
        assert.doesNotMatch(rest, /\n\n|\r\r|\n\r/);
      }),
      { numRuns: 2_000 },
    );
  });

  it('FrameSplitter: does not buffer a frame without an end indefinitely', () => {
    const cutter = new FrameSplitter();
    const piece = Buffer.alloc(1024 * 1024, 'x');
    let passed = 0;
    for (let n = 0; n < 20; n += 1) passed += cutter.push(piece)?.length ?? 0;
    assert.ok(passed >= 16 * piece.length);
    assert.equal(passed + (cutter.rest()?.length ?? 0), 20 * piece.length);
  });
});
