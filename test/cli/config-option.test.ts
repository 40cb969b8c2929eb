import assert from 'node:assert/strict';
import { ProjectFolder } from '../config/project-folder.ts';
import { svc } from './run-svc.ts';

describe('--config', () => {
  for (const command of ['keys list', 'usage', 'state check', 'admin link']) {
    it(`svc ${command} --config FILE uses the state that the file names`, async () => {
      using folder = new ProjectFolder();
      folder.global({ gateway: { admin: true } });
      folder.write('project/team.jsonc', { gateway: { admin: true, state: 'postgres://svc@127.0.0.1:1/team' } });
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
