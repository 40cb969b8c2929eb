import * as vscode from 'vscode';
import { installOllama, type LocalProgram } from '../../catalog/local-setup.ts';
import { providerPresets } from '../../catalog/presets.ts';
import { EMPTY_FORM, freeId, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import type { FoundServer } from '../../protocol/provider-dialog.ts';
import { globalFile } from '../configuration/files.ts';
import { withoutIcons } from '../foreign-text.ts';
import { choiceIn } from '../quick-input.ts';
import type { ProviderDialogDeps } from './dialog.ts';
import { hasProgram, openTerminal, shellReady } from './local-terminal.ts';
import { findServers } from './provider-draft.ts';

/** The user's choice. `plan`: models are downloaded and served. */
export type LocalChoice =
  | { readonly kind: 'use'; readonly form: ProviderForm; readonly isOllama: boolean }
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

type Item = vscode.QuickPickItem & { readonly run: () => LocalChoice | 'again' | 'stay' | vscode.Terminal };

/**
 * Lists the model servers that answer on this machine, so that one is used with one press. Without one, models are set
 * up with an installed program; without that, the list shows how to get one. An installer may still run when its program
 * can be found: models are set up when its command has ended, or with one press. @returns undefined if the list was closed.
 */
export function pickLocalModel(deps: ProviderDialogDeps): Promise<LocalChoice | undefined> {
  const pick = vscode.window.createQuickPick<Item>();
  const closing = new AbortController();
  const { t } = vscode.l10n;
  pick.title = t('Use a model on this machine');
  pick.ignoreFocusOut = true;
  let again: NodeJS.Timeout | undefined;
  let installer: vscode.Terminal | undefined;
  return choiceIn<LocalChoice>(pick, (finish) => {
    const look = async (why: 'first' | 'again' | 'background') => {
      clearTimeout(again);
      if (why !== 'background') {
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
      if (serving.length === 0 && programs.length > 0 && why === 'first') {
        finish({ kind: 'plan', programs });
        return;
      }
      pick.placeholder = headingOf(serving);
      if (serving.length > 0) {
        const taken = [...(deps.models.settings?.providers.keys() ?? [])];
        const others = setUp(t('Set up other models…'), programs);
        pick.items = [...serving.map((server) => use(server, taken)), ...others, enterAddress()];
        return;
      }
      again = setTimeout(() => void look('background'), LOOK_AGAIN_MS);
      const items = [...setUp(t('Set up models…'), installer?.shellIntegration ? [] : programs), ...withoutServer()];
      // An equal list would lose the row that the user is at.
      if (items.length !== pick.items.length) pick.items = items;
    };
    pick.onDidAccept(() => {
      const result = pick.selectedItems[0]?.run();
      if (result === 'again') void look('again');
      else if (result !== undefined && result !== 'stay') {
        if ('kind' in result) finish(result);
        else installer = result;
      }
    });
    const hasEnded = (terminal: vscode.Terminal) => {
      if (terminal !== installer) return;
      installer = undefined;
      void look('first');
    };
    const listeners = vscode.Disposable.from(
      vscode.window.onDidEndTerminalShellExecution(({ terminal }) => hasEnded(terminal)),
      vscode.window.onDidCloseTerminal(hasEnded),
    );
    pick.onDidHide(() => {
      listeners.dispose();
      clearTimeout(again);
      closing.abort();
    });
    void look('first');
  });
}

/** The programs that can serve further models, the simplest one first. */
function installedPrograms(running: readonly FoundServer[]): readonly LocalProgram[] {
  return [
    ...(hasProgram('ollama') || running.some(({ id }) => id === 'ollama') ? ['ollama' as const] : []),
    ...(hasProgram('llama-server') ? ['llamacpp' as const] : []),
  ];
}

function setUp(label: string, programs: readonly LocalProgram[]): readonly Item[] {
  if (programs.length === 0) return [];
  return [{ label: `$(rocket) ${label}`, run: () => ({ kind: 'plan', programs }) }];
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
    run: () => ({ kind: 'use', form, isOllama: id === 'ollama' }),
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
      const terminal = openTerminal('Ollama');
      terminal.show();
      void shellReady(terminal).then(() => terminal.sendText(command));
      return terminal;
    },
  };
}

function withoutServer(): readonly Item[] {
  const { t } = vscode.l10n;
  const install = installOllama(process.platform, hasProgram('brew'));
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
