import assert from 'node:assert/strict';
import * as vscode from 'vscode';

describe('activation', () => {
  it('activation: causes no error and registers each command of the manifest', async () => {
    const extension = vscode.extensions.getExtension('svc.svc');
    assert.ok(extension, 'the extension is not there');
    await extension.activate();
    const registered = new Set(await vscode.commands.getCommands(true));
    const contributed: { command: string }[] = extension.packageJSON.contributes.commands;
    assert.deepEqual(
      contributed.map((each) => each.command).filter((command) => !registered.has(command)),
      [],
    );
  });
});
