import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { ExcludedFiles } from '../../../src/extension/completion/excluded-files.ts';
import { until, workspaceFolder } from './until.ts';

describe('ignore files of a workspace that is still being searched', () => {
  const folder = () => join(workspaceFolder().fsPath, 'searched');
  before(() => {
    mkdirSync(join(folder(), 'deep/er'), { recursive: true });
    writeFileSync(join(folder(), '.gitignore'), 'made.ts\n*.log\n');
    writeFileSync(join(folder(), 'deep/.gitignore'), '!kept.log\nlocal.ts\n');
  });
  after(() => rmSync(folder(), { recursive: true, force: true }));

  it('ignore files: a file is judged by those above it, before the search has ended', async () => {
    const never = new Promise<vscode.Uri[]>(() => undefined);
    const globs = new vscode.EventEmitter<void>();
    const excluded = new ExcludedFiles(
      () => ['**/*.secret.ts'],
      globs.event,
      () => never,
    );
    const judged = async (path: string) => {
      const uri = vscode.Uri.joinPath(workspaceFolder(), 'searched', path).toString();
      excluded.reason(uri);
      await until(excluded.onDidChange, () => excluded.reason(uri) !== 'unknown-yet');
      return excluded.reason(uri);
    };
    assert.equal(await judged('plain.ts'), undefined);
    assert.equal(await judged('made.ts'), 'gitignored');
    assert.equal(await judged('deep/er/made.ts'), 'gitignored');
    assert.equal(await judged('deep/er/other.log'), 'gitignored');
    assert.equal(await judged('deep/kept.log'), undefined);
    assert.equal(await judged('deep/er/local.ts'), 'gitignored');
    assert.equal(await judged('my.secret.ts'), 'exclude-setting');
    assert.equal(await judged('.env'), 'secret-kind');
    assert.equal(excluded.reason('searched/plain.ts'), 'unknown-yet');
    excluded.dispose();
    globs.dispose();
  });
});
