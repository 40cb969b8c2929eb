import * as vscode from 'vscode';
import type { ModelSetup } from '../../catalog/model-setup.ts';

export interface CommandItem extends vscode.QuickPickItem {
  readonly run?: () => unknown;
}

export function commandItem(label: string, command: string, ...args: readonly unknown[]): CommandItem {
  return { label, run: () => vscode.commands.executeCommand(command, ...args) };
}

export const SEPARATOR: CommandItem = { label: '', kind: vscode.QuickPickItemKind.Separator };

/** The entries that lead to a model: the solution of the problem first, then the three ways. */
export function setupItems(setup: ModelSetup): readonly CommandItem[] {
  const { t } = vscode.l10n;
  return [
    ...remedies(setup),
    commandItem(`$(key) ${t('Add a provider…')}`, 'svc.provider.add'),
    commandItem(`$(device-desktop) ${t('Use a model on this machine…')}`, 'svc.provider.addLocal'),
    commandItem(`$(globe) ${t('Use a gateway key…')}`, 'svc.provider.addGateway'),
    commandItem(`$(cloud-download) ${t('Import from other tools…')}`, 'svc.provider.import'),
  ];
}

function remedies(setup: ModelSetup): readonly CommandItem[] {
  const { t } = vscode.l10n;
  if (setup.kind === 'withheld') {
    const { id, name } = setup.provider;
    return [commandItem(`$(shield) ${t('Decide whether to send the key of {0}…', name)}`, 'svc.origin.review', id)];
  }
  if (setup.kind === 'unlisted') {
    const { id, name } = setup.provider;
    const edit = commandItem(`$(edit) ${t('Edit {0}…', name)}`, 'svc.provider.edit', id);
    return [{ ...edit, detail: setup.reason }];
  }
  return [];
}

/** One sentence about why there is no model. */
export function setupText(setup: ModelSetup): string {
  const { t } = vscode.l10n;
  switch (setup.kind) {
    case 'loading':
      return t('The models are being read.');
    case 'withheld':
      return t('Key withheld: this project changes the address of {0}.', setup.provider.name);
    case 'unlisted':
      return t('{0} lists no models: {1}', setup.provider.name, setup.reason);
    case 'none':
      return t('No model is set up yet.');
    case 'ready':
      return t('No model that can complete code is set up.');
  }
}
