import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProjectFolder } from '../config/project-folder.ts';
import { StateUnderTest } from '../gateway/state-under-test.ts';
import { freePort } from '../host/free-port.ts';
import { svc } from './run-svc.ts';

describe('svc admin link', () => {
  let server: Server;
  let port: number;
  /** Requests for the health of a gateway, or of anything else. */
  let answer = 200;

  before(async () => {
    server = createServer((request, response) => {
      response.writeHead(/^(\/ai)?\/healthz$/.test(request.url ?? '') ? answer : 404).end('{}');
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });
  beforeEach(() => {
    answer = 200;
  });
  after(() => void server.close());

  it('svc admin link: names the public address of the option or the configuration', async () => {
    using folder = new ProjectFolder();
    const link = async (...args: string[]) => (await svc(folder, ['admin', 'link', ...args])).out.replace(/#.*\n/, '');
    folder.global({ gateway: { admin: true, publicUrl: `http://127.0.0.1:${port}/` } });
    assert.equal(await link(), `http://127.0.0.1:${port}/admin`);
    assert.equal(await link('--public-url', `http://localhost:${port}/ai`), `http://localhost:${port}/ai/admin`);
    folder.global({ gateway: { admin: true, publicUrl: 'http://127.0.0.1:9/' } });
    assert.equal(await link('--port', String(port)), `http://127.0.0.1:${port}/admin`);
    assert.equal((await svc(folder, ['admin', 'link', '--public-url', 'ai.example.com'])).code, 2);
  });

  it('svc admin link: fails without a link if no gateway answers there', async () => {
    using folder = new ProjectFolder();
    folder.global({ gateway: { admin: true, listen: { port: await freePort() } } });
    const nothing = await svc(folder, ['admin', 'link']);
    assert.deepEqual([nothing.code, nothing.out], [1, '']);
    assert.match(nothing.err, /No gateway answers at http:\/\/127\.0\.0\.1:\d+: .*svc serve/s);
    answer = 403;
    const other = await svc(folder, ['admin', 'link', '--port', String(port)]);
    assert.deepEqual([other.code, other.out], [1, '']);
    assert.match(other.err, /status 403/);
  });

  it('svc admin link: prints a link whose token signs in once', async () => {
    using folder = new ProjectFolder();
    folder.global({ gateway: { admin: true, listen: { port } } });
    const { code, out, err } = await svc(folder, ['admin', 'link']);
    assert.deepEqual([code, err], [0, '']);
    const [, token = ''] = new RegExp(`^http://127\\.0\\.0\\.1:${port}/admin#([\\w-]{43})\\n$`).exec(out) ?? [];
    const state = await StateUnderTest.open(`${folder.home}/.local/share/svc/gateway.db`);
    assert.deepEqual([await state.admin.useLink(token), await state.admin.useLink(token)], [true, false]);
    const [entry] = await state.admin.audit({ limit: 1 });
    assert.deepEqual([entry?.action, entry?.source], ['link.create', 'terminal']);
    assert.ok(!JSON.stringify(entry).includes(token));
    state.close();
  });

  it('svc admin link: says how to turn the page on', async () => {
    using folder = new ProjectFolder();
    const { code, out, err } = await svc(folder, ['admin', 'link']);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /"admin": true/);
  });

  it('svc keys create --admin: creates an admin key, and refuses unknown scopes', async () => {
    using folder = new ProjectFolder();
    assert.equal((await svc(folder, ['keys', 'create', 'ops', '--admin', 'read'])).code, 0);
    assert.equal(JSON.parse((await svc(folder, ['keys', 'list', '--json'])).out)[0].admin, 'read');
    assert.equal((await svc(folder, ['keys', 'create', 'x', '--admin', 'root'])).code, 2);
  });
});
