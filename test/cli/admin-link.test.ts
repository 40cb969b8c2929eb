import assert from 'node:assert/strict';
import { ProjectFolder } from '../config/project-folder.ts';
import { StateUnderTest } from '../gateway/state-under-test.ts';
import { svc } from './run-svc.ts';

describe('svc admin link', () => {
  it('svc admin link: prints a link whose token signs in once', async () => {
    using folder = new ProjectFolder();
    folder.global({ gateway: { admin: true, listen: { port: 4999 } } });
    const { code, out, err } = await svc(folder, ['admin', 'link']);
    assert.deepEqual([code, err], [0, '']);
    const [, token = ''] = /^http:\/\/127\.0\.0\.1:4999\/admin#([\w-]{43})\n$/.exec(out) ?? [];
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
