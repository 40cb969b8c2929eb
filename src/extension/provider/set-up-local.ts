import { setTimeout } from 'node:timers/promises';
import * as vscode from 'vscode';
import {
  foreignWindow,
  type LocalPlan,
  type LocalProgram,
  type LocalUse,
  type Machine,
  type PlannedModel,
  planLocalModels,
} from '../../catalog/local-setup.ts';
import { ollamaAddress } from '../../catalog/ollama-address.ts';
import type { ModelKey } from '../../config/editing/assist.ts';
import { EMPTY_FORM, freeId, type ProviderForm } from '../../config/provider-form/provider-form.ts';
import type { Transport } from '../../provider/transport/transport.ts';
import { asSvcError } from '../../wire/errors/svc-error.ts';
import { globalFile } from '../configuration/files.ts';
import { errorText } from '../error-text.ts';
import { showError, showInformation, showProgress, withoutIcons } from '../foreign-text.ts';
import { choiceIn, quickInputButton } from '../quick-input.ts';
import type { ProviderDialogDeps } from './dialog.ts';
import { saveModel, saveProvider } from './edit-provider.ts';
import { openTerminal, shellReady } from './local-terminal.ts';
import { readMachine } from './machine.ts';
import { loadedWindow, modelsAt } from './provider-draft.ts';

const NAMES: Readonly<Record<LocalProgram, string>> = { ollama: 'Ollama', llamacpp: 'llama.cpp' };
const KEYS: Readonly<Record<LocalUse, ModelKey>> = {
  completion: 'completionModel',
  nextEdit: 'nextEditModel',
  chat: 'model',
};
const ICONS: Readonly<Record<LocalUse, string>> = {
  completion: 'sparkle',
  nextEdit: 'edit',
  chat: 'comment-discussion',
};
/** Its terminals have the same environment. */
const OLLAMA = ollamaAddress(process.env);
const LOOK_MS = 500;

type Item = vscode.QuickPickItem & { readonly model?: PlannedModel };

/** What the user left checked. */
interface Chosen {
  readonly plan: LocalPlan;
  readonly starts: boolean;
  readonly models: readonly PlannedModel[];
}

/**
 * Names models that fit this machine with the exact commands, runs them in the terminal when they are accepted, and
 * writes each model to svc.jsonc as soon as its server lists it. @param enterAddress for a server elsewhere.
 */
export async function setUpLocalModels(
  deps: ProviderDialogDeps,
  programs: readonly LocalProgram[],
  enterAddress: () => void,
): Promise<void> {
  const machine = await readMachine();
  const isRunning = (await listed(deps, `${OLLAMA}/v1`)) !== undefined;
  const chosen = await choose(machine, programs, isRunning, enterAddress);
  if (chosen === undefined || chosen.models.length === 0) return;
  const { t } = vscode.l10n;
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: t('Setting up local models'),
    cancellable: true,
  };
  await showProgress(options, async (progress, token) => {
    const stopped = new AbortController();
    token.onCancellationRequested(() => stopped.abort());
    const work = new SetUp(deps, (message) => progress.report({ message }), stopped.signal);
    try {
      await work.run(chosen);
    } catch (error) {
      if (!stopped.signal.aborted) void showError(errorText(asSvcError(error)));
    } finally {
      work.dispose();
    }
  });
}

/**
 * The form of an Ollama that the user or the system has started, with the window that fits the machine. Its own is often
 * 4,096, which is too small for an agent. It stays if all models in its memory have at least that window.
 */
export async function withForeignWindow(form: ProviderForm, transport: Transport): Promise<ProviderForm> {
  const window = foreignWindow(planLocalModels(await readMachine(), 'ollama', vscode.env.shell).window);
  return (await loadedWindow(form, transport)) >= window ? form : { ...form, window };
}

function describe({ memory, cores, gpu }: Machine): string {
  const { t } = vscode.l10n;
  const own = t('{0} GB of memory, {1} cores', Math.round(memory), cores);
  if (gpu === undefined) return t('{0}, no graphics card', own);
  return gpu.unified ? `${gpu.name}, ${own}` : t('{0}, {1} with {2} GB', own, gpu.name, Math.round(gpu.memory));
}

/** Lists what to run. VS Code shows a long command in full below its row. */
function choose(
  machine: Machine,
  programs: readonly LocalProgram[],
  isRunning: boolean,
  enterAddress: () => void,
): Promise<Chosen | undefined> {
  const { t } = vscode.l10n;
  const pick = vscode.window.createQuickPick<Item>();
  pick.canSelectMany = true;
  pick.ignoreFocusOut = true;
  const other = quickInputButton('arrow-swap', t('Use the other program'));
  const copy = quickInputButton('copy', t('Copy the commands'));
  const address = quickInputButton('edit', t('Enter an address…'));
  pick.buttons = programs.length > 1 ? [other, copy, address] : [copy, address];
  let plan: LocalPlan;
  const draw = (program: LocalProgram) => {
    plan = planLocalModels(machine, program, vscode.env.shell, OLLAMA);
    const size = plan.models.reduce((sum, each) => sum + each.size, 0);
    pick.title = t('Set up models with {0}: {1}', NAMES[program], describe(machine));
    pick.placeholder = t('OK runs the checked commands in the terminal. Download: {0} GB', size.toFixed(1));
    pick.items = items(plan, isRunning);
    pick.selectedItems = pick.items;
  };
  draw(programs[0] ?? 'ollama');
  return choiceIn<Chosen>(pick, (finish) => {
    pick.onDidTriggerButton((button) => {
      if (button === other) draw(plan.program === 'ollama' ? 'llamacpp' : 'ollama');
      else if (button === address) {
        finish(undefined);
        enterAddress();
      } else void vscode.env.clipboard.writeText(pick.items.map(({ detail }) => detail).join('\n'));
    });
    pick.onDidAccept(() => {
      const models = pick.selectedItems.flatMap(({ model }) => model ?? []);
      finish({ plan, models, starts: pick.selectedItems.some(({ model }) => model === undefined) });
    });
  });
}

function items({ serve, window, models }: LocalPlan, isRunning: boolean): readonly Item[] {
  const { t } = vscode.l10n;
  const uses: Readonly<Record<LocalUse, string>> = {
    completion: t('Completions'),
    nextEdit: t('Next edits'),
    chat: t('Chat and agent'),
  };
  const description = t('with a window of {0}k tokens', window / 1024);
  const start = { label: `$(server-process) ${t('Start Ollama')}`, description };
  return [
    ...(serve === undefined || isRunning ? [] : [{ ...start, detail: serve }]),
    ...models.map((model) => ({
      label: `$(${ICONS[model.use]}) ${uses[model.use]}: ${withoutIcons(model.name)}`,
      description: t('{0} GB, license {1}', model.size, model.license),
      detail: model.command,
      model,
    })),
  ];
}

function listed({ transport }: ProviderDialogDeps, baseURL: string, signal = new AbortController().signal) {
  return modelsAt({ api: 'chat-completions', baseURL }, transport, signal);
}

/** Runs the commands one after the other. */
class SetUp {
  readonly #deps: ProviderDialogDeps;
  readonly #report: (message: string) => void;
  readonly #signal: AbortSignal;
  readonly #terminals = new Map<string, vscode.Terminal>();
  readonly #listeners: vscode.Disposable;
  /** Commands that have ended, empty for a terminal. A shell without VS Code's integration does not tell. */
  readonly #ended = new Set<string>();
  #typing = false;

  constructor(deps: ProviderDialogDeps, report: (message: string) => void, signal: AbortSignal) {
    this.#deps = deps;
    this.#report = report;
    this.#signal = signal;
    const isOwn = (terminal: vscode.Terminal) => [...this.#terminals.values()].includes(terminal);
    this.#listeners = vscode.Disposable.from(
      vscode.window.onDidEndTerminalShellExecution(({ terminal, execution }) => {
        if (isOwn(terminal)) this.#ended.add(execution.commandLine.value.trim());
      }),
      vscode.window.onDidCloseTerminal((terminal) => {
        if (!isOwn(terminal)) return;
        this.#ended.add('');
        for (const [name, each] of this.#terminals) if (each === terminal) this.#terminals.delete(name);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document === vscode.window.activeTextEditor?.document) this.#typing = true;
      }),
    );
  }

  dispose(): void {
    this.#listeners.dispose();
  }

  async run({ plan, starts, models }: Chosen): Promise<void> {
    const { t } = vscode.l10n;
    const program = NAMES[plan.program];
    if (starts && plan.serve !== undefined) {
      this.#report(t('{0} is starting', program));
      await this.#until('ollama serve', plan.serve, async () => (await this.#listed(`${OLLAMA}/v1`)) !== undefined);
    }
    for (const model of models) {
      this.#report(t('{0} ({1} GB). The terminal shows the progress.', model.name, model.size));
      const terminal = plan.program === 'ollama' ? 'ollama pull' : `llama-server ${model.name}`;
      await this.#until(terminal, model.command, async () => {
        return (await this.#listed(model.baseURL))?.includes(model.id) === true;
      });
      await this.#save(plan, model, starts);
      if (model.use === 'completion' && !this.#typing) await showFirstCompletion(model.name);
    }
    const chat = t('Open Chat');
    void showInformation(t('{0} is set up: {1}', program, models.map(({ name }) => name).join(', ')), chat).then(
      (chosen) => (chosen === chat ? vscode.commands.executeCommand('svc.chat.open') : undefined),
    );
  }

  #listed(baseURL: string) {
    return listed(this.#deps, baseURL, this.#signal);
  }

  /** Runs a command, unless its result is there already, and waits for the result. */
  async #until(name: string, command: string, done: () => Promise<boolean>): Promise<void> {
    if (await done()) return;
    this.#ended.clear();
    const terminal = this.#terminals.get(name) ?? openTerminal(name);
    this.#terminals.set(name, terminal);
    terminal.show(true);
    await shellReady(terminal);
    terminal.sendText(command);
    for (;;) {
      await setTimeout(LOOK_MS, undefined, { signal: this.#signal });
      // Looks once more after the end.
      const ended = this.#ended.has('') || this.#ended.has(command);
      if (await done()) return;
      if (ended) {
        throw new Error(vscode.l10n.t('{0} has ended. Its terminal shows the reason.', command));
      }
    }
  }

  /** @param starts the server was started with the window of the plan; another one has its own, which may be small. */
  async #save({ program, window }: LocalPlan, model: PlannedModel, starts: boolean): Promise<void> {
    const { models } = this.#deps;
    const providers = [...(models.settings?.providers.values() ?? [])];
    const { baseURL } = model;
    const known = providers.find((each) => each.baseURL?.value === baseURL)?.id;
    const id =
      known ??
      freeId(
        program,
        providers.map((each) => each.id),
      );
    const target = globalFile();
    if (known === undefined) {
      const own = program === 'llamacpp' ? fimOfLlamaServer(model) : starts ? {} : { window: foreignWindow(window) };
      await saveProvider(this.#deps, { ...EMPTY_FORM, id, name: NAMES[program], baseURL, target, ...own });
    }
    const ref = `${id}/${model.id}`;
    await saveModel(this.#deps, target, KEYS[model.use], ref);
    await models.use(model.use, ref);
  }
}

/** The kind of a second server is not known from its id. */
function fimOfLlamaServer({ name, baseURL }: PlannedModel) {
  return { name: `llama.cpp ${name}`, fim: 'llamacpp-infill', fimURL: baseURL.replace(/\/v1$/, '') };
}

/** Opens code with the cursor where text is missing. */
async function showFirstCompletion(model: string): Promise<void> {
  const lines = [
    `// ${vscode.l10n.t('The grey text is by {0}. Tab accepts it.', model)}`,
    'function average(numbers) {',
    '  const sum = numbers.reduce((a, b) => a + b, 0);',
    '  return ',
    '}',
    '',
  ];
  const document = await vscode.workspace.openTextDocument({ language: 'javascript', content: lines.join('\n') });
  const editor = await vscode.window.showTextDocument(document);
  const end = new vscode.Position(3, lines[3]?.length ?? 0);
  editor.selection = new vscode.Selection(end, end);
  await vscode.commands.executeCommand('svc.completion.trigger');
}
