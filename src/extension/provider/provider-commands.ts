import * as vscode from 'vscode';
import type { ProviderDialogDeps } from './dialog.ts';
import type { ProviderDialogs } from './dialogs.ts';

/** Registers the commands for providers. The dialog is loaded on first use. */
export function registerProviderCommands(deps: ProviderDialogDeps): vscode.Disposable {
  let opened: ProviderDialogs | undefined;
  const dialogs = async () => {
    const { ProviderDialogs } = await import('./dialogs.ts');
    opened ??= new ProviderDialogs(deps);
    return opened;
  };
  const idOf = (argument: unknown) => (typeof argument === 'string' ? argument : undefined);
  const register = vscode.commands.registerCommand;
  return vscode.Disposable.from(
    { dispose: () => opened?.dispose() },
    register('svc.provider.add', async (preset: unknown) => (await dialogs()).add(idOf(preset))),
    register('svc.provider.addLocal', async () => (await dialogs()).addLocal()),
    register('svc.provider.addGateway', async () => (await dialogs()).addGateway()),
    register('svc.provider.edit', async (id: unknown) => (await dialogs()).edit(idOf(id))),
    register('svc.provider.import', async () => (await dialogs()).import()),
    register('svc.provider.delete', async (id: unknown) => (await dialogs()).delete(idOf(id))),
  );
}
