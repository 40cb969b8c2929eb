import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProjectFolder } from '../config/project-folder.ts';
import { svc } from './run-svc.ts';

describe('--config', () => {
  let gateway: Server;
  let port: number;

  before(async () => {
    // `svc admin link` asks whether a gateway is there.
    gateway = createServer((_, response) => void response.end('{}'));
    await new Promise<void>((resolve) => void gateway.listen(0, '127.0.0.1', resolve));
    ({ port } = gateway.address() as AddressInfo);
  });
  after(() => void gateway.close());

  for (const command of ['keys list', 'usage', 'state check', 'admin link']) {
    it(`svc ${command} --config FILE uses the state that the file names`, async () => {
      using folder = new ProjectFolder();
      const listen = { port };
      folder.global({ gateway: { admin: true, listen } });
      folder.write('project/team.jsonc', {
        gateway: { admin: true, listen, state: 'postgres://svc@127.0.0.1:1/team' },
      });
      const args = command.split(' ');
      const local = await svc(folder, args);
      assert.deepEqual([local.code, local.err], [0, '']);
      const { code, err } = await svc(folder, [...args, '--config', 'team.jsonc']);
      assert.equal(code, 1, err);
      assert.match(err, /state at 127\.0\.0\.1:1\/team can’t be opened/);
    });
  }

  it('svc keys create --config FILE accepts the organizations of the file', async () => {
    using folder = new ProjectFolder();
    folder.write('project/team.jsonc', { gateway: { organizations: { acme: {} } } });
    const args = ['keys', 'create', 'k', '--org', 'acme'];
    assert.equal((await svc(folder, args)).code, 2);
    assert.equal((await svc(folder, [...args, '--config', 'team.jsonc'])).code, 0);
  });
});
