import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { ENDPOINTS } from '../../src/protocol/admin-api/endpoints.ts';
import { KEY, providers, startTestGateway, type TestGateway } from './gateway-under-test.ts';

/** Scopes, sessions, origins and the cookie of the admin API. */
describe('access to the admin API', () => {
  let gateway: TestGateway;
  const keys = new Map<string, string>();
  beforeEach(async () => {
    gateway = await startTestGateway({
      config: (url) => ({
        provider: providers(url),
        gateway: { admin: { session: '1h' }, allowedOrigins: ['https://app.example'] },
      }),
    });
    for (const [name, admin] of [
      ['reader', 'read'],
      ['keeper', 'keys'],
      ['boss', 'all'],
      ['user', undefined],
    ] as const) {
      keys.set(name, gateway.createKey({ name, admin }));
    }
  });
  afterEach(() => gateway.close());

  const call = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
    fetch(`${gateway.url}/admin/v1${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const as = (name: string) => ({ authorization: `Bearer ${keys.get(name)}` });

  async function signIn(name: string) {
    const answer = await call('POST', '/session', {}, { key: keys.get(name) });
    assert.equal(answer.status, 200);
    const { secret } = await answer.json();
    const setCookie = answer.headers.get('set-cookie') ?? '';
    const cookie = setCookie.split(';')[0] ?? '';
    return { cookie, setCookie, both: { cookie, 'x-session-secret': String(secret) } };
  }

  it('admin: every endpoint of the contract has a handler', async () => {
    for (const { path, method, access } of Object.values(ENDPOINTS)) {
      const answer = await call(method, path.replace(/\{\w+\}/, 'none'), {}, method === 'GET' ? undefined : {});
      assert.equal(answer.status, access === 'open' ? 400 : 401, `${method} ${path}`);
    }
  });

  it('admin: a wrong method is answered with 405 and the methods of the path', async () => {
    for (const [method, path, allow] of [
      ['PATCH', '/usage', 'GET'],
      ['DELETE', '/keys', 'GET, POST'],
      ['DELETE', '/keys/user', 'GET, PATCH'],
      ['DELETE', '/keys/a%2Fb%20c', 'GET, PATCH'],
      ['POST', '/requests/live', 'GET'],
      ['HEAD', '/keys/user/revoke', 'POST'],
      ['OPTIONS', '/session', 'GET, POST, DELETE'],
      ['PUT', '/session', 'GET, POST, DELETE'],
    ] as const) {
      const answer = await call(method, path, as('boss'));
      const { headers } = answer;
      assert.deepEqual(
        [answer.status, headers.get('allow'), headers.get('cache-control')],
        [405, allow, 'no-store'],
        `${method} ${path}`,
      );
      if (method !== 'HEAD') assert.equal((await answer.json()).error_type, 'method_not_allowed');
    }
    for (const path of ['/keys/', '/keys/user/', '/keys/user/rotate/x', '/keys/%zz', '/keys//rotate', '/', '']) {
      assert.equal((await call('DELETE', path, as('boss'))).status, 404, path);
    }
  });

  it('admin: without gateway.admin there is no admin API', async () => {
    const plain = await startTestGateway();
    try {
      for (const path of ['/admin/v1/keys', '/admin/v1/session']) {
        const answer = await plain.get(path, { authorization: `Bearer ${KEY}` });
        assert.equal(answer.status, 404);
        assert.equal((await answer.json()).error_type, 'invalid_path');
      }
    } finally {
      await plain.close();
    }
  });

  const READS = ['/keys', '/keys/user', '/organizations', '/models', '/providers', '/replicas', '/audit'];
  const OWN = ['/session', '/usage', '/requests', '/budgets'];

  it('admin: a key that is no admin key sees its own usage, requests and budgets only', async () => {
    for (const path of OWN) assert.equal((await call('GET', path, as('user'))).status, 200, path);
    for (const path of [...READS, '/usage?key=boss', '/requests?key=boss', '/requests/live?key=boss']) {
      const answer = await call('GET', path, as('user'));
      assert.equal(answer.status, 403, path);
      assert.equal((await answer.json()).error_type, 'permission_denied');
    }
  });

  it('admin: the scope read reads everything and changes nothing', async () => {
    for (const path of [...OWN, ...READS]) assert.equal((await call('GET', path, as('reader'))).status, 200, path);
    for (const [method, path, body] of [
      ['POST', '/keys', { name: 'new' }],
      ['PATCH', '/keys/user', { rates: [] }],
      ['POST', '/keys/user/rotate', {}],
      ['POST', '/keys/user/revoke', {}],
      ['POST', '/links', {}],
    ] as const) {
      assert.equal((await call(method, path, as('reader'), body)).status, 403, path);
    }
    assert.equal(gateway.state.key('new'), undefined);
    assert.equal(gateway.state.key('user')?.revokedAt, undefined);
  });

  it('admin: the scope keys changes keys, but neither creates nor changes admin keys', async () => {
    assert.equal((await call('POST', '/keys', as('keeper'), { name: 'new' })).status, 200);
    assert.equal((await call('POST', '/keys', as('keeper'), { name: 'root', admin: 'all' })).status, 403);
    for (const [method, path] of [
      ['PATCH', '/keys/boss'],
      ['POST', '/keys/boss/rotate'],
      ['POST', '/keys/keeper/rotate'],
      ['POST', '/keys/boss/revoke'],
    ] as const) {
      assert.equal((await call(method, path, as('keeper'), {})).status, 403, path);
    }
    assert.equal((await call('POST', '/keys', as('boss'), { name: 'root', admin: 'all' })).status, 200);
    assert.equal(gateway.state.key('boss')?.revokedAt, undefined);
  });

  it('admin: without a key, or with a wrong one, nothing is answered', async () => {
    for (const { path, method, access } of Object.values(ENDPOINTS)) {
      if (access === 'open') continue;
      for (const headers of [{}, { authorization: 'Bearer svc_wrong' }, { cookie: 'svc_admin=x' }]) {
        const answer = await call(
          method,
          path.replace(/\{\w+\}/, 'x'),
          headers,
          method === 'GET' || method === 'DELETE' ? undefined : {},
        );
        assert.equal(answer.status, 401, path);
      }
    }
  });

  it('admin: a session has a cookie that scripts, other sites and other paths do not get', async () => {
    const { setCookie } = await signIn('boss');
    assert.match(setCookie, /^svc_admin_\w+=[\w-]{43}; Path=\/admin; HttpOnly; SameSite=Strict; Max-Age=3600$/);
    const secure = await call('POST', '/session', { 'x-forwarded-proto': 'https' }, { key: keys.get('boss') });
    assert.match(secure.headers.get('set-cookie') ?? '', /; Secure$/);
  });

  it('admin: the cookie of a session opens nothing without the secret of its sign-in', async () => {
    const { cookie, both } = await signIn('boss');
    const other = await signIn('boss');
    const secret = both['x-session-secret'];
    for (const sent of [undefined, '', 'x', secret.slice(1), other.both['x-session-secret'], cookie.split('=')[1]]) {
      const headers = { cookie, ...(sent === undefined ? {} : { 'x-session-secret': sent }) };
      for (const path of [...OWN, ...READS, '/requests/live']) {
        assert.equal((await call('GET', path, headers)).status, 401, path);
      }
      assert.equal((await call('POST', '/keys', headers, { name: 'new' })).status, 401, String(sent));
      assert.equal((await call('DELETE', '/session', headers)).status, 401, String(sent));
    }
    assert.equal((await call('GET', '/keys', { 'x-session-secret': secret })).status, 401, 'without the cookie');
    const described = await (await call('GET', '/session', both)).json();
    assert.deepEqual([described.name, described.secret], ['boss', null]);
    assert.equal((await call('POST', '/keys', both, { name: 'new' })).status, 200);
    const live = await call('GET', '/requests/live', both);
    assert.equal(live.status, 200);
    await live.body?.cancel();
  });

  it('admin: a cookie that a neighbour planted before the sign-in opens nothing for the neighbour', async () => {
    const { cookie } = await signIn('user');
    const answer = await call('POST', '/session', { cookie }, { key: keys.get('boss') });
    assert.equal(
      answer.headers.get('set-cookie')?.split(';')[0],
      cookie,
      'other tabs of the browser keep their cookie',
    );
    assert.equal((await call('GET', '/keys', { cookie })).status, 401);
    const odd = cookie.replace(/=.*/, '=x; y');
    const second = await call('POST', '/session', { cookie: odd }, { key: keys.get('boss') });
    assert.match(second.headers.get('set-cookie') ?? '', /^svc_admin_\w+=[\w-]{43};/);
  });

  it('admin: a session makes no secret of an admin key and no link without the key itself', async () => {
    const boss = await signIn('boss');
    const keeper = await signIn('keeper');
    const admin = { name: 'root', admin: 'read' };
    const wrong = [undefined, 'svc_wrong', keys.get('keeper'), keys.get('user'), KEY];
    for (const confirm_key of wrong) {
      const more = confirm_key === undefined ? {} : { confirm_key };
      assert.equal((await call('POST', '/keys', boss.both, { ...admin, ...more })).status, 403, confirm_key);
      assert.equal((await call('POST', '/keys/reader/rotate', boss.both, more)).status, 403, confirm_key);
    }
    assert.equal((await call('POST', '/links', boss.both, {})).status, 403);
    assert.equal(gateway.state.key('root'), undefined);
    const confirmed = { confirm_key: keys.get('boss') };
    assert.equal((await call('POST', '/keys', keeper.both, { ...admin, ...confirmed })).status, 403, 'the scope keys');
    assert.equal((await call('POST', '/keys', boss.both, { ...admin, ...confirmed })).status, 200);
    assert.equal((await call('POST', '/keys/reader/rotate', boss.both, confirmed)).status, 200);
    assert.equal((await call('POST', '/keys/user/rotate', boss.both, {})).status, 200, 'an ordinary key');
  });

  it('admin: a cookie does not work outside of the admin API', async () => {
    const { both } = await signIn('boss');
    const body = JSON.stringify({ model: 'chat/m', messages: [] });
    const headers = { ...both, 'content-type': 'application/json' };
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    assert.equal(answer.status, 401);
  });

  it('admin: sessions end with sign-out, with their time, and with their key', async () => {
    const { both } = await signIn('boss');
    const kept = await signIn('boss');
    const reader = await signIn('reader');
    assert.equal((await call('DELETE', '/session', both)).status, 204);
    assert.equal((await call('GET', '/keys', both)).status, 401, 'signed out');
    assert.equal((await call('GET', '/keys', kept.both)).status, 200, 'another session stays');
    assert.equal((await call('POST', '/keys/reader/revoke', as('boss'), {})).status, 200);
    assert.equal((await call('GET', '/keys', reader.both)).status, 401, 'revoked');
    gateway.state.expireSessions();
    assert.equal((await call('GET', '/keys', kept.both)).status, 401, 'expired');
  });

  it('admin: only the gateway’s own page may use the API, also if other pages may use models', async () => {
    const host = new URL(gateway.url).host;
    for (const [headers, status] of [
      [{ origin: `http://${host}` }, 200],
      [{ origin: `https://${host}` }, 200],
      [{ 'sec-fetch-site': 'same-origin' }, 200],
      [{ origin: 'https://app.example' }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: `http://${host}.evil.example` }, 403],
      [{ origin: 'http://localhost:1' }, 403],
      [{ origin: 'null' }, 403],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 403],
      [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, 403],
    ] as const) {
      // fetch() of Node does not send these headers.
      assert.equal(await rawStatus('/admin/v1/keys', { ...as('boss'), ...headers }), status, JSON.stringify(headers));
    }
  });

  it('admin: the origin of the gateway is not an allowed origin outside of the admin API', async () => {
    const origin = gateway.url;
    assert.equal(await rawStatus('/v1/models', { origin }), 403);
    assert.equal(await rawStatus('/administration', { origin }), 403);
  });

  async function rawStatus(path: string, headers: Record<string, string>): Promise<number> {
    const { hostname, port, host } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    const lines = Object.entries({ host, connection: 'close', ...headers }).map(([name, value]) => `${name}: ${value}`);
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    await once(socket, 'close');
    return Number(answer.slice(9, 12));
  }

  it('admin: a one-time link works once, for a time, and only on the machine of the gateway', async () => {
    const created = await (await call('POST', '/links', as('boss'), {})).json();
    const { token } = created;
    assert.equal(created.path, `/admin#${token}`);
    const remote = await call('POST', '/session', { 'x-forwarded-for': '192.0.2.1' }, { token });
    assert.equal(remote.status, 403, 'through a proxy');
    const first = await call('POST', '/session', {}, { token });
    assert.equal(first.status, 200);
    const { name, scope } = await first.json();
    assert.deepEqual([name, scope], ['local', 'all']);
    assert.equal((await call('POST', '/session', {}, { token })).status, 401, 'used');
    const late = await (await call('POST', '/links', as('boss'), {})).json();
    gateway.state.expireSessions();
    assert.equal((await call('POST', '/session', {}, { token: late.token })).status, 401, 'expired');
  });

  it('admin: wrong sign-ins are limited, and never lock a valid key or link out', async () => {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      assert.equal((await call('POST', '/session', {}, { key: `wrong${attempt}` })).status, 401);
    }
    const refused = await call('POST', '/session', {}, { key: 'wrong' });
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    assert.equal((await call('POST', '/session', {}, { key: keys.get('boss') })).status, 200);
    const { token } = await (await call('POST', '/links', as('boss'), {})).json();
    assert.equal((await call('POST', '/session', {}, { token })).status, 200);
  });

  it('admin: sign-ins of one key are limited, and those of ordinary keys are not in the audit log', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      statuses.push((await call('POST', '/session', {}, { key: keys.get('user') })).status);
    }
    assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429, 429]);
    await signIn('boss');
    const { data } = await (await call('GET', '/audit', as('boss'))).json();
    const starts = data.filter(({ action }: { action: string }) => action === 'session.start');
    assert.deepEqual(
      starts.map(({ target }: { target: string }) => target),
      ['boss'],
    );
  });

  it('admin: a further session of a key ends its oldest one', async () => {
    const proofs = [];
    const admin = gateway.state.admin;
    for (let each = 0; each < 25; each += 1) proofs.push(await admin.startSession('of a key', Date.now() + 1e6 + each));
    const other = await admin.startSession('of another', Date.now() + 1e6);
    const open = [];
    for (const [index, proof] of proofs.entries()) if (await admin.findSession(proof)) open.push(index);
    assert.deepEqual(
      open,
      Array.from({ length: 20 }, (_, index) => index + 5),
    );
    assert.ok(await admin.findSession(other));
  });

  it('admin: one key does not take all places of live readers, and places are kept for admins', async () => {
    const abort = new AbortController();
    const follow = (key: string | undefined) =>
      fetch(`${gateway.url}/admin/v1/requests/live`, {
        headers: { authorization: `Bearer ${key}` },
        signal: abort.signal,
      });
    try {
      const statuses: number[] = [];
      for (let each = 0; each < 12; each += 1) statuses.push((await follow(keys.get('user'))).status);
      assert.deepEqual(statuses, [...Array.from({ length: 10 }, () => 200), 429, 429]);
      for (const name of ['b', 'c', 'd']) {
        const key = gateway.createKey({ name });
        for (let each = 0; each < 10; each += 1) assert.equal((await follow(key)).status, 200);
      }
      assert.equal((await follow(gateway.createKey({ name: 'e' }))).status, 503);
      assert.equal((await follow(keys.get('boss'))).status, 200);
    } finally {
      abort.abort();
    }
  });

  it('admin: invalid paths, methods, parameters and bodies are refused with their names', async () => {
    for (const [method, path, body, status, param] of [
      ['GET', '/nothing', undefined, 404, null],
      ['GET', '/keys/none', undefined, 404, null],
      ['GET', '/requests/none', undefined, 404, null],
      ['PATCH', '/usage', {}, 405, null],
      ['GET', '/keys?limit=0', undefined, 400, 'limit'],
      ['GET', '/keys?limit=1000', undefined, 400, 'limit'],
      ['GET', '/keys?page=2', undefined, 400, 'page'],
      ['GET', '/keys?cursor=%21', undefined, 400, 'cursor'],
      ['GET', '/usage?by=color', undefined, 400, 'by'],
      ['GET', '/usage?tz=Mars', undefined, 400, 'tz'],
      ['GET', '/usage?since=yesterday', undefined, 400, 'since'],
      ['POST', '/keys', { name: 'a b' }, 400, 'name'],
      ['POST', '/keys', { name: 'operator' }, 400, 'name'],
      ['POST', '/keys', { name: 'x', budgets: [{ usd: -1 }] }, 400, 'budgets.0.usd'],
      ['POST', '/keys', { name: 'x', color: 1 }, 400, 'color'],
      ['POST', '/keys', { name: 'x', organization: 'none' }, 400, 'organization'],
      ['POST', '/keys', { name: 'x', expires_at: '2001-01-01' }, 400, 'expires_at'],
      ['POST', '/keys', { name: 'user' }, 409, null],
      ['POST', '/keys/user/rotate', { grace: 'soon' }, 400, 'grace'],
    ] as const) {
      const answer = await call(method, path, as('boss'), body);
      assert.equal(answer.status, status, path);
      assert.equal((await answer.json()).error.param ?? null, param, path);
    }
  });
});
