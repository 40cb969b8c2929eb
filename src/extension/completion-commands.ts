import * as vscode from 'vscode';
import type { Suggester } from '../completion/suggest.ts';

export interface CompletionCommandParts {
  readonly suggester: Suggester;
}

export function registerCompletionCommands({ suggester }: CompletionCommandParts): vscode.Disposable {
  const run = vscode.commands.executeCommand;
  const register = vscode.commands.registerCommand;
  return vscode.Disposable.from(
    register('svc.completion.trigger', () => run('editor.action.inlineSuggest.trigger')),
    register('svc.completion.dismiss', () => {
      suggester.dismissed();
      return run('editor.action.inlineSuggest.hide');
    }),
    register('svc.completion.toggle', toggle),
    register('svc.completion.menu', () => menu(suggester)),
  );
}

async function toggle(): Promise<void> {
  const configuration = vscode.workspace.getConfiguration('svc.completion');
  const enabled = configuration.get('enabled', true);
  await configuration.update('enabled', !enabled, vscode.ConfigurationTarget.Global);
}

interface MenuItem extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

async function menu(suggester: Suggester): Promise<void> {
  const { state } = suggester;
  const command = (id: string) => () => vscode.commands.executeCommand(id);
  const enabled = vscode.workspace.getConfiguration('svc.completion').get('enabled', true);
  const items: MenuItem[] = [
    ...(state.kind === 'problem'
      ? [
          {
            label: `$(refresh) ${vscode.l10n.t('Try again')}`,
            detail: state.error.message,
            run: () => suggester.reconsider(),
          },
        ]
      : []),
    {
      label: enabled
        ? `$(circle-slash) ${vscode.l10n.t('Turn completions off')}`
        : `$(check) ${vscode.l10n.t('Turn completions on')}`,
      run: toggle,
    },
    { label: `$(sparkle) ${vscode.l10n.t('Choose the model')}`, run: command('svc.completion.pickModel') },
    { label: `$(key) ${vscode.l10n.t('Set a provider’s key')}`, run: command('svc.key.set') },
    { label: `$(json) ${vscode.l10n.t('Open svc.jsonc')}`, run: command('svc.config.open') },
    { label: `$(output) ${vscode.l10n.t('Show the log')}`, run: command('svc.log.show') },
  ];
  const chosen = await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Svc completions') });
  await chosen?.run?.();
}
