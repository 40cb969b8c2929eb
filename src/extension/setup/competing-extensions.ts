import * as vscode from 'vscode';
import { showInformation } from '../foreign-text.ts';
import { type CommandItem, commandItem } from './setup-menu.ts';

/** How to turn off the completions of another extension, if a setting does it. */
interface Competitor {
  /** In lower case. VS Code compares ids without regard to case. */
  readonly id: string;
  readonly setting?: { readonly name: string; readonly off: unknown };
}

/** Extensions that show inline completions. Their documentation names the settings. */
const COMPETITORS: readonly Competitor[] = [
  { id: 'github.copilot', setting: { name: 'github.copilot.enable', off: { '*': false } } },
  { id: 'github.copilot-chat', setting: { name: 'github.copilot.enable', off: { '*': false } } },
  { id: 'continue.continue', setting: { name: 'continue.enableTabAutocomplete', off: false } },
  { id: 'codeium.codeium', setting: { name: 'codeium.enableConfig', off: { '*': false } } },
  { id: 'tabbyml.vscode-tabby', setting: { name: 'tabby.inlineCompletion.triggerMode', off: 'manual' } },
  { id: 'ggml-org.llama-vscode', setting: { name: 'llama-vscode.auto', off: false } },
  { id: 'google.geminicodeassist', setting: { name: 'geminicodeassist.inlineSuggestions.enableAuto', off: false } },
  { id: 'sourcegraph.cody-ai', setting: { name: 'cody.suggestions.mode', off: 'off' } },
  { id: 'rjmacarthy.twinny', setting: { name: 'twinny.autoSuggestEnabled', off: false } },
  { id: 'kilocode.kilo-code' },
  { id: 'supermaven.supermaven' },
  { id: 'tabnine.tabnine-vscode' },
  { id: 'tabbyml.pochi' },
  { id: 'amazonwebservices.amazon-q-vscode' },
  { id: 'sweepai.sweep-nes' },
  { id: 'aminer.codegeex' },
  { id: 'alibaba-cloud.tongyi-lingma' },
  { id: 'mistralai.mistral-code' },
];

const REPORTED = 'svc.reportedCompetitors';

export interface CompetitorDeps {
  readonly memory: vscode.Memento;
  /** True if Svc shows completions itself. */
  readonly active: () => boolean;
  /** Fires when `active` may have changed. */
  readonly onDidChange: vscode.Event<void>;
}

/** Reports another extension that completes code, once, with a way to turn off either. */
export class CompetingExtensions implements vscode.Disposable {
  readonly #deps: CompetitorDeps;
  readonly #watch: vscode.Disposable;
  #asking = false;

  constructor(deps: CompetitorDeps) {
    this.#deps = deps;
    const check = () => void this.#check();
    this.#watch = vscode.Disposable.from(deps.onDidChange(check), vscode.extensions.onDidChange(check));
  }

  dispose(): void {
    this.#watch.dispose();
  }

  /** Entries for the status menu while another extension completes code. */
  async items(): Promise<readonly CommandItem[]> {
    const found = this.#deps.active() ? await findCompetitors() : [];
    return found.map(({ competitor, name }) => ({
      ...commandItem(`$(warning) ${vscode.l10n.t('{0} completes code too…', name)}`, ''),
      detail: vscode.l10n.t('Two extensions compete for the same suggestion and the same key.'),
      run: () => this.#ask(competitor, name),
    }));
  }

  async #check(): Promise<void> {
    if (this.#asking || !this.#deps.active()) return;
    this.#asking = true;
    try {
      const reported = this.#deps.memory.get<string[]>(REPORTED, []);
      const fresh = (await findCompetitors()).find(({ competitor }) => !reported.includes(competitor.id));
      if (!fresh) return;
      await this.#deps.memory.update(REPORTED, [...reported, fresh.competitor.id]);
      await this.#ask(fresh.competitor, fresh.name);
    } finally {
      this.#asking = false;
    }
  }

  async #ask(competitor: Competitor, name: string): Promise<void> {
    const { t } = vscode.l10n;
    const other = t('Turn Off {0}', name);
    const own = t('Turn Off Svc');
    const text = t(
      '{0} and Svc both complete code. Their suggestions replace each other. Turn off the completions of one.',
      name,
    );
    const chosen = await showInformation(text, other, own);
    if (chosen === own) {
      await vscode.workspace
        .getConfiguration('svc.completion')
        .update('enabled', false, vscode.ConfigurationTarget.Global);
    } else if (chosen === other) await turnOff(competitor);
  }
}

/** True if one of these extensions completes code. */
export async function isCompetitorActive(ids: readonly string[]): Promise<boolean> {
  return (await findCompetitors()).some(({ competitor }) => ids.includes(competitor.id));
}

async function findCompetitors(): Promise<readonly { readonly competitor: Competitor; readonly name: string }[]> {
  const found: { competitor: Competitor; name: string }[] = [];
  for (const competitor of COMPETITORS) {
    const extension = vscode.extensions.getExtension(competitor.id);
    if (!extension || isOff(competitor) || !(await isUsed(extension))) continue;
    const { displayName } = readManifest(extension.packageJSON);
    found.push({ competitor, name: displayName ?? competitor.id });
  }
  return found;
}

function isOff({ setting }: Competitor): boolean {
  if (!setting) return false;
  const value: unknown = vscode.workspace.getConfiguration().get(setting.name);
  if (typeof setting.off !== 'object') return value === setting.off;
  return typeof value === 'object' && value !== null && '*' in value && value['*'] === false;
}

/** VS Code includes Copilot. It completes code only for users who are signed in. */
async function isUsed(extension: vscode.Extension<unknown>): Promise<boolean> {
  if (!readManifest(extension.packageJSON).isBuiltin) return true;
  if (vscode.workspace.getConfiguration('chat').get('disableAIFeatures') === true) return false;
  for (const provider of ['github', 'github-enterprise']) {
    try {
      if ((await vscode.authentication.getAccounts(provider)).length > 0) return true;
    } catch {
      // This editor does not have the authentication provider.
    }
  }
  return false;
}

function readManifest(manifest: unknown): { readonly displayName?: string; readonly isBuiltin: boolean } {
  if (typeof manifest !== 'object' || manifest === null) return { isBuiltin: false };
  const isBuiltin = 'isBuiltin' in manifest && manifest.isBuiltin === true;
  const { displayName } = { displayName: undefined, ...manifest };
  return { isBuiltin, ...(typeof displayName === 'string' ? { displayName } : {}) };
}

/** Uses the other extension's setting, or shows the extension so that the user can disable it. */
async function turnOff({ id, setting }: Competitor): Promise<void> {
  if (!setting) {
    await vscode.commands.executeCommand('workbench.extensions.search', `@installed ${id}`);
    return;
  }
  try {
    await vscode.workspace.getConfiguration().update(setting.name, setting.off, vscode.ConfigurationTarget.Global);
  } catch {
    // This version of the extension does not have the setting.
    await vscode.commands.executeCommand('workbench.extensions.search', `@installed ${id}`);
  }
}
