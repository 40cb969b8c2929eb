import * as vscode from 'vscode';
import { disabledTools, MAX_TOOLS, offeredTools, toolGroups, toolTokens } from '../../../chat/tools/tool-choice.ts';
import type { ChatTool } from '../../../chat/tools/tools.ts';
import { withoutIcons } from '../../foreign-text.ts';
import { choiceIn } from '../../quick-input.ts';
import { editorTools } from './editor-tools.ts';
import { changingTools, harmlessTools, type ToolPlaces } from './own-tools.ts';

const SETTING = 'disabledTools';

interface ToolItem extends vscode.QuickPickItem {
  /** Absent: a heading. */
  readonly tool?: string;
}

/** All tools that are available in this window, our own first. */
function allTools(places: ToolPlaces): readonly ChatTool[] {
  const reading = harmlessTools();
  // Content of an untrusted workspace must not cause actions, so tools can only read there.
  if (!vscode.workspace.isTrusted) return reading;
  const own = [...reading, ...changingTools(places)];
  return [...own, ...editorTools(new Set(own.map(({ name }) => name)))];
}

/** The tools that the user has not turned off. */
export function chosenTools(places: ToolPlaces): readonly ChatTool[] {
  return offeredTools(allTools(places), disabled());
}

/** Lets the user choose the tools for models, from the next request on. The choice is stored as a setting. */
export async function chooseTools(places: ToolPlaces): Promise<void> {
  const tools = allTools(places);
  const chosen = await pick(tools);
  if (!chosen) return;
  const off = disabledTools(tools, chosen, disabled());
  const value = off.length === 0 ? undefined : off;
  await vscode.workspace.getConfiguration('svc.chat').update(SETTING, value, vscode.ConfigurationTarget.Global);
}

function disabled(): readonly string[] {
  const value = vscode.workspace.getConfiguration('svc.chat').get<unknown>(SETTING);
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

function pick(tools: readonly ChatTool[]): Promise<ReadonlySet<string> | undefined> {
  const picker = vscode.window.createQuickPick<ToolItem>();
  const off = disabled();
  picker.canSelectMany = true;
  picker.matchOnDetail = true;
  picker.ignoreFocusOut = true;
  picker.placeholder = vscode.l10n.t('Tools that models may call. Tools that can make changes need your permission.');
  picker.items = createItems(tools);
  picker.selectedItems = picker.items.filter(({ tool }) => tool !== undefined && !off.includes(tool));
  const count = () => {
    const selected = new Set(picker.selectedItems.map(({ tool }) => tool));
    const tokens = tools.filter(({ name }) => selected.has(name)).reduce((sum, tool) => sum + toolTokens(tool), 0);
    const shown = tokens.toLocaleString(vscode.env.language);
    picker.title = vscode.l10n.t('Tools ({0} of at most {1}, about {2} tokens)', selected.size, MAX_TOOLS, shown);
  };
  count();
  picker.onDidChangeSelection(count);
  return choiceIn(picker, (finish) =>
    picker.onDidAccept(() => finish(new Set(picker.selectedItems.flatMap(({ tool }) => tool ?? [])))),
  );
}

function createItems(tools: readonly ChatTool[]): readonly ToolItem[] {
  return toolGroups(tools).flatMap(({ origin, tools: group }) => [
    { label: withoutIcons(origin), kind: vscode.QuickPickItemKind.Separator },
    ...group.map((tool) => ({
      label: withoutIcons(tool.name),
      description: vscode.l10n.t(
        '{0} · {1} tokens',
        tool.changes ? vscode.l10n.t('Can make changes') : vscode.l10n.t('Read-only'),
        toolTokens(tool),
      ),
      detail: withoutIcons(tool.description.split('\n', 1)[0] ?? ''),
      tool: tool.name,
    })),
  ]);
}
