import * as vscode from 'vscode';
import { findProgram } from '../../base/run-git.ts';
import { installOllama, type LocalProgram } from '../../catalog/local-setup.ts';
import { providerPresets } from '../../catalog/presets.ts';
import { EMPTY_FORM, freeId, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import type { FoundServer } from '../../protocol/provider-dialog.ts';
import { globalFile } from '../configuration/files.ts';
import { withoutIcons } from '../foreign-text.ts';
import type { ProviderDialogDeps } from './dialog.ts';
import { findServers } from './provider-draft.ts';

/** The user's choice. `plan`: models are downloaded and served. */
export type LocalChoice =
  | { readonly kind: 'use'; readonly form: ProviderForm }
  | { readonly kind: 'plan'; readonly programs: readonly LocalProgram[] }
  | { readonly kind: 'form' };

/** Programs that serve models, with the page about their installation. */
const SERVERS: readonly (readonly [name: string, page: string])[] = [
  ['Ollama', 'https://ollama.com/download'],
  ['LM Studio', 'https://lmstudio.ai/download'],
  ['llama.cpp', 'https://github.com/ggml-org/llama.cpp/blob/master/docs/install.md'],
];

/** Milliseconds after which an installation is looked for again. */
const LOOK_AGAIN_MS = 2_000;

type Item = vscode.QuickPickItem & { readonly run: () => LocalChoice | 'again' | 'stay' };

/**
 * Lists the model servers that answer on this machine, so that one is used with one press. Without one, models are set
 * up with an installed program; without that, the list shows how to get one. @returns undefined if the list was closed.
 */
export function pickLocalModel(deps: ProviderDialogDeps): Promise<LocalChoice | undefined> {
  const pick = vscode.window.createQuickPick<Item>();
  const closing = new AbortController();
  const { t } = vscode.l10n;
  pick.title = t('Use a model on this machine');
  pick.ignoreFocusOut = true;
  let again: NodeJS.Timeout | undefined;
  return new Promise((resolve) => {
    const finish = (choice: LocalChoice) => {
      resolve(choice);
      pick.hide();
    };
    const look = async (inBackground: boolean) => {
      clearTimeout(again);
      if (!inBackground) {
        pick.busy = true;
        pick.placeholder = t('Looking for model servers on this machine…');
        pick.items = [enterAddress()];
      }
      const presets = providerPresets(deps.models.catalog, process.env);
      const found = await findServers(presets, deps.transport, closing.signal);
      if (closing.signal.aborted) return;
      pick.busy = false;
      const programs = installedPrograms(found);
      const serving = found.filter(({ models }) => models > 0);
      if (serving.length === 0 && programs.length > 0) {
        finish({ kind: 'plan', programs });
        return;
      }
      if (serving.length === 0) again = setTimeout(() => void look(true), LOOK_AGAIN_MS);
      if (serving.length === 0 && inBackground) return;
      pick.placeholder = headingOf(serving);
      const taken = [...(deps.models.settings?.providers.keys() ?? [])];
      pick.items =
        serving.length > 0
          ? [...serving.map((server) => use(server, taken)), ...setUp(programs), enterAddress()]
          : withoutServer();
    };
    pick.onDidAccept(() => {
      const result = pick.selectedItems[0]?.run();
      if (result === 'again') void look(false);
      else if (result !== undefined && result !== 'stay') finish(result);
    });
    pick.onDidHide(() => {
      clearTimeout(again);
      closing.abort();
      pick.dispose();
      resolve(undefined);
    });
    pick.show();
    void look(false);
  });
}

/** The programs that can serve further models, the simplest one first. */
function installedPrograms(running: readonly FoundServer[]): readonly LocalProgram[] {
  const has = (name: string) => findProgram(name, process.env, process.platform) !== undefined;
  return [
    ...(has('ollama') || running.some(({ id }) => id === 'ollama') ? ['ollama' as const] : []),
    ...(has('llama-server') ? ['llamacpp' as const] : []),
  ];
}

function setUp(programs: readonly LocalProgram[]): readonly Item[] {
  if (programs.length === 0) return [];
  const label = `$(rocket) ${vscode.l10n.t('Set up other models…')}`;
  return [{ label, run: () => ({ kind: 'plan', programs }) }];
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

/** The list stays, and goes on when the program is there. */
function installItem(command: string): Item {
  return {
    label: `$(terminal) ${vscode.l10n.t('Install Ollama in the terminal')}`,
    detail: command,
    run: () => {
      const terminal = vscode.window.createTerminal('Ollama');
      terminal.show();
      terminal.sendText(command);
      return 'stay';
    },
  };
}

function withoutServer(): readonly Item[] {
  const { t } = vscode.l10n;
  const install = installOllama(process.platform, findProgram('brew', process.env, process.platform) !== undefined);
  return [
    ...(install === undefined ? [] : [installItem(install)]),
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
