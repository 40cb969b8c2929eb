import * as vscode from 'vscode';
import { providerPresets } from '../../catalog/presets.ts';
import { EMPTY_FORM, freeId, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import type { FoundServer } from '../../protocol/provider-dialog.ts';
import { globalFile } from '../configuration/files.ts';
import { withoutIcons } from '../foreign-text.ts';
import type { ProviderDialogDeps } from './dialog.ts';
import { findServers } from './provider-draft.ts';

/** The user's choice. */
export type LocalChoice = { readonly kind: 'use'; readonly form: ProviderForm } | { readonly kind: 'form' };

/** Programs that serve models, with the page about their installation. */
const SERVERS: readonly (readonly [name: string, page: string])[] = [
  ['Ollama', 'https://ollama.com/download'],
  ['LM Studio', 'https://lmstudio.ai/download'],
  ['llama.cpp', 'https://github.com/ggml-org/llama.cpp/blob/master/docs/install.md'],
];

type Item = vscode.QuickPickItem & { readonly run: () => LocalChoice | 'again' | 'stay' };

/**
 * Lists the model servers that answer on this machine, so that one is used with one press. Without one, shows how to get
 * one. @returns undefined if the list was closed.
 */
export function pickLocalModel(deps: ProviderDialogDeps): Promise<LocalChoice | undefined> {
  const pick = vscode.window.createQuickPick<Item>();
  const closing = new AbortController();
  const { t } = vscode.l10n;
  pick.title = t('Use a model on this machine');
  pick.ignoreFocusOut = true;
  const look = async () => {
    pick.busy = true;
    pick.placeholder = t('Looking for model servers on this machine…');
    pick.items = [enterAddress()];
    const presets = providerPresets(deps.models.catalog, process.env);
    const found = await findServers(presets, deps.transport, closing.signal);
    if (closing.signal.aborted) return;
    pick.busy = false;
    pick.placeholder = headingOf(found);
    const taken = [...(deps.models.settings?.providers.keys() ?? [])];
    pick.items = found.length > 0 ? [...found.map((server) => use(server, taken)), enterAddress()] : withoutServer();
  };
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      const result = pick.selectedItems[0]?.run();
      if (result === 'again') void look();
      else if (result !== undefined && result !== 'stay') {
        resolve(result);
        pick.hide();
      }
    });
    pick.onDidHide(() => {
      closing.abort();
      pick.dispose();
      resolve(undefined);
    });
    pick.show();
    void look();
  });
}

function headingOf(found: readonly FoundServer[]): string {
  const { t } = vscode.l10n;
  if (found.length === 0) return t('No model server answers on the usual ports. Get one, start it, then look again.');
  return found.length === 1 ? t('Press Enter to use it') : t('Choose the server to use');
}

function use(server: FoundServer, taken: readonly string[]): Item {
  const { t } = vscode.l10n;
  const { id, name, api, baseURL, fimURL, fim, models } = server;
  const count = models === 1 ? t('{0}, 1 model. Use it', name) : t('{0}, {1} models. Use it', name, models);
  const form = { ...EMPTY_FORM, id: freeId(id, taken), name, api, baseURL, fimURL, fim, target: globalFile() };
  return {
    label: `$(server-process) ${withoutIcons(count)}`,
    description: baseURL,
    run: () => ({ kind: 'use', form }),
  };
}

function enterAddress(): Item {
  return { label: `$(edit) ${vscode.l10n.t('Enter an address…')}`, run: () => ({ kind: 'form' }) };
}

function withoutServer(): readonly Item[] {
  const { t } = vscode.l10n;
  return [
    ...SERVERS.map(
      ([name, page]): Item => ({
        label: `$(link-external) ${t('Get {0}', name)}`,
        description: page.slice('https://'.length),
        run: () => {
          void vscode.env.openExternal(vscode.Uri.parse(page));
          return 'stay';
        },
      }),
    ),
    { label: `$(refresh) ${t('Look again')}`, run: () => 'again' },
    enterAddress(),
  ];
}
