import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { globalFolder, managedFolder } from '../../src/config/load/sources.ts';
import { codes, ProjectFolder } from './project-folder.ts';

describe('configuration sources', () => {
  it('sources: override each other in the documented order', async () => {
    using folder = new ProjectFolder();
    const models: (string | undefined)[] = [];
    const note = async () => models.push((await folder.load({ editor })).model?.value);
    let editor = {};
    folder.global({ model: 'p/global' });
    await note();
    folder.env.SVC_CONFIG = folder.write('elsewhere/my.json', { model: 'p/env-path' });
    await note();
    folder.write('project/svc.json', { model: 'p/project' });
    await note();
    editor = { user: { model: 'p/editor' } };
    await note();
    editor = { ...editor, workspace: { model: 'p/editor-workspace' } };
    await note();
    folder.env.SVC_CONFIG_CONTENT = '{ "model": "p/content", /* comments and */ }';
    await note();
    folder.write('managed/svc.json', { model: 'p/managed' });
    await note();
    assert.deepEqual(models, [
      'p/global',
      'p/env-path',
      'p/project',
      'p/editor',
      'p/editor-workspace',
      'p/content',
      'p/managed',
    ]);
  });

  it('sources: svc.jsonc overrides svc.json in every folder', async () => {
    using folder = new ProjectFolder();
    folder.global({ model: 'p/json', completionModel: 'p/kept' }, 'svc.json');
    folder.global({ model: 'p/jsonc' });
    const settings = await folder.load();
    assert.equal(settings.model?.value, 'p/jsonc');
    assert.equal(settings.completionModel?.value, 'p/kept');
    folder.write('managed/svc.json', { model: 'm/json' });
    folder.write('managed/svc.jsonc', { model: 'm/jsonc' });
    assert.equal((await folder.load()).model?.value, 'm/jsonc');
  });

  it('sources: project files are read from the worktree root down, and nearer ones override', async () => {
    using folder = new ProjectFolder();
    folder.write('svc.json', { model: 'p/outside' });
    folder.write('project/svc.json', { model: 'p/far', provider: { p: { name: 'far', whitelist: ['a'] } } });
    folder.write('project/sub/dir/svc.jsonc', { provider: { p: { name: 'near' } } });
    const settings = await folder.load({ cwd: path.join(folder.project, 'sub/dir') });
    assert.equal(settings.model?.value, 'p/far');
    assert.equal(settings.providers.get('p')?.name, 'near');
    assert.deepEqual(settings.providers.get('p')?.whitelist, ['a']);
  });

  it('sources: without a worktree, parent folders are not searched', async () => {
    using folder = new ProjectFolder();
    folder.write('plain/svc.json', { model: 'p/above' });
    folder.write('plain/sub/svc.json', { completionModel: 'p/here' });
    const settings = await folder.load({ cwd: path.join(folder.root, 'plain/sub') });
    assert.equal(settings.model, undefined);
    assert.equal(settings.completionModel?.value, 'p/here');
  });

  it('sources: the search stops at a nested worktree, whose .git is a file', async () => {
    using folder = new ProjectFolder();
    folder.write('project/svc.json', { model: 'p/parent' });
    folder.write('project/module/.git', 'gitdir: ../.git/modules/module');
    assert.equal((await folder.load({ cwd: path.join(folder.project, 'module') })).model, undefined);
  });

  it('sources: each workspace folder is a separate project', async () => {
    using folder = new ProjectFolder();
    folder.write('a/svc.json', { model: 'p/a' });
    folder.write('b/svc.json', { completionModel: 'p/b' });
    const folders = [path.join(folder.root, 'a'), path.join(folder.root, 'b')];
    const settings = await folder.load({ folders });
    assert.equal(settings.model?.value, 'p/a');
    assert.equal(settings.completionModel?.value, 'p/b');
  });

  it('sources: SVC_CONFIG is relative to the working directory and may start with ~/', async () => {
    using folder = new ProjectFolder();
    folder.write('project/conf/x.json', { model: 'p/relative' });
    folder.env.SVC_CONFIG = 'conf/x.json';
    assert.equal((await folder.load()).model?.value, 'p/relative');
    folder.write('home/y.json', { model: 'p/home' });
    folder.env.SVC_CONFIG = '~/y.json';
    assert.equal((await folder.load()).model?.value, 'p/home');
  });

  it('sources: a missing SVC_CONFIG is a warning with its path, and the other sources are loaded', async () => {
    using folder = new ProjectFolder();
    folder.global({ model: 'p/m' });
    folder.env.SVC_CONFIG = '/nowhere/x.json';
    const settings = await folder.load();
    assert.equal(settings.model?.value, 'p/m');
    const [diagnostic] = settings.diagnostics;
    assert.equal(diagnostic?.code, 'missing-file');
    assert.match(diagnostic?.message ?? '', /\/nowhere\/x\.json/);
  });

  it('sources: reports an SVC_CONFIG that is a folder', async () => {
    using folder = new ProjectFolder();
    folder.env.SVC_CONFIG = folder.home;
    assert.match((await folder.load()).diagnostics[0]?.message ?? '', /not a regular file/);
  });

  it('sources: an empty SVC_CONFIG_CONTENT counts as unset, and errors name the variable', async () => {
    using folder = new ProjectFolder();
    folder.env.SVC_CONFIG_CONTENT = '';
    assert.deepEqual((await folder.load()).diagnostics, []);
    folder.env.SVC_CONFIG_CONTENT = '{"model": }';
    const [diagnostic] = (await folder.load()).diagnostics;
    assert.deepEqual([diagnostic?.path, diagnostic?.line, diagnostic?.column], ['SVC_CONFIG_CONTENT', 1, 11]);
  });

  it('sources: SVC_CONFIG_CONTENT and files may start with a byte order mark', async () => {
    using folder = new ProjectFolder();
    folder.env.SVC_CONFIG_CONTENT = '\ufeff{"model": "p/m"}';
    const settings = await folder.load();
    assert.deepEqual([settings.model?.value, settings.diagnostics], ['p/m', []]);
  });

  it('sources: a project file in SVC_CONFIG is trusted', async () => {
    using folder = new ProjectFolder();
    folder.env.KEY = 'k-123';
    const file = folder.write('project/svc.json', { provider: { p: { options: { apiKey: '{env:KEY}' } } } });
    assert.equal((await folder.load()).providers.get('p')?.apiKey, undefined);
    folder.env.SVC_CONFIG = file;
    assert.equal((await folder.load()).providers.get('p')?.apiKey?.secret.reveal(), 'k-123');
  });

  it('sources: a project file that is a link to another folder is not trusted', async () => {
    using folder = new ProjectFolder();
    folder.env.KEY = 'k-123';
    const file = folder.write('outside.json', { provider: { p: { options: { apiKey: '{env:KEY}' } } } });
    symlinkSync(file, path.join(folder.project, 'svc.json'));
    const settings = await folder.load();
    assert.deepEqual(codes(settings), ['project-env-refused']);
  });

  it('sources: the files are in the standard folders of each platform', () => {
    const at = (platform: NodeJS.Platform, env: Record<string, string>) => ({
      platform,
      env,
      home: '/h',
      trustedWorkspace: true,
    });
    assert.equal(globalFolder(at('linux', {})), '/h/.config/svc');
    assert.equal(globalFolder(at('darwin', {})), '/h/.config/svc');
    assert.equal(globalFolder(at('linux', { XDG_CONFIG_HOME: '/x' })), '/x/svc');
    assert.equal(globalFolder(at('linux', { XDG_CONFIG_HOME: 'relative' })), '/h/.config/svc');
    const windows = 'C:\\Users\\ann\\AppData\\Roaming';
    assert.equal(globalFolder(at('win32', { APPDATA: windows })), `${windows}\\svc`);
    assert.equal(globalFolder({ ...at('win32', {}), home: 'C:\\Users\\ann' }), `${windows}\\svc`);
    assert.equal(globalFolder(at('win32', { APPDATA: windows, XDG_CONFIG_HOME: 'C:\\x' })), `${windows}\\svc`);
    assert.equal(managedFolder(at('linux', {})), '/etc/svc');
    assert.equal(managedFolder(at('darwin', {})), '/Library/Application Support/svc');
    assert.equal(managedFolder(at('win32', { ProgramFiles: 'D:\\Programs' })), 'D:\\Programs\\svc');
    assert.equal(managedFolder(at('win32', {})), 'C:\\Program Files\\svc');
  });
});
