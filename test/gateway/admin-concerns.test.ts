import assert from 'node:assert/strict';
import { type Concern, concernList, issuedKey } from '../../src/protocol/admin-api/schemas.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';
import { ledgerRow } from './ledger-row.ts';

const DAY = 86_400_000;

function describeConcern(concern: Concern): string {
  switch (concern.kind) {
    case 'budget':
      return `budget of ${concern.budget.scope.key ?? 'all'}`;
    case 'provider':
      return `provider ${concern.id}`;
    case 'key':
      return `key ${concern.name}`;
    case 'ledger':
      return 'ledger';
  }
}

describe('what needs a person', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: providers(url),
        gateway: { admin: true, budgets: [{ usd: 10, period: 'total' }] },
      }),
    });
  });
  afterEach(() => gateway.close());

  const send = async (method: string, path: string, key: string, body?: unknown): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return (await fetch(`${gateway.url}/admin/v1${path}`, init)).json();
  };
  const concerns = async (key = KEY) => concernList.parse(await send('GET', '/concerns', key)).data;
  const create = async (key: unknown) => issuedKey.parse(await send('POST', '/keys', KEY, key)).secret;
  const ids = (list: readonly Concern[]) => list.map(describeConcern);

  it('admin concerns: there are none while nothing is wrong', async () => {
    assert.deepEqual(await concerns(), []);
  });

  it('admin concerns: a budget that is nearly used, a provider that fails and a key that expires soon', async () => {
    const at = (days: number) => new Date(Date.now() + days * DAY).toISOString();
    await create({ name: 'soon', expires_at: at(13) });
    await create({ name: 'later', expires_at: at(15) });
    gateway.record(ledgerRow({ at: Date.now(), cost: 8_000_000_000 }));
    gateway.upstream.respond((_, response) => {
      response.writeHead(500, { 'content-type': 'application/json' }).end('{}');
    });
    await gateway.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] });
    assert.deepEqual(ids(await concerns()), ['provider chat', 'budget of all', 'key soon']);
  });

  it('admin concerns: a key that is not an admin’s sees its own budgets only', async () => {
    const own = await create({ name: 'own', budgets: [{ usd: 1 }] });
    await create({ name: 'other', budgets: [{ usd: 1 }] });
    for (const key of ['own', 'other']) gateway.record(ledgerRow({ key, at: Date.now(), cost: 900_000_000 }));
    assert.deepEqual(ids(await concerns()), ['budget of own', 'budget of other']);
    assert.deepEqual(ids(await concerns(own)), ['budget of own']);
  });
});
